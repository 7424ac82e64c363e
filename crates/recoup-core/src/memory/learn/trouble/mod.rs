//! Where an agent was in trouble, as its transcript shows it: commands that failed,
//! tests that stayed red while it edited, tests that failed without a word from the
//! client, a way that it gave up, and the same call over and over.

mod backtrack;
mod repeat;
mod stuck;

use std::ops::Range;

use crate::base::text::shortened;
use crate::memory::learn::command::Kind;
use crate::memory::learn::failure::{Failure, failure};
use crate::memory::transcript::{Entry, Step, steps};
use crate::secrets::RedactedCommand;

/// So many characters of a command.
const MOST_COMMAND: usize = 300;

/// Something that went wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What sort of trouble.
    pub sort: Sort,
    /// The entries that it shows in: from the first call to the last outcome or word.
    pub entries: Range<usize>,
    /// The call it is about: a shell line without secrets, or a tool's name.
    pub call: String,
    /// What kind of command that is.
    pub kind: Option<Kind>,
    /// What was wrong, in one line; nothing where nothing says so.
    pub error: Option<String>,
}

/// What sort of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// A command exited with an error.
    Failed,
    /// A test failed three times, with edits between.
    Stuck,
    /// Tests failed, but the command did not say so.
    Unflagged,
    /// The agent gave up what it had tried.
    Backtracked,
    /// The same call three times in a row.
    Repeated,
}

/// A call together with what is known about it.
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

/// All trouble that `entries` show, in the order in which it begins.
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

/// A command that failed, with or without the client's word for it.
fn failed(tried: &Tried<'_>) -> Option<Trouble> {
    tried.step.call.command()?;
    let sort = if tried.failure.as_ref()?.flagged { Sort::Failed } else { Sort::Unflagged };
    Some(tried.trouble(sort, tried.step.at))
}
