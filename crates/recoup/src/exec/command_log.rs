//! Log of slow commands that agents ran: the evidence behind `recoup suggest`. It has kinds of
//! commands, times and digests, but no command lines and no output.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::ledger::RollingLog;
use recoup_core::memory::shell::{CommandKind, ShellToken, plain_tokens};
use serde::{Deserialize, Serialize};

use crate::config::CommandPattern;

/// Maximum size of a file, and number of files.
const MAX_LEN: u64 = 4 << 20;
const FILES: usize = 3;
/// Commands that took less are not logged: nobody waits for them.
pub(crate) const MIN_MILLIS: u64 = 1_000;

/// The log of commands.
#[derive(Debug, Clone)]
pub(crate) struct CommandLog(RollingLog);

/// A command, as it is logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandLogLine {
    pub(crate) at: Timestamp,
    /// Id of the project.
    pub(crate) project: String,
    /// Program and sub-command, such as `cargo test`.
    pub(crate) kind: String,
    /// The shortest pattern that names the line, such as `cargo test * | tail *`; none if it can't be
    /// answered from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<String>,
    /// True if it starts a client of ours, such as `claude -p`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_agent: bool,
    /// Digest of the directory and of the whole line.
    pub(crate) line: Sha256Digest,
    pub(crate) millis: u64,
    pub(crate) exit: i32,
    /// Digest of the output, without the numbers in it: durations and times differ in each run.
    pub(crate) output: Sha256Digest,
    /// State of the project's files when it had ended; none if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<Sha256Digest>,
}

impl CommandLog {
    /// The log below our own directory `home`.
    pub(crate) fn below(home: &Path) -> Self {
        Self(RollingLog::new(home.join("logs"), "commands", "jsonl", MAX_LEN, FILES))
    }

    pub(crate) fn append(&self, line: &CommandLogLine) -> Result<()> {
        let mut json = serde_json::to_vec(line).expect("names and numbers always serialize");
        json.push(b'\n');
        self.0.append(&json)
    }

    /// Reads the logged commands, the oldest first. Lines that cannot be read are skipped.
    pub(crate) fn read(&self) -> Result<Vec<CommandLogLine>> {
        let mut found = Vec::new();
        for path in self.0.paths() {
            let text = fsx::read_regular(&path, 2 * MAX_LEN)?.unwrap_or_default();
            let lines = text.split(|byte| *byte == b'\n');
            found.extend(lines.filter_map(|line| serde_json::from_slice(line).ok()));
        }
        Ok(found)
    }
}

/// Digest of an output by which two runs with the same result agree.
pub(crate) fn output_digest(output: &str) -> Sha256Digest {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ':');
    let words: String = output.chars().filter(|c| !is_number(*c)).collect();
    Sha256Digest::of(words.as_bytes())
}

/// The shortest pattern that names a line and others of its kind: of each command the program, and the
/// sub-command if it has one. It has no other words of the line, which may be private.
pub(crate) fn pattern_of(line: &str) -> Option<String> {
    let tokens = plain_tokens(line, false)?;
    let tokens = match &tokens[..] {
        [ShellToken::Word(cd), _, ShellToken::Operator(and), rest @ ..]
            if cd == "cd" && and == "&&" =>
        {
            rest
        }
        all => all,
    };
    let is_operator = |it: &ShellToken| matches!(it, ShellToken::Operator(_));
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let ShellToken::Operator(operator) = &tokens[at] {
            parts.push(operator.clone());
            at += 1;
            // The file that a stream goes to is private.
            if operator.ends_with(['>', '<']) {
                return None;
            }
            continue;
        }
        let end = tokens[at..].iter().position(is_operator).map_or(tokens.len(), |end| at + end);
        let words: Vec<&str> = tokens[at..end].iter().filter_map(word_of).collect();
        // The value of a variable is private.
        if words.first().is_some_and(|word| word.contains('=')) {
            return None;
        }
        let sub = CommandKind::of(&words.join(" ")).and_then(|kind| kind.sub().map(str::to_owned));
        // The script of `npm run lint` is a sub-command of two words.
        let last = sub.as_deref().and_then(|sub| sub.rsplit(' ').next());
        let named = words.iter().take(3).position(|word| Some(*word) == last).unwrap_or(0);
        parts.extend(words[..=named].iter().map(|word| (*word).to_owned()));
        parts.push("*".to_owned());
        at = end;
    }
    let pattern = parts.join(" ");
    CommandPattern::parse(&pattern).filter(|it| it.matches(tokens)).map(|_| pattern)
}

fn word_of(token: &ShellToken) -> Option<&str> {
    match token {
        ShellToken::Word(word) => Some(word),
        ShellToken::Operator(_) => None,
    }
}

/// Evidence about the commands of one pattern.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CommandEvidence {
    pub(crate) kind: String,
    /// None if such lines can't be answered from the cache as they are.
    pub(crate) pattern: Option<String>,
    pub(crate) runs: u64,
    /// Runs of a line with no file changed since its last run.
    pub(crate) unchanged: u64,
    /// Number of those with the same output.
    pub(crate) same: u64,
    /// Time that these took.
    pub(crate) same_millis: u64,
    /// True if some of these failed: a failure is answered only if the rule says so.
    pub(crate) failures: bool,
    pub(crate) is_agent: bool,
}

/// Counts what the lines of a log say, each pattern by itself, what would save most time first.
pub(crate) fn evidence_of(lines: &[CommandLogLine]) -> Vec<CommandEvidence> {
    let mut last: HashMap<(&str, Sha256Digest), &CommandLogLine> = HashMap::new();
    let mut found: BTreeMap<(Option<&str>, &str), CommandEvidence> = BTreeMap::new();
    for line in lines {
        let key = (line.pattern.as_deref(), line.kind.as_str());
        let evidence = found.entry(key).or_insert_with(|| CommandEvidence {
            kind: line.kind.clone(),
            pattern: line.pattern.clone(),
            is_agent: line.is_agent,
            ..CommandEvidence::default()
        });
        evidence.runs += 1;
        let Some(before) = last.insert((&line.project, line.line), line) else { continue };
        if line.files.is_none() || before.files != line.files {
            continue;
        }
        evidence.unchanged += 1;
        if (before.output, before.exit) == (line.output, line.exit) {
            evidence.same += 1;
            evidence.same_millis += line.millis;
            evidence.failures |= line.exit != 0;
        }
    }
    let mut all: Vec<CommandEvidence> = found.into_values().collect();
    all.sort_by_key(|it| Reverse(it.same_millis));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_programs_and_no_arguments() {
        for (line, expected) in [
            ("cargo test -p secret", Some("cargo test *")),
            ("cd web && npm run lint", Some("npm run lint *")),
            ("cargo test 2>&1 | tail -50", Some("cargo test * 2>&1 | tail *")),
            ("pytest -x tests/a.py", Some("pytest *")),
            ("TOKEN=x cargo test", None),
            ("cargo test > out.txt", None),
            ("for i in a; do cargo test; done", None),
            ("cargo test $X", None),
        ] {
            assert_eq!(pattern_of(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn only_runs_without_a_change_are_evidence() {
        let digest = |text: &str| Sha256Digest::of(text.as_bytes());
        let line = |files: &str, output: &str, exit| CommandLogLine {
            at: Timestamp::from_millis(0),
            project: "p".to_owned(),
            kind: "cargo test".to_owned(),
            pattern: Some("cargo test *".to_owned()),
            is_agent: false,
            line: digest("cargo test"),
            millis: 10_000,
            exit,
            output: digest(output),
            files: Some(digest(files)),
        };
        let lines = [
            line("a", "ok", 0),
            line("a", "ok", 0),
            line("b", "no", 1),
            line("b", "no", 1),
            line("b", "other", 0),
        ];
        let found = evidence_of(&lines);
        let [it] = &found[..] else { panic!("{found:?}") };
        assert_eq!((it.runs, it.unchanged, it.same, it.same_millis), (5, 3, 2, 20_000));
        assert!(it.failures);
    }
}
