//! Text in messages.

use std::borrow::Cow;

/// Shortens `text` to `max` characters, with an ellipsis where it was cut.
pub fn shorten_text(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}
