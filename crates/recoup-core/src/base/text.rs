//! Text as messages carry it.

use std::borrow::Cow;

/// At most `max` characters of `text`, and an ellipsis where there were more.
pub fn shortened(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}
