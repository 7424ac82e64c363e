//! Which statements are about the same, and which are not.

use proptest::prelude::*;
use recoup_core::memory::db::facets::{derive_topic, overturns};

/// The newer takes the place of the older.
const SHARE: &[(&str, &str)] = &[
    ("use npm", "use pnpm"),
    ("we use yarn here", "from now on use pnpm"),
    ("Use pnpm, not npm.", "use npm"),
    ("Use pnpm instead of npm", "Use npm rather than pnpm"),
    ("always use pnpm", "we are using bun now"),
    ("don't use npm, use pnpm", "use yarn"),
    ("use tabs", "use spaces"),
    ("we use tabs here", "use 2 spaces for indentation"),
    ("Indent with tabs", "use 4 spaces"),
    ("don't use tabs", "use tabs"),
    ("use 2-space indentation", "Use four spaces"),
    ("use tabs, not spaces", "use spaces, not tabs"),
    ("use tabs in Go", "use spaces in Go"),
    ("use tabs in Go files", "In Go, use spaces"),
    ("use single quotes", "use double quotes"),
    ("Always use single quotes for strings", "no single quotes"),
    ("use semicolons", "no semicolons"),
    ("don't add semicolons", "always add semicolons"),
    ("use jest", "use vitest"),
    ("use vitest for unit tests", "use jest for tests"),
    ("use pytest", "use unittest"),
    ("use playwright for e2e tests", "use cypress"),
    ("format with prettier", "use dprint"),
    ("use eslint", "lint with oxlint"),
    ("use poetry", "use uv"),
    ("the database is Postgres", "we use mysql"),
    ("use postgresql", "use sqlite"),
    ("use redis for sessions", "use memcached for sessions"),
    ("use tailwind", "use CSS modules"),
    ("use zustand for state management", "use redux"),
    ("use prisma", "use drizzle as the ORM"),
    ("bundle with vite", "use webpack"),
    ("squash before merging", "use merge commits"),
    ("use conventional commits", "use gitmoji for commit messages"),
    ("write commit messages in the imperative", "write commit messages in the past tense"),
    ("answer in German", "reply in English"),
    ("write comments in English", "write comments in French"),
    ("use TypeScript", "use JavaScript"),
    ("use default exports", "use named exports"),
    ("no default exports", "use default exports"),
    ("use arrow functions", "use function declarations"),
    ("use snake_case for file names", "use kebab-case for file names"),
    ("staging runs on port 8443", "staging runs on port 9000"),
    ("staging runs on port 8443", "staging moved to port 9000"),
    ("use British spelling in comments", "use American spelling in comments"),
    ("write in British English", "use American English"),
    ("deploy with `make deploy`", "deploy with `make ship`"),
    ("run migrations with make migrate", "run migrations with `just migrate`"),
    ("we use jest", "we switched to vitest"),
    ("never push to main", "pushing to main is fine now"),
    ("never merge without review", "merging without review is ok again"),
    ("the staging server listens on port 9000", "staging runs on port 8443"),
    ("the port of production is 443", "production runs on port 8080"),
    ("prod port is 443", "production runs on port 444"),
    (
        "the API base URL is https://a.example.com",
        "the base URL of the API is https://b.example.com/v2",
    ),
    ("the staging url is https://a.example", "the staging url is now https://b.example"),
    ("the default branch is main", "our default branch is trunk"),
    ("put tests in `__tests__/`", "put tests in tests/"),
    ("no, put tests in `__tests__/`", "tests go in src/tests/"),
    ("put unit tests under test/unit", "keep unit tests in spec/"),
    ("tests live in tests/", "put tests next to the code"),
    ("use Python 3.11", "use python 3.12"),
    ("we are on node 18", "use Node.js 20"),
    ("the Go version is 1.22", "use go 1.23"),
    ("line length is 80", "max line length 100"),
    ("name branches feature/xyz", "name branches after the ticket"),
    ("use var", "don't ever use var"),
    ("Don't use var", "use var"),
    ("never push to main", "push to main"),
    ("avoid default exports", "use named exports"),
    ("use const, not let", "use let instead of const"),
    ("prefer composition over inheritance", "prefer inheritance over composition"),
    ("run tests before committing", "don't run tests before committing"),
    ("never commit generated files", "commit generated files"),
    ("do not mock the database in tests", "mock the database in tests"),
    ("Add a changelog entry", "never add a changelog entry"),
    ("use axios instead of fetch", "use fetch instead of axios"),
];

/// Both count.
const APART: &[(&str, &str)] = &[
    ("staging runs on port 8443", "production runs on port 443"),
    ("use tabs in Go", "use spaces in Python"),
    ("use tabs", "use spaces in YAML"),
    ("use tabs", "use single quotes"),
    ("use pnpm", "never use yarn"),
    ("use pnpm", "use vitest"),
    ("use pnpm", "use uv for Python"),
    ("use pnpm in the web package", "use yarn in the docs package"),
    ("use jest", "use pytest"),
    ("use vitest", "use playwright for e2e tests"),
    ("use vitest for unit tests", "use jest for integration tests"),
    ("use prettier", "use eslint"),
    ("use postgres", "use sqlite in tests"),
    ("use postgres", "use redis"),
    ("use redis for sessions", "use memcached for pages"),
    ("never use mongodb", "use postgres"),
    ("the API base URL is https://a.example", "the auth base URL is https://b.example"),
    ("the staging url is https://a.example", "the staging host is b.example"),
    ("the staging url is https://a.example", "the production url is https://b.example"),
    ("put tests in tests/", "put components in src/components/"),
    ("put unit tests in test/unit", "put integration tests in test/integration"),
    ("put tests in tests/ for the api", "put tests in spec/ for the web"),
    ("use python 3.12", "use node 20"),
    ("use node 20", "use node 18 in the docs image"),
    ("line length is 80", "line length is 100 in tests"),
    ("use var", "use let"),
    ("don't use var", "don't use any"),
    ("use const, not let", "use let, not var"),
    ("never push to main", "never push to develop"),
    ("never push to main", "never commit to main"),
    ("never force push", "never push to main"),
    ("run tests before committing", "run the linter before committing"),
    ("run tests before committing", "run tests before pushing"),
    ("answer in German", "write comments in English"),
    ("write commit messages in English", "answer in German"),
    ("write commit messages in English", "write commit messages in the imperative"),
    ("use conventional commits", "write commit messages in English"),
    ("use conventional commits", "sign all commits"),
    ("use snake_case for file names", "use camelCase for variables"),
    ("use snake_case", "use kebab-case for CSS classes"),
    ("no semicolons", "no default exports"),
    ("no trailing spaces", "use tabs"),
    ("put spaces around operators", "use tabs"),
    ("use single quotes", "use double quotes in JSX"),
    ("squash before merging", "delete branches after merging"),
    ("name branches feature/xyz", "delete branches after merging"),
    ("name release branches release/x", "name hotfix branches hotfix/x"),
    ("the default branch is main", "never push to main"),
    ("use docker compose for local development", "use podman in CI"),
    ("run pnpm install before building", "use npm"),
    ("run pnpm build", "run pnpm test"),
    ("use tailwind", "use vite"),
    ("use TypeScript", "use strict mode in TypeScript"),
    ("never use yarn", "never use npm"),
    ("avoid mocks", "avoid snapshots"),
    ("prefer composition over inheritance", "prefer functions over classes"),
    ("run migrations with `make migrate`", "run tests with `make test`"),
    ("deploy with `make deploy`", "deploy the docs with `make docs`"),
    ("deploy with `make deploy`", "never deploy with `make ship`"),
    ("deploy with `make deploy`", "release with `make release`"),
    ("deploy with `make deploy`", "deploy with `make fast` before demos"),
    ("use British spelling", "use American date formats"),
    ("the timeout of the API is 30", "the timeout of the worker is 60"),
    ("the bucket is assets-eu", "the region is eu-west-1"),
    ("the API is versioned", "the API is behind a proxy"),
    ("the build is slow on Windows", "the build is broken"),
    ("use early returns", "use guard clauses in handlers"),
    ("ask before deleting files", "ask before installing packages"),
    ("use black", "use flake8"),
    ("use webpack for the app", "use rollup for the library"),
    ("do nothing on errors", "do not retry"),
    ("keep the README in English", "keep the README in docs/"),
    ("store dates in UTC", "store dates in db/dates.json"),
    ("the url is in .env", "the url is https://a.example"),
    ("the version is in Cargo.toml", "the version is 1.2.3"),
    ("use postgres", "use Postgres 16"),
    ("docs are in English", "the UI is in German"),
    ("run docker as root", "deploy with docker"),
    ("use a space after commas", "use tabs"),
    ("staging runs on port 8443", "open port 22 for the VPN"),
    ("the admin panel runs on port 8443", "the metrics server runs on port 8443"),
];

fn topics(pair: &(&str, &str)) -> (Option<String>, Option<String>) {
    (derive_topic(pair.0), derive_topic(pair.1))
}

#[test]
fn a_change_of_mind_has_the_topic_of_what_was_said_before() {
    assert!(SHARE.len() >= 60, "{}", SHARE.len());
    let wrong: Vec<_> = SHARE
        .iter()
        .map(|pair| (pair, topics(pair)))
        .filter(|(_, (a, b))| a.is_none() || a != b)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn different_things_have_different_topics() {
    assert!(APART.len() >= 60, "{}", APART.len());
    let wrong: Vec<_> = APART
        .iter()
        .map(|pair| (pair, topics(pair)))
        .filter(|(_, (a, b))| a.is_some() && a == b)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn all_that_have_one_topic_are_meant_to() {
    // Whatever is in either table and shares a topic by accident would show here.
    let all: Vec<&str> = SHARE.iter().map(|pair| pair.0).collect();
    let families = ["package-manager", "indentation", "quotes", "semicolon", "test-framework-js"];
    let found =
        |name: &str| all.iter().filter(|text| derive_topic(text).as_deref() == Some(name)).count();
    assert_eq!(families.map(found), [6, 6, 2, 2, 3]);
}

#[test]
fn topics_have_names_that_a_person_understands() {
    for (text, name) in [
        ("use pnpm", "package-manager"),
        ("use tabs in Go", "indentation:go"),
        ("staging runs on port 8443", "port:staging"),
        ("put tests in `__tests__/`", "place:test"),
        ("use const, not let", "choice:const|let"),
        ("don't ever use var", "say:var"),
        ("use Python 3.12", "version:python"),
    ] {
        assert_eq!(derive_topic(text).as_deref(), Some(name), "{text}");
    }
}

#[test]
fn what_says_nothing_has_none() {
    for text in ["", "   ", "use it", "!!!", "please always do this here"] {
        assert_eq!(derive_topic(text), None, "{text}");
    }
    assert_eq!(derive_topic(&"many different words ".repeat(50)), None);
}

#[test]
fn what_rules_out_one_of_many_ends_only_that_one() {
    assert!(overturns("never use yarn", "use yarn"));
    assert!(overturns("use yarn", "never use yarn"));
    assert!(!overturns("never use yarn", "use pnpm"));
    assert!(overturns("use npm", "use pnpm"));
    assert!(!overturns("", ""));
}

/// A change of mind in words of change, in other words than the first.
const CHANGED: &[(&str, &str)] = &[
    ("we use mocha for the api tests", "we moved from mocha to vitest"),
    ("invoices are sent with sendgrid", "sendgrid is gone, invoices go out via postmark"),
    ("always add a license header to new files", "stop adding license headers"),
    ("the gateway listens on 7000", "the gateway is on 7100 now"),
    ("ask Priya about the billing code", "Priya left, billing questions go to Jonas"),
    ("branch off develop", "no more develop, we branch off main"),
    ("die API antwortet mit XML", "XML gibt es nicht mehr, die API antwortet mit JSON"),
    ("on utilise lodash pour les listes", "on a viré lodash"),
    ("la cola es rabbitmq", "ya no usamos rabbitmq, ahora es kafka"),
    ("デプロイはjenkinsで", "jenkinsはやめて、github actionsに移行しました"),
    ("no comments in the code", "comments are ok again"),
    ("line length is 90", "90 is too narrow, let's say 110"),
    ("the exports are in bucket-eu-1", "exports go to bucket-us-2"),
    ("labels are printed with zint", "labels are glabels now"),
];

/// Words of change about something else, or elsewhere.
const UNCHANGED: &[(&str, &str)] = &[
    ("use npm", "in legacy/ we moved from npm to yarn"),
    ("staging runs on port 8443", "production is on port 9443 now"),
    ("the gateway listens on 7000", "the mailer is on 7100 now"),
    ("always add a license header to new files", "stop adding emojis to commits"),
    ("use tabs in Go", "in Python we switched to spaces"),
    ("use jest", "we also use playwright now"),
    ("run the linter before committing", "we switched to trunk based development"),
    ("keep raw frames for 90 days", "backups are kept for 30 days now"),
    ("the fare service listens on 8081", "the seat service is on 8082 now"),
    ("no mocks in the core module", "mocks are fine inside tests"),
    ("step 3 of the import is slow", "step 4 of the import is slow"),
];

#[test]
fn words_of_change_end_what_they_name_and_nothing_else() {
    let is_overturned = |pair: &&(&str, &str)| overturns(pair.1, pair.0);
    let missed: Vec<_> = CHANGED.iter().filter(|pair| !is_overturned(pair)).collect();
    let wrong: Vec<_> = UNCHANGED.iter().filter(is_overturned).collect();
    assert!(missed.is_empty() && wrong.is_empty(), "missed {missed:#?}, wrong {wrong:#?}");
}

#[test]
fn casing_spacing_and_marks_change_nothing() {
    for text in ["Use PNPM!", "  use   pnpm ", "use `pnpm`.", "Please use “pnpm”", "use\npnpm"]
    {
        assert_eq!(derive_topic(text).as_deref(), Some("package-manager"), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), parts in "(use|not|tabs|port|8443| |,|put|in|is|url|branch|name|é|ß){0,24}") {
        let _ = derive_topic(&text);
        let _ = derive_topic(&parts);
    }

    #[test]
    fn another_subject_is_another_topic(a in "[a-z]{5,9}", b in "[a-z]{5,9}") {
        prop_assume!(a.trim_end_matches('s') != b.trim_end_matches('s'));
        let of = |subject: &str| derive_topic(&format!("the x{subject} service runs on port 8443"));
        prop_assert_ne!(of(&a), of(&b));
    }
}
