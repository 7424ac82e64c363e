//! Signs of trouble in an agent's transcript: failed commands, tests that stay red despite edits,
//! test failures that the client did not report, abandoned approaches and repeated calls.

mod backtrack;
mod repeat;
mod stuck;

use std::ops::Range;

use crate::base::text::shortened;
use crate::memory::learn::command::Kind;
use crate::memory::learn::failure::{Failure, failure};
use crate::memory::transcript::{Entry, Step, steps};
use crate::secrets::RedactedCommand;

/// Maximum characters of a command.
const MOST_COMMAND: usize = 300;

/// Something that went wrong, and its place in a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Kind of trouble.
    pub sort: Sort,
    /// Entries that show it, from the first call to the last outcome or word.
    pub entries: Range<usize>,
    /// Call that it is about: a shell line without secrets, or a tool's name.
    pub call: String,
    /// Kind of that command.
    pub kind: Option<Kind>,
    /// Error in one line, if any.
    pub error: Option<String>,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
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
struct Tried<'a> {
    step: Step<'a>,
    kind: Option<Kind>,
    failure: Option<Failure>,
}

impl Tried<'_> {
    fn trouble(&self, sort: Sort, from: usize) -> Trouble {
        let call = self.step.call;
        let line = call.command().map_or(call.tool.as_str(), RedactedCommand::as_str);
        Trouble {
            sort,
            entries: from..self.step.until + 1,
            call: shortened(line.trim(), MOST_COMMAND).into_owned(),
            kind: self.kind.clone(),
            error: self.failure.as_ref().map(|failure| failure.error.clone()),
        }
    }
}

/// Returns all trouble in `entries`, in the order in which it begins.
pub fn troubles(entries: &[Entry]) -> Vec<Trouble> {
    let tried: Vec<Tried<'_>> = steps(entries).into_iter().map(look_at).collect();
    let mut found: Vec<Trouble> = tried.iter().filter_map(failed).collect();
    found.extend(stuck::find(&tried));
    found.extend(repeat::find(&tried));
    found.extend(backtrack::find(entries, &tried));
    found.sort_by_key(|trouble| (trouble.entries.start, trouble.sort));
    found
}

fn look_at(step: Step<'_>) -> Tried<'_> {
    let kind = step.call.command().and_then(|line| Kind::of(line));
    let failure = step.outcome.and_then(|outcome| failure(step.call, outcome));
    Tried { step, kind, failure }
}

/// Returns the trouble of a command that failed, whether the client reported it or not.
fn failed(tried: &Tried<'_>) -> Option<Trouble> {
    tried.step.call.command()?;
    let sort = if tried.failure.as_ref()?.flagged { Sort::Failed } else { Sort::Unflagged };
    Some(tried.trouble(sort, tried.step.at))
}
