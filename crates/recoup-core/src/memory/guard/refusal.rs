//! Statements that must not be kept: secrets, unreadable text, and attempts to override or reveal
//! the agent's instructions.
//!
//! A rule that is refused by mistake is lost on the user, so a statement is judged as a whole,
//! never by one word: "ignore the lint warnings" is fine.

use std::fmt;

use crate::memory::guard::instructions;
use crate::memory::lang::escape::is_unseen;
use crate::secrets;

/// Maximum characters of a statement.
pub const MOST_CHARS: usize = 1_000;

/// Reason why a statement is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// Nothing in it to keep.
    Empty,
    /// Too many characters: this many.
    TooLong(usize),
    /// Invisible characters.
    Unseen,
    /// A secret, found by this rule.
    Secret(&'static str),
    /// Text about the agent's instructions.
    Instructions,
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the text is empty"),
            Self::TooLong(chars) => write!(
                f,
                "the text has {chars} characters, the limit is {MOST_CHARS}: shorten or split it"
            ),
            Self::Unseen => f.write_str(
                "the text contains control characters or text-direction marks: remove them",
            ),
            Self::Secret(rule) => {
                write!(
                    f,
                    "the text contains a secret ({rule}): say where the secret is kept instead"
                )
            }
            Self::Instructions => f.write_str(
                "the text is about the agent's own instructions: write a rule about the project",
            ),
        }
    }
}

/// Returns the reason why `statement` must not be kept, if there is one.
pub fn statement_refusal(statement: &str) -> Option<RefusalReason> {
    if statement.chars().all(|c| c.is_whitespace() || is_unseen(c)) {
        return Some(RefusalReason::Empty);
    }
    let chars = statement.chars().count();
    if chars > MOST_CHARS {
        return Some(RefusalReason::TooLong(chars));
    }
    text_refusal(statement)
}

/// Returns the reason why a text of any length must not be kept, if there is one.
pub(crate) fn text_refusal(text: &str) -> Option<RefusalReason> {
    // Control characters, direction overrides and tag characters. Invisible joiners and separators
    // of words are allowed: they come with text from web pages.
    let is_harmful = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    if text.contains(is_harmful) {
        return Some(RefusalReason::Unseen);
    }
    if let Some(rule) = secrets::detect_secret(text.as_bytes()) {
        return Some(RefusalReason::Secret(rule));
    }
    instructions::is_about_instructions(text).then_some(RefusalReason::Instructions)
}

/// True if a line or sentence of a text is about the agent's instructions.
pub(crate) fn speaks_of_instructions(text: &str) -> bool {
    let pieces = text.split_inclusive(['\n', '.', '!', '?', '。', '！', '？']);
    let pieces = pieces.filter(|piece| piece.contains(char::is_alphanumeric));
    pieces
        .map(|piece| &piece[..piece.floor_char_boundary(MOST_CHARS)])
        .any(|piece| text_refusal(piece) == Some(RefusalReason::Instructions))
}
