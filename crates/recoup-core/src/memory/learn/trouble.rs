//! Signs of trouble in an agent's transcript: failed commands, tests that stay red despite edits,
//! test failures that the client did not report, abandoned approaches and repeated calls.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::base::text::shorten_text;
use crate::memory::capture::transcript::{
    CallStatus, EntryKind, ToolAction, ToolCall, ToolStep, TranscriptEntry, tool_steps,
};
use crate::memory::lang::word_lists::is_one_of;
use crate::memory::learn::contains_any;
use crate::memory::learn::failure::{CallFailure, detect_failure};
use crate::memory::shell::CommandKind;
use crate::secrets::RedactedCommand;

/// Maximum characters of a command.
const MOST_COMMAND: usize = 300;

/// Something that went wrong, and its place in a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTrouble {
    /// Kind of trouble.
    pub sort: TroubleKind,
    /// Entries that show it, from the first call to the last outcome or word.
    pub entries: Range<usize>,
    /// Call that it is about: a shell line without secrets, or a tool's name.
    pub call: String,
    /// Kind of that command.
    pub kind: Option<CommandKind>,
    /// Error in one line, if any.
    pub error: Option<String>,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TroubleKind {
    /// A command exited with an error.
    Failed,
    /// A test failed three times, with edits between.
    Stuck,
    /// Tests failed, but the exit code did not show it.
    Unflagged,
    /// The agent gave up an approach.
    Backtracked,
    /// One call was made three times in a row.
    Repeated,
}

/// A tool call, with its kind and its failure.
struct ToolAttempt<'a> {
    step: ToolStep<'a>,
    kind: Option<CommandKind>,
    failure: Option<CallFailure>,
}

impl ToolAttempt<'_> {
    /// Output of the call, if it succeeded.
    fn good_output(&self) -> Option<&str> {
        let outcome = self.step.outcome.filter(|it| it.ended == CallStatus::Succeeded)?;
        Some(&outcome.output)
    }

    fn to_trouble(&self, sort: TroubleKind, from: usize) -> AgentTrouble {
        let call = self.step.call;
        let line = call.command().map_or(call.tool.as_str(), RedactedCommand::as_str);
        AgentTrouble {
            sort,
            entries: from..self.step.until + 1,
            call: shorten_text(line.trim(), MOST_COMMAND).into_owned(),
            kind: self.kind.clone(),
            error: self.failure.as_ref().map(|failure| failure.error.clone()),
        }
    }
}

/// Returns all trouble in `entries`, in the order in which it begins.
pub fn find_troubles(entries: &[TranscriptEntry]) -> Vec<AgentTrouble> {
    let steps = tool_steps(entries).into_iter();
    let tried: Vec<ToolAttempt<'_>> = steps
        .map(|step| {
            let kind = step.call.command().and_then(|line| CommandKind::of(line));
            let failure = step.outcome.and_then(|outcome| detect_failure(step.call, outcome));
            ToolAttempt { step, kind, failure }
        })
        .collect();
    let failed = |tried: &ToolAttempt<'_>| {
        tried.step.call.command()?;
        let flagged = tried.failure.as_ref()?.flagged;
        let sort = if flagged { TroubleKind::Failed } else { TroubleKind::Unflagged };
        Some(tried.to_trouble(sort, tried.step.at))
    };
    let mut found: Vec<AgentTrouble> = tried.iter().filter_map(failed).collect();
    found.extend(find_stuck_tests(&tried));
    found.extend(find_repetitions(&tried));
    // The agent's words that give up what it did in this turn.
    let mut turn = 0;
    for (at, entry) in entries.iter().enumerate() {
        match &entry.what {
            EntryKind::Prompt(_) => turn = at,
            EntryKind::Words(text) if gives_up(text) => {
                let before = |it: &&ToolAttempt<'_>| it.step.at >= turn && it.step.until < at;
                let mine = |it: &&ToolAttempt<'_>| it.step.agent == entry.agent.as_deref();
                let Some(last) = tried.iter().rev().filter(before).find(mine) else { continue };
                let mut trouble = last.to_trouble(TroubleKind::Backtracked, last.step.at);
                trouble.entries.end = at + 1;
                found.push(trouble);
            }
            _ => {}
        }
    }
    found.sort_by_key(|trouble| (trouble.entries.start, trouble.sort));
    found
}

/// Number of failures that count as stuck, and of equal calls that count as a repetition.
const TIMES: usize = 3;

const TEST_RUNNERS: &str =
    "pytest jest vitest mocha rspec phpunit tox nox ctest playwright cypress ava karma unittest";

/// Failures of one kind of test.
#[derive(Default)]
struct FailureStreak {
    from: usize,
    times: usize,
    edited: bool,
    /// Index of the trouble that was reported: later failures extend it.
    told: Option<usize>,
}

/// Finds kinds of tests that failed three times with an edit before each new failure. The trouble
/// reaches to the last failure.
fn find_stuck_tests(tried: &[ToolAttempt<'_>]) -> Vec<AgentTrouble> {
    let mut rows: HashMap<(Option<&str>, &CommandKind), FailureStreak> = HashMap::new();
    let mut found: Vec<AgentTrouble> = Vec::new();
    for it in tried {
        if changes_files(it) {
            for row in rows.values_mut() {
                row.edited = true;
            }
        }
        let Some(kind) = it.kind.as_ref().filter(|kind| is_test(kind)) else { continue };
        let key = (it.step.agent, kind);
        if it.failure.is_none() {
            // Stopped or denied calls tell nothing about the tests.
            if it.good_output().is_some() {
                rows.remove(&key);
            }
            continue;
        }
        let row = rows.entry(key).or_default();
        if row.times == 0 {
            *row = FailureStreak { from: it.step.at, times: 1, ..FailureStreak::default() };
        } else if std::mem::take(&mut row.edited) {
            row.times += 1;
        }
        if row.times < TIMES {
            continue;
        }
        let trouble = it.to_trouble(TroubleKind::Stuck, row.from);
        if let Some(at) = row.told {
            found[at] = trouble;
        } else {
            row.told = Some(found.len());
            found.push(trouble);
        }
    }
    found
}

/// True if a command of that kind runs tests.
fn is_test(kind: &CommandKind) -> bool {
    let names_tests = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| matches!(word, "test" | "tests" | "spec" | "specs" | "e2e" | "nextest"))
    };
    is_one_of(kind.program(), TEST_RUNNERS)
        || names_tests(kind.program())
        || kind.sub().is_some_and(names_tests)
}

/// Parts of shell lines that change files.
const EDITORS: [&str; 8] =
    ["sed -i", "perl -pi", "git apply", "git checkout", "patch -p", "cat >", "tee ", "apply_patch"];

/// True if a call changed files, and was not refused.
fn changes_files(tried: &ToolAttempt<'_>) -> bool {
    let by_shell = tried.step.call.command().is_some_and(|line| contains_any(line, &EDITORS));
    tried.good_output().is_some() && (tried.step.call.edits() || by_shell)
}

/// Finds rows of three or more equal calls of one agent. Polling for a result is no trouble.
fn find_repetitions(tried: &[ToolAttempt<'_>]) -> Vec<AgentTrouble> {
    let mut by_agent: HashMap<Option<&str>, Vec<&ToolAttempt<'_>>> = HashMap::new();
    for it in tried {
        by_agent.entry(it.step.agent).or_default().push(it);
    }
    let is_same = |a: &ToolCall, b: &ToolCall| a.tool == b.tool && a.print == b.print;
    let rows = by_agent
        .values()
        .flat_map(|calls| calls.chunk_by(|a, b| is_same(a.step.call, b.step.call)));
    rows.filter_map(|row| {
        let (first, last) = (row.first()?, row.last()?);
        let waits = matches!(first.step.call.action, ToolAction::Wait);
        // All of them succeeded with different outputs: something changes.
        let mut seen = HashSet::new();
        let outputs_differ =
            row.iter().all(|it| it.good_output().is_some_and(|output| seen.insert(output)));
        if row.len() < TIMES || waits || outputs_differ {
            return None;
        }
        let mut trouble = last.to_trouble(TroubleKind::Repeated, first.step.at);
        let until = row.iter().map(|it| it.step.until + 1).max().unwrap_or(trouble.entries.end);
        trouble.entries.end = until;
        Some(trouble)
    })
    .collect()
}

/// Phrases that reject what was tried.
const NO_GOOD: &[&str] = &[
    "didn't work", "did not work", "doesn't work", "does not work", "isn't working", "not working",
    "that failed", "this failed", "approach failed", "attempt failed", "still failing",
    "still fails", "no luck", "wrong approach", "i was wrong", "that broke", "that's not right",
    "that's not it", "that wasn't it", "won't work", "dead end", "same error", "made it worse",
];

/// Phrases that announce another attempt.
const ANOTHER_WAY: &[&str] = &[
    "let me try", "let's try", "i'll try", "i will try", "trying", "try a different",
    "try another", "different approach", "another approach", "different way", "another way",
    "let me revert", "i'll revert", "revert that", "roll that back", "let me undo",
    "let me rethink", "step back", "let me instead", "instead, let me", "instead, i'll",
    "start over",
];

/// Phrases that do both at once.
const BOTH: &[&str] = &[
    "let me try a different", "let me try another", "i'll try a different", "i'll try another",
    "let's try a different", "let's try another", "let me take a different approach",
    "i'll take a different approach",
];

/// Phrases that make a sentence hypothetical, or about another time.
const SUPPOSED: &[&str] = &[
    "if ", "in case", "whether ", "when ", "unless ", "so that", "before the fix", "used to",
    "would ", "might ",
];

fn gives_up(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let spoken = text.split("```").step_by(2).collect::<Vec<_>>().join("\n");
    let sentences = spoken.split(['.', '!', '?', '\n', ';', '—']).map(str::trim);
    let sentences: Vec<&str> = sentences.filter(|it| !it.is_empty()).collect();
    sentences.iter().enumerate().any(|(at, sentence)| {
        let next = sentences.get(at + 1).copied().unwrap_or("");
        let rejected = NO_GOOD.iter().filter_map(|words| sentence.find(words)).min();
        let tries_anew = |bad: usize| {
            contains_any(&sentence[bad..], ANOTHER_WAY) || contains_any(next, ANOTHER_WAY)
        };
        !contains_any(sentence, SUPPOSED)
            && (rejected.is_some_and(tries_anew) || contains_any(sentence, BOTH))
    })
}
