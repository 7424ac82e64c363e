//! Signs of trouble in an agent's transcript that no single call shows: tests that stay red despite
//! edits, abandoned approaches and repeated calls.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::memory::capture::transcript::{
    CallStatus, EntryKind, ToolAction, ToolCall, ToolStep, TranscriptEntry, tool_steps,
};
use crate::memory::lang::is_one_of;
use crate::memory::learn::failure::{CallFailure, detect_failure};
use crate::memory::learn::patterns::PatternSection;
use crate::memory::shell::CommandKind;
use crate::secrets::RedactedCommand;

/// Something that went wrong in several steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTrouble {
    /// Kind of trouble.
    pub sort: TroubleKind,
    /// Kind of the command that it is about, or the name of a tool.
    pub subject: String,
    /// Error in one line, if any.
    pub error: Option<String>,
    /// Index of the last entry that shows it.
    pub last: usize,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// A test failed three times, with edits between.
    Stuck,
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

    fn to_trouble(&self, sort: TroubleKind, last: usize) -> AgentTrouble {
        let call = self.step.call;
        let line = || call.command().map_or(call.tool.as_str(), RedactedCommand::as_str);
        let subject = self.kind.as_ref().map_or_else(|| line().to_owned(), ToString::to_string);
        let error = self.failure.as_ref().map(|failure| failure.error.clone());
        AgentTrouble { sort, subject, error, last }
    }
}

/// Returns all trouble in `entries`.
pub fn find_troubles(entries: &[TranscriptEntry]) -> Vec<AgentTrouble> {
    let steps = tool_steps(entries).into_iter();
    let tried: Vec<ToolAttempt<'_>> = steps
        .map(|step| {
            let kind = step.call.command().and_then(|line| CommandKind::of(line));
            let failure = step.outcome.and_then(|outcome| detect_failure(step.call, outcome));
            ToolAttempt { step, kind, failure }
        })
        .collect();
    let mut found = find_stuck_tests(&tried);
    found.extend(find_repetitions(&tried));
    // The agent's words that give up what it did in this turn.
    let mut turn = 0;
    for (at, entry) in entries.iter().enumerate() {
        match &entry.what {
            EntryKind::Prompt(_) => turn = at,
            EntryKind::Words(text) if gives_up(text) => {
                let before = |it: &&ToolAttempt<'_>| it.step.at >= turn && it.step.until < at;
                let mine = |it: &&ToolAttempt<'_>| it.step.agent == entry.agent.as_deref();
                let last = tried.iter().rev().filter(before).find(mine);
                found.extend(last.map(|it| it.to_trouble(TroubleKind::Backtracked, at)));
            }
            _ => {}
        }
    }
    found
}

/// Number of failures that count as stuck, and of equal calls that count as a repetition.
const TIMES: usize = 3;

const TEST_RUNNERS: &str =
    "pytest jest vitest mocha rspec phpunit tox nox ctest playwright cypress ava karma unittest";

/// Failures of one kind of test.
#[derive(Default)]
struct FailureStreak {
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
        if row.times == 0 || std::mem::take(&mut row.edited) {
            row.times += 1;
        }
        if row.times < TIMES {
            continue;
        }
        let trouble = it.to_trouble(TroubleKind::Stuck, it.step.until);
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

/// Shell lines that change files.
static EDITS: PatternSection = PatternSection::new("(edits)");

/// True if a call changed files, and was not refused.
fn changes_files(tried: &ToolAttempt<'_>) -> bool {
    let by_shell = tried.step.call.command().is_some_and(|line| EDITS.fits(line));
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
        let until = row.iter().map(|it| it.step.until).max()?;
        Some(last.to_trouble(TroubleKind::Repeated, until))
    })
    .collect()
}

static NO_GOOD: PatternSection = PatternSection::new("no good");
static ANOTHER_WAY: PatternSection = PatternSection::new("another way");
static GIVES_UP: PatternSection = PatternSection::new("gives up");
static SUPPOSED: PatternSection = PatternSection::new("supposed");

/// True if a sentence rejects what was tried, and it or the next announces another attempt.
fn gives_up(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let spoken = text.split("```").step_by(2).collect::<Vec<_>>().join("\n");
    let sentences = spoken.split(['.', '!', '?', '\n', ';', '—']).map(str::trim);
    let sentences: Vec<&str> = sentences.filter(|it| !it.is_empty()).collect();
    sentences.iter().enumerate().any(|(at, sentence)| {
        let next = sentences.get(at + 1).copied().unwrap_or("");
        let tries_anew =
            |bad: Range<usize>| ANOTHER_WAY.fits(&sentence[bad.start..]) || ANOTHER_WAY.fits(next);
        !SUPPOSED.fits(sentence)
            && (NO_GOOD.find(sentence).is_some_and(tries_anew) || GIVES_UP.fits(sentence))
    })
}
