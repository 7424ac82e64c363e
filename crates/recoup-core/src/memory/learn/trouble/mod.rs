//! Signs of trouble in an agent's transcript: failed commands, tests that stay red despite edits,
//! test failures that the client did not report, abandoned approaches and repeated calls.

mod backtrack;
mod repeat;
mod stuck;

use std::ops::Range;

use crate::base::text::shorten_text;
use crate::memory::learn::command::CommandKind;
use crate::memory::learn::failure::{CallFailure, detect_failure};
use crate::memory::transcript::{ToolStep, TranscriptEntry, tool_steps};
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
    let tried: Vec<ToolAttempt<'_>> = tool_steps(entries).into_iter().map(to_attempt).collect();
    let mut found: Vec<AgentTrouble> = tried.iter().filter_map(failed_command_trouble).collect();
    found.extend(stuck::find_stuck_tests(&tried));
    found.extend(repeat::find_repetitions(&tried));
    found.extend(backtrack::find_backtracks(entries, &tried));
    found.sort_by_key(|trouble| (trouble.entries.start, trouble.sort));
    found
}

fn to_attempt(step: ToolStep<'_>) -> ToolAttempt<'_> {
    let kind = step.call.command().and_then(|line| CommandKind::of(line));
    let failure = step.outcome.and_then(|outcome| detect_failure(step.call, outcome));
    ToolAttempt { step, kind, failure }
}

/// Returns the trouble of a command that failed, whether the client reported it or not.
fn failed_command_trouble(tried: &ToolAttempt<'_>) -> Option<AgentTrouble> {
    tried.step.call.command()?;
    let sort =
        if tried.failure.as_ref()?.flagged { TroubleKind::Failed } else { TroubleKind::Unflagged };
    Some(tried.to_trouble(sort, tried.step.at))
}
