//! Text in `<private>` tags, which is cut out before anything is recorded.
//!
//! In doubt a text is private. A tag that is never closed reaches to the end, and
//! one that was never opened reaches back to the beginning.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::memory::guard::opt_out::without_opted_out;

/// A tag: space behind its bracket, the slash of one that closes, and its end.
const TAG: &str = r"(?i-u)<(\s*)(/?)\s*private(\s*>)?";

/// Returns a text without its private parts; may be empty.
pub fn without_private(text: &str) -> Cow<'_, str> {
    static PATTERN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(TAG).expect("the pattern is valid"));
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let (mut depth, mut from, mut at) = (0_usize, 0, 0);
    for tag in PATTERN.captures_iter(text) {
        let found = tag.get_match();
        let is_whole = tag.get(3).is_some();
        let goes_on = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c) || !c.is_ascii();
        // A bracket that stands alone (`a < private`) begins nothing but a whole tag.
        let is_other =
            !is_whole && (!tag[1].is_empty() || text[found.end()..].starts_with(goes_on));
        if is_other || found.start() < at {
            continue;
        }
        if tag[2].is_empty() {
            if depth == 0 {
                join(&mut kept, &text[from..found.start()]);
            }
            // Anything else in the tag is cut with the text behind it.
            (depth, at) = (depth + 1, found.end());
        } else {
            if depth == 0 {
                kept.clear();
            }
            let rest = &text[found.end()..];
            let gap = if is_whole { 0 } else { rest.find('>').map_or(rest.len(), |gap| gap + 1) };
            at = found.end() + gap;
            (depth, from) = (depth.saturating_sub(1), at);
        }
    }
    if at == 0 {
        return Cow::Borrowed(text);
    }
    if depth == 0 {
        join(&mut kept, &text[from..]);
    }
    Cow::Owned(kept.trim().to_owned())
}

/// Words of a person without private parts, and without what they asked not to be remembered. The
/// only form in which prompts are read for statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicText(String);

impl PublicText {
    /// Takes out what is private.
    pub fn new(typed: &str) -> Self {
        Self(without_opted_out(&without_private(typed)).to_owned())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Shortens the text, or takes more out of it.
    #[must_use]
    pub fn reduced_by(self, reduce: impl FnOnce(&str) -> Cow<'_, str>) -> Self {
        Self(reduce(&self.0).into_owned())
    }
}

/// Appends a piece; words on both sides of a cut stay separate.
fn join(kept: &mut String, piece: &str) {
    let runs_on = |c: char| !c.is_whitespace();
    if kept.ends_with(runs_on) && piece.starts_with(runs_on) {
        kept.push(' ');
    }
    kept.push_str(piece);
}
