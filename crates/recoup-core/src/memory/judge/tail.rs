//! The end of a session, as a model is shown it.

use super::clean::{clean, shorten_middle};
use crate::secrets::SecretValues;

/// Most turns that are shown.
pub const MOST_TURNS: usize = 50;
/// Fewest turns of a session that is worth a question.
pub const FEWEST_TURNS: usize = 10;
/// Most characters of one turn that are shown: its beginning and its end, where errors are.
const MOST_OF_ONE: usize = 600;
/// Most characters that are shown in all; the oldest turns are left out first.
const MOST_OF_ALL: usize = 16_000;

/// Speaker of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnSpeaker {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// A tool that the agent called: its output may be anybody's text.
    Tool,
}

impl TurnSpeaker {
    /// The word that a model is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Tool => "tool",
        }
    }
}

/// Last turns of a session, the oldest first, reduced to what may leave the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTail(Vec<(TurnSpeaker, String)>);

impl SessionTail {
    /// Takes the last [`MOST_TURNS`] of `turns`; none if there are fewer than [`FEWEST_TURNS`], or
    /// nothing may be shown.
    pub fn new<'a>(
        turns: impl IntoIterator<Item = (TurnSpeaker, &'a str)>,
        hidden: &SecretValues,
    ) -> Option<Self> {
        let turns: Vec<_> = turns.into_iter().collect();
        if turns.len() < FEWEST_TURNS {
            return None;
        }
        let mut room = MOST_OF_ALL;
        let mut shown = Vec::new();
        for (speaker, text) in turns.into_iter().rev().take(MOST_TURNS) {
            let text = shorten_middle(clean(text, hidden), MOST_OF_ONE);
            let Some(left) = room.checked_sub(text.chars().count()) else { break };
            room = left;
            if !text.is_empty() {
                shown.push((speaker, text));
            }
        }
        shown.reverse();
        (!shown.is_empty()).then_some(Self(shown))
    }

    /// Turns that are sent, the oldest first.
    pub fn turns(&self) -> &[(TurnSpeaker, String)] {
        &self.0
    }
}
