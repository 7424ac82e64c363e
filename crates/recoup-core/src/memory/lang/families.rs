//! Families of values, of which a project has one, as a rule: package managers, quotes, databases.

use crate::memory::lang::word_lists::FirstLetters;

/// Alternatives of which one is chosen.
pub(crate) struct ValueFamily {
    pub(crate) name: &'static str,
    /// Values to choose from.
    values: &'static str,
    /// Letters that the values begin with.
    letters: FirstLetters,
    /// Words that belong to the topic and add nothing to it.
    own: &'static str,
    /// True if ruling out one value chooses the other.
    pub(crate) is_either_or: bool,
}

impl ValueFamily {
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        self.values.split_ascii_whitespace()
    }

    pub(crate) fn has_value(&self, word: &str) -> bool {
        self.letters.may_begin(word) && self.values.split_ascii_whitespace().any(|it| it == word)
    }

    /// True if a word adds nothing to the topic. Numbers belong to indentation: two spaces, four
    /// spaces.
    pub(crate) fn is_topic_word(&self, word: &str) -> bool {
        let number = word.bytes().all(|b| b.is_ascii_digit())
            || matches!(word, "two" | "three" | "four" | "eight");
        self.own.split_ascii_whitespace().any(|it| it == word)
            || (self.name == "indentation" && number)
    }
}

const fn one_of(name: &'static str, values: &'static str, own: &'static str) -> ValueFamily {
    ValueFamily { name, values, letters: FirstLetters::of(values, b' '), own, is_either_or: false }
}

const fn either_or(name: &'static str, values: &'static str, own: &'static str) -> ValueFamily {
    ValueFamily { is_either_or: true, ..one_of(name, values, own) }
}

/// All families.
pub(crate) const FAMILIES: &[ValueFamily] = &[
    either_or("indentation", "tabs spaces", "indentation width size character"),
    either_or("quotes", "single-quotes double-quotes", "quote string"),
    either_or("semicolon", "semicolon", "end line add"),
    either_or("exports", "default-exports named-exports", "export module"),
    either_or("spelling", "british american", "spelling english write"),
    either_or("functions", "arrow-functions function-declarations", "function"),
    one_of("naming-case", "snake_case camelcase kebab-case pascalcase", ""),
    one_of("package-manager", "npm pnpm yarn bun", "package manager dependency install"),
    one_of("python-packages", "pip poetry uv pipenv conda pdm", "package manager dependency"),
    one_of(
        "test-framework-js", "jest vitest mocha jasmine ava", "test testing framework runner unit",
    ),
    one_of("test-framework-python", "pytest unittest nose", "test testing framework runner unit"),
    one_of(
        "browser-tests", "playwright cypress puppeteer selenium",
        "test testing e2e end-to-end browser",
    ),
    one_of("formatter-js", "prettier dprint biome", "formatter formatting format"),
    one_of("linter-js", "eslint tslint oxlint biome", "linter linting lint"),
    one_of("formatter-python", "black yapf autopep8 ruff", "formatter formatting format"),
    one_of("linter-python", "flake8 pylint ruff", "linter linting lint"),
    one_of(
        "database",
        "postgres mysql mariadb sqlite mongodb mssql oracle cockroachdb dynamodb",
        "database",
    ),
    one_of("cache-server", "redis valkey memcached", "cache caching server"),
    one_of(
        "css",
        "tailwind bootstrap bulma css-modules styled-components sass scss",
        "css style styling",
    ),
    one_of("state", "redux zustand mobx jotai recoil pinia vuex", "state management"),
    one_of("dates", "dayjs luxon date-fns momentjs", "date library"),
    one_of("orm", "prisma drizzle typeorm sequelize knex", "orm"),
    one_of(
        "bundler",
        "webpack vite rollup esbuild parcel turbopack rspack",
        "bundler bundling bundle",
    ),
    one_of("ci", "jenkins circleci travis github-actions gitlab-ci", "ci pipeline"),
    one_of("containers", "docker podman", "container"),
    one_of("monorepo", "nx turborepo lerna", "monorepo"),
    one_of("build-tool", "gradle maven bazel", "build tool"),
    one_of(
        "merge-strategy",
        "squash rebase merge-commits",
        "before merge merging pull-request pull request branch commit",
    ),
    one_of("weekday", "monday tuesday wednesday thursday friday saturday sunday", "on day"),
    one_of("temperature", "celsius fahrenheit kelvin", "temperature"),
    one_of("test-framework-dotnet", "xunit nunit mstest", "test testing framework unit"),
    one_of("script-language", "typescript javascript", "write language"),
    one_of(
        "spoken-language",
        "english german french spanish italian portuguese japanese chinese korean russian dutch polish norwegian",
        "write language",
    ),
    one_of(
        "commit-style",
        "conventional gitmoji",
        "commit message style format convention write follow",
    ),
    either_or("commit-mood", "imperative past", "commit message mood tense write"),
];
