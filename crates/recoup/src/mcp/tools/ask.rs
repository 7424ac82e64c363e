//! Proposals for the user to decide on. Such a tool does nothing yet; the proposed action is
//! carried out when the user agrees.

use recoup_core::Result;
use recoup_core::memory::{Note, Suggestion};

use super::{Answer, Outcome, delete_memory, store_memory};
use crate::mcp::Surroundings;

/// An action that needs the user's consent.
#[derive(Debug)]
pub(in crate::mcp) struct Proposal {
    pub(in crate::mcp) question: Question,
    /// Answer if nobody can be asked, or nobody answers.
    pub(in crate::mcp) unasked: Answer,
    /// True if the note was unknown before the first question.
    pub(in crate::mcp) new: bool,
    /// True if the user has just said something on the topic.
    pub(in crate::mcp) just_said: bool,
    pub(super) deed: Deed,
}

/// Question for the user: all that a yes would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mcp) struct Question {
    pub(in crate::mcp) text: String,
    /// Label of the field to tick.
    pub(in crate::mcp) tick: &'static str,
}

/// Action after consent.
#[derive(Debug)]
pub(super) enum Deed {
    /// Makes an agent's note the user's own.
    Agree(Suggestion),
    /// Removes a rule, or another project's note, for good.
    Forget(Note),
}

impl Proposal {
    /// Subject that an answer is tied to: the text shown, and this very note. One that is
    /// forgotten and stored again is another.
    pub(in crate::mcp) fn subject(&self) -> String {
        let note = match &self.deed {
            Deed::Agree(suggestion) => &suggestion.note,
            Deed::Forget(note) => note,
        };
        format!("{} {}", note.id, self.question.text)
    }

    /// Records an agent's note if the user allows this client to; otherwise still asks.
    pub(super) fn recorded_for(self, around: &dyn Surroundings, client: &str) -> Result<Outcome> {
        let recorded = match &self.deed {
            Deed::Agree(suggestion) => {
                store_memory::recorded(around, suggestion, self.new, client)?
            }
            Deed::Forget(_) => None,
        };
        Ok(recorded.map_or_else(|| Outcome::Asks(Box::new(self)), Outcome::Done))
    }

    /// The user agreed.
    pub(in crate::mcp) fn carry_out(self, around: &dyn Surroundings) -> Result<Answer> {
        match self.deed {
            Deed::Agree(suggestion) => store_memory::agreed(around, &suggestion, self.new),
            Deed::Forget(note) => delete_memory::agreed(around, &note),
        }
    }

    /// The user declined.
    pub(in crate::mcp) fn turn_down(self, around: &dyn Surroundings) -> Result<Answer> {
        match self.deed {
            Deed::Agree(suggestion) => store_memory::declined(around, &suggestion, self.new),
            Deed::Forget(note) => Ok(delete_memory::declined(&note)),
        }
    }
}
