//! Commands of agents that are answered from the cache: `commands."PATTERN"`. Each is named by the
//! user, or by a project that the user trusts.

use std::fmt;

use recoup_core::base::text::matches_stars;
use recoup_core::cache::Ttl;
use recoup_core::memory::shell::{ShellToken, plain_tokens};

use super::document::{ConfigNode, ConfigValue};
use super::node_reader::NodeReader;
use super::value::is_variable_name;

/// Name of the table.
pub(super) const COMMANDS: &str = "commands";

/// Default TTL.
const DEFAULT_TTL: Ttl = Ttl::days(1);
const KEYS: [&str; 5] = ["ttl", "sources", "outputs", "env", "failures"];
const EXPECTED: &str =
    "a command that begins with its program, such as \"cargo test *\": * stands for any words";

/// Pattern of shell lines. `*` as a word stands for any number of words, within a word for any
/// characters of it; operators stand for themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    text: String,
    tokens: Vec<ShellToken>,
}

impl CommandPattern {
    /// Reads a pattern; `None` if it has what no plain line has, or does not name its program.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let tokens = plain_tokens(text, true)?;
        let is_named = matches!(tokens.first(), Some(ShellToken::Word(it)) if !it.contains('*'));
        is_named.then(|| Self { text: text.trim().to_owned(), tokens })
    }

    /// As it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// True if it names this line.
    pub(crate) fn matches(&self, line: &[ShellToken]) -> bool {
        matches_tokens(&self.tokens, line)
    }
}

fn matches_tokens(pattern: &[ShellToken], line: &[ShellToken]) -> bool {
    let Some((first, behind)) = pattern.split_first() else { return line.is_empty() };
    match first {
        ShellToken::Word(star) if star == "*" => {
            let is_word = |it: &&ShellToken| matches!(it, ShellToken::Word(_));
            let words = line.iter().take_while(is_word).count();
            (0..=words).any(|count| matches_tokens(behind, &line[count..]))
        }
        first => line.split_first().is_some_and(|(token, rest)| {
            let is_same = match (first, token) {
                (ShellToken::Word(pattern), ShellToken::Word(word)) => matches_stars(pattern, word),
                (first, token) => first == token,
            };
            is_same && matches_tokens(behind, rest)
        }),
    }
}

/// A command that is answered from the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandRule {
    pub(crate) pattern: CommandPattern,
    /// Time for which its output may be replayed; off for a command that is not answered.
    pub(crate) ttl: Ttl,
    /// Files that it reads, from the project's root; by default all of the project's files.
    pub(crate) sources: Vec<String>,
    /// Files that it writes: without them it runs again.
    pub(crate) outputs: Vec<String>,
    /// Environment variables that affect its output.
    pub(crate) environment: Vec<String>,
    /// True if failures are kept as well.
    pub(crate) failures: bool,
}

impl CommandRule {
    pub(crate) fn new(pattern: CommandPattern) -> Self {
        Self {
            pattern,
            ttl: DEFAULT_TTL,
            sources: Vec::new(),
            outputs: Vec::new(),
            environment: Vec::new(),
            failures: false,
        }
    }

    /// Reads the entry of a pattern: a duration, or a table.
    pub(super) fn read(
        pattern: &str,
        full: &str,
        node: &ConfigNode,
        values: &mut NodeReader,
    ) -> Option<Self> {
        let Some(pattern) = CommandPattern::parse(pattern) else {
            values.add(full, node, format!("expected {EXPECTED}"));
            return None;
        };
        let mut rule = Self::new(pattern);
        let ConfigValue::Table(entries) = &node.value else {
            rule.ttl = values.ttl(full, node)?;
            return Some(rule);
        };
        let before = values.problems.len();
        for (name, node) in entries {
            let key = format!("{full}.{name}");
            match name.as_str() {
                "ttl" => rule.ttl = values.ttl(&key, node).unwrap_or(Ttl::Off),
                "sources" => rule.sources = read_paths(&key, node, values),
                "outputs" => rule.outputs = read_paths(&key, node, values),
                "env" => rule.environment = read_variables(&key, node, values),
                "failures" => rule.failures = values.boolean(&key, node).unwrap_or_default(),
                _ => {
                    let known = KEYS.map(|it| format!("{full}.{it}"));
                    values.add_unknown(&key, node, &known.each_ref().map(String::as_str));
                }
            }
        }
        (values.problems.len() == before).then_some(rule)
    }
}

fn read_paths(key: &str, node: &ConfigNode, values: &mut NodeReader) -> Vec<String> {
    let texts = values.texts(key, node, "paths and globs from the project's root");
    texts.into_iter().flatten().map(|(text, _)| text).collect()
}

fn read_variables(key: &str, node: &ConfigNode, values: &mut NodeReader) -> Vec<String> {
    const EXPECTED: &str = "names of environment variables";
    let texts = values.texts(key, node, EXPECTED).unwrap_or_default();
    let names: Vec<String> = texts.into_iter().map(|(text, _)| text).collect();
    // A wrong name is not repeated: it may be a value.
    if names.iter().any(|name| !is_variable_name(name)) {
        values.add(key, node, format!("expected {EXPECTED}"));
    }
    names
}

/// The entry as a file has it.
impl fmt::Display for CommandRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern: _, ttl, sources, outputs, environment, failures } = self;
        let mut parts = vec![format!("ttl = \"{ttl}\"")];
        for (name, list) in [("sources", sources), ("outputs", outputs), ("env", environment)] {
            parts.extend((!list.is_empty()).then(|| format!("{name} = {list:?}")));
        }
        parts.extend(failures.then(|| "failures = true".to_owned()));
        match &parts[..] {
            [_] => write!(f, "\"{ttl}\""),
            parts => write!(f, "{{ {} }}", parts.join(", ")),
        }
    }
}

/// The commands that the user named, the strongest last.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandSettings {
    pub(crate) rules: Vec<CommandRule>,
    /// True if a replay needs no approval where the client would run the command without asking.
    pub(crate) allows_replays: bool,
}

impl CommandSettings {
    /// The rule for a line: of several, the strongest with the longest pattern.
    pub(crate) fn rule_for(&self, line: &[ShellToken]) -> Option<&CommandRule> {
        let matching = self.rules.iter().filter(|rule| rule.pattern.matches(line));
        matching.max_by_key(|rule| rule.pattern.text.len()).filter(|rule| rule.ttl != Ttl::Off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, line: &str) -> bool {
        let pattern = CommandPattern::parse(pattern).expect(pattern);
        plain_tokens(line, false).is_some_and(|line| pattern.matches(&line))
    }

    #[test]
    fn a_pattern_names_whole_lines() {
        for (pattern, line, expected) in [
            ("cargo test *", "cargo test", true),
            ("cargo test *", "cargo  test -p 'my crate'", true),
            ("cargo test", "cargo test -p x", false),
            ("cargo test *", "cargo tests", false),
            ("cargo test *", "cargo test | tail", false),
            ("cargo test *", "cargo test > out.txt", false),
            ("cargo test *", "RECOUP=off cargo test", false),
            ("cargo test *", "cargo test; rm -rf x", false),
            ("cargo test *", "cargo test $(rm -rf x)", false),
            ("cargo test * 2>&1 | tail *", "cargo test -p x 2>&1 | tail -5", true),
            ("cargo test * 2>&1 | tail *", "cargo test 2>&1 | sh", false),
            ("npm run lint:*", "npm run lint:css", true),
            ("npm run lint:*", "npm run lint", false),
            ("make * test", "make -s -j4 test", true),
        ] {
            assert_eq!(matches(pattern, line), expected, "{pattern}: {line}");
        }
    }

    #[test]
    fn a_pattern_names_its_program() {
        for pattern in ["", "*", "* test", "*test", "echo $X", "cargo test &", "a\nb"] {
            assert_eq!(CommandPattern::parse(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn the_longest_pattern_decides() {
        let rule = |text: &str, ttl| {
            let pattern = CommandPattern::parse(text).expect(text);
            CommandRule { ttl, ..CommandRule::new(pattern) }
        };
        let rules = vec![rule("npm run *", Ttl::days(1)), rule("npm run deploy", Ttl::Off)];
        let settings = CommandSettings { rules, allows_replays: false };
        let find = |line: &str| settings.rule_for(&plain_tokens(line, false).expect(line));
        assert!(find("npm run lint").is_some());
        assert_eq!(find("npm run deploy"), None);
    }
}
