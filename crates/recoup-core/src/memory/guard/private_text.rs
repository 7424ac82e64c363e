//! Text in `<private>` tags, which is cut out before anything is recorded.
//!
//! In doubt a text is private. A tag that is never closed reaches to the end, and
//! one that was never opened reaches back to the beginning.

use std::borrow::Cow;

use crate::memory::guard::opt_out::without_opted_out;

/// The name of the tag, in any casing.
const NAME: &[u8] = b"private";

/// A tag in a text, and where it ends.
enum PrivateTag {
    Opens(usize),
    Closes(usize),
}

/// Returns a text without its private parts; may be empty.
pub fn without_private(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let (mut depth, mut from, mut at) = (0_usize, 0, 0);
    let mut cut = false;
    while let Some(bracket) = memchr::memchr(b'<', &text.as_bytes()[at..]).map(|gap| at + gap) {
        at = bracket + 1;
        match tag_at(text.as_bytes(), bracket) {
            None => {}
            Some(PrivateTag::Opens(end)) => {
                if depth == 0 {
                    join(&mut kept, &text[from..bracket]);
                }
                (depth, at, cut) = (depth + 1, end, true);
            }
            Some(PrivateTag::Closes(end)) => {
                if depth == 0 {
                    kept.clear();
                }
                (depth, from, at, cut) = (depth.saturating_sub(1), end, end, true);
            }
        }
    }
    if !cut {
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
    let runs_on = |text: &str, last: bool| {
        let edge = if last { text.chars().next_back() } else { text.chars().next() };
        edge.is_some_and(|c| !c.is_whitespace())
    };
    if runs_on(kept, true) && runs_on(piece, false) {
        kept.push(' ');
    }
    kept.push_str(piece);
}

/// The tag that begins with the bracket at `at`. Behind a bracket that stands alone
/// (`a < private`) it must be a tag and nothing else.
fn tag_at(text: &[u8], at: usize) -> Option<PrivateTag> {
    let mut rest = skip_spaces(text, at + 1);
    let alone = rest > at + 1;
    let closes = text.get(rest) == Some(&b'/');
    if closes {
        rest = skip_spaces(text, rest + 1);
    }
    let name = text.get(rest..rest + NAME.len())?;
    let end = rest + NAME.len();
    let longer = text.get(end).is_some_and(|byte| {
        byte.is_ascii_alphanumeric() || b"_-.:".contains(byte) || *byte >= 0x80
    });
    if !name.eq_ignore_ascii_case(NAME) || longer {
        return None;
    }
    let after = skip_spaces(text, end);
    let bracket = text.get(after) == Some(&b'>');
    match (closes, bracket) {
        (_, false) if alone => None,
        // Anything else in the tag is cut with the text behind it.
        (false, _) => Some(PrivateTag::Opens(if bracket { after + 1 } else { end })),
        (true, _) => {
            let close = memchr::memchr(b'>', &text[end..]).map_or(text.len(), |gap| end + gap + 1);
            Some(PrivateTag::Closes(close))
        }
    }
}

fn skip_spaces(text: &[u8], at: usize) -> usize {
    let spaces = text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    at + spaces
}
