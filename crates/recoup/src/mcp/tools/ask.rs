//! Proposals for the user to decide on. Such a tool does nothing yet; the proposed action is
//! carried out when the user agrees.

use recoup_core::Result;
use recoup_core::memory::{Note, RuleSuggestion};

use super::{ToolAnswer, ToolOutcome, delete_memory, store_memory};
use crate::mcp::McpServices;

/// An action that needs the user's consent.
#[derive(Debug)]
pub(in crate::mcp) struct ConsentProposal {
    pub(in crate::mcp) question: ConsentQuestion,
    /// Answer if nobody can be asked, or nobody answers.
    pub(in crate::mcp) unasked: ToolAnswer,
    /// True if the note was unknown before the first question.
    pub(in crate::mcp) new: bool,
    /// True if the user has just said something on the topic.
    pub(in crate::mcp) just_said: bool,
    pub(super) deed: ProposedAction,
}

/// Question for the user: all that a yes would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mcp) struct ConsentQuestion {
    pub(in crate::mcp) text: String,
    /// Label of the field to tick.
    pub(in crate::mcp) tick: &'static str,
}

/// Action after consent.
#[derive(Debug)]
pub(super) enum ProposedAction {
    /// Makes an agent's note the user's own.
    Agree(RuleSuggestion),
    /// Removes a rule, or another project's note, for good.
    Forget(Note),
}

impl ConsentProposal {
    /// Subject that an answer is tied to: the text shown, and this very note. One that is
    /// forgotten and stored again is another.
    pub(in crate::mcp) fn subject(&self) -> String {
        let note = match &self.deed {
            ProposedAction::Agree(suggestion) => &suggestion.note,
            ProposedAction::Forget(note) => note,
        };
        format!("{} {}", note.id, self.question.text)
    }

    /// Records an agent's note if the user allows this client to; otherwise still asks.
    pub(super) fn record_if_allowed(
        self,
        services: &McpServices,
        client: &str,
    ) -> Result<ToolOutcome> {
        let recorded = match &self.deed {
            ProposedAction::Agree(suggestion) => {
                store_memory::record_suggestion(services, suggestion, self.new, client)?
            }
            ProposedAction::Forget(_) => None,
        };
        Ok(recorded.map_or_else(|| ToolOutcome::Asks(Box::new(self)), ToolOutcome::Done))
    }

    /// The user agreed.
    pub(in crate::mcp) fn carry_out(self, services: &McpServices) -> Result<ToolAnswer> {
        match self.deed {
            ProposedAction::Agree(suggestion) => {
                store_memory::accept_suggestion(services, &suggestion, self.new)
            }
            ProposedAction::Forget(note) => delete_memory::delete_agreed(services, &note),
        }
    }

    /// The user declined.
    pub(in crate::mcp) fn decline(self, services: &McpServices) -> Result<ToolAnswer> {
        match self.deed {
            ProposedAction::Agree(suggestion) => {
                store_memory::decline_suggestion(services, &suggestion, self.new)
            }
            ProposedAction::Forget(note) => Ok(delete_memory::declined_answer(&note)),
        }
    }
}
