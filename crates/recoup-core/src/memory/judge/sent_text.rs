//! Text that leaves the machine, as a model is shown it: candidate sentences and the end of a session,
//! without private parts, secrets and invisible characters, and not too long.

use crate::memory::guard::private_text::without_private;
use crate::memory::guard::refusal::MOST_CHARS;
use crate::memory::lang::escape::is_unseen;
use crate::memory::model::note::words;
use crate::secrets::{self, SecretValues};

/// Most candidates in one question.
pub const MOST_CANDIDATES: usize = 20;

/// A sentence of the user, reduced to what may leave the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeCandidate(String);

impl JudgeCandidate {
    /// Makes a candidate of `text`, without private parts and secrets, `hidden` ones among them;
    /// none if nothing is left.
    pub fn new(text: &str, hidden: &SecretValues) -> Option<Self> {
        let text = shorten_middle(clean(text, hidden), MOST_CHARS);
        (!text.is_empty()).then_some(Self(text))
    }

    /// Text that is sent.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Most turns that are shown.
pub const MOST_TURNS: usize = 50;
/// Fewest turns of a session that is worth a question.
pub const FEWEST_TURNS: usize = 10;
/// Most characters of one turn that are shown: its beginning and its end, where errors are.
const MOST_OF_ONE: usize = 600;
/// Most characters that are shown in all; the oldest turns are left out first.
const MOST_OF_ALL: usize = 16_000;

words! {
    /// Speaker of a turn.
    TurnSpeaker: "invalid speaker" {
        /// The user.
        User = "user",
        /// The agent.
        Agent = "agent",
        /// A tool that the agent called: its output may be anybody's text.
        Tool = "tool",
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

/// Mark between the beginning and the end of a text that was too long.
const GAP: &str = " […] ";

/// Removes invisible characters, private parts and secrets, those in `hidden` among them. Secrets
/// go before anything is cut: half of one would not be recognized.
fn clean(text: &str, hidden: &SecretValues) -> String {
    // First, because an invisible character may hide a secret or a tag.
    let seen: String =
        text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_unseen(*c)).collect();
    let public = without_private(&seen);
    let open = hidden.redact(&public);
    secrets::redact(&open).trim().to_owned()
}

/// Shortens a text to about `most` characters: the beginning and the end.
fn shorten_middle(text: String, most: usize) -> String {
    let chars = text.chars().count();
    if chars <= most {
        return text;
    }
    let half = most / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(chars - half).collect();
    format!("{}{GAP}{}", head.trim_end(), tail.trim_start())
}
