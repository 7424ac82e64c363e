//! Cleaning of text that leaves the machine: without private parts, secrets and invisible
//! characters, and not too long.

use crate::memory::inject::is_unseen;
use crate::memory::private_text::without_private;
use crate::secrets::{self, SecretValues};

/// Mark between the beginning and the end of a text that was too long.
const GAP: &str = " […] ";

/// Removes invisible characters, private parts and secrets, those in `hidden` among them. Secrets
/// go before anything is cut: half of one would not be recognized.
pub(super) fn clean(text: &str, hidden: &SecretValues) -> String {
    // First, because an invisible character may hide a secret or a tag.
    let seen: String = text.chars().filter(|c| is_kept(*c)).collect();
    let public = without_private(&seen);
    let open = hidden.redact(&public);
    secrets::redact(&open).trim().to_owned()
}

fn is_kept(c: char) -> bool {
    matches!(c, '\n' | '\t') || !is_unseen(c)
}

/// Shortens a text to about `most` characters: the beginning and the end.
pub(super) fn shorten_middle(text: String, most: usize) -> String {
    let chars = text.chars().count();
    if chars <= most {
        return text;
    }
    let half = most / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(chars - half).collect();
    format!("{}{GAP}{}", head.trim_end(), tail.trim_start())
}
