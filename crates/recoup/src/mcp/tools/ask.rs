//! What is the user's to decide. A tool that gets there does nothing yet: it proposes, and
//! what it proposes is done when they say yes.

use recoup_core::Result;
use recoup_core::memory::{Note, Suggestion};

use super::{Answer, Outcome, delete_memory, store_memory};
use crate::mcp::Surroundings;

/// Something that waits for a yes.
#[derive(Debug)]
pub(in crate::mcp) struct Proposal {
    pub(in crate::mcp) question: Question,
    /// What is said where nobody can be asked, or nobody answers.
    pub(in crate::mcp) unasked: Answer,
    /// Whether it is about something that was not known before the first question.
    pub(in crate::mcp) new: bool,
    /// Whether the user has said something on it themselves just now.
    pub(in crate::mcp) just_said: bool,
    pub(super) deed: Deed,
}

/// What the user reads: all that a yes would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mcp) struct Question {
    pub(in crate::mcp) text: String,
    /// What stands beside the field to be ticked.
    pub(in crate::mcp) tick: &'static str,
}

/// What is done when the user agrees.
#[derive(Debug)]
pub(super) enum Deed {
    /// An agent's note becomes the user's own.
    Agree(Suggestion),
    /// A rule, or what is another project's, is removed for good.
    Forget(Note),
}

impl Proposal {
    /// What an answer is tied to: the words that were shown, and this very note. One that is
    /// forgotten and said again is another.
    pub(in crate::mcp) fn subject(&self) -> String {
        let note = match &self.deed {
            Deed::Agree(suggestion) => &suggestion.note,
            Deed::Forget(note) => note,
        };
        format!("{} {}", note.id, self.question.text)
    }

    /// Records an agent's note where the user allows the client that; otherwise waits on.
    pub(super) fn recorded_for(self, around: &dyn Surroundings, client: &str) -> Result<Outcome> {
        let recorded = match &self.deed {
            Deed::Agree(suggestion) => {
                store_memory::recorded(around, suggestion, self.new, client)?
            }
            Deed::Forget(_) => None,
        };
        Ok(recorded.map_or_else(|| Outcome::Asks(Box::new(self)), Outcome::Done))
    }

    /// The user said yes.
    pub(in crate::mcp) fn carry_out(self, around: &dyn Surroundings) -> Result<Answer> {
        match self.deed {
            Deed::Agree(suggestion) => store_memory::agreed(around, &suggestion, self.new),
            Deed::Forget(note) => delete_memory::agreed(around, &note),
        }
    }

    /// The user said no.
    pub(in crate::mcp) fn turn_down(self, around: &dyn Surroundings) -> Result<Answer> {
        match self.deed {
            Deed::Agree(suggestion) => store_memory::declined(around, &suggestion, self.new),
            Deed::Forget(note) => Ok(delete_memory::declined(&note)),
        }
    }
}
