//! How much of a text an entry holds: its beginning and its end. What is wrong stands
//! near one of them, and fifty entries stay small whatever the tools wrote.

use std::borrow::Cow;

/// The bytes of a text that an entry holds at most.
pub const MOST_TEXT: usize = 16 << 10;

/// The bytes of a name, an id or a path at most.
pub const MOST_NAME: usize = 512;

/// Compilers name what is wrong first, test runners last; the end has more room,
/// because the verdict is there.
const HEAD: usize = 6 << 10;
const CUT: &str = "\n…\n";

/// How far a cut moves to fall between two lines, so that it goes through no word.
const NEAR: usize = 1 << 10;

/// `text` with its middle cut out if it is longer than [`MOST_TEXT`].
pub fn bounded(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST_TEXT {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(HEAD);
    let head = text[text.floor_char_boundary(head - NEAR)..head]
        .rfind('\n')
        .map_or(head, |at| text.floor_char_boundary(head - NEAR) + at);
    let tail = text.ceil_char_boundary(text.len() - (MOST_TEXT - HEAD - CUT.len()));
    let near = &text[tail..text.floor_char_boundary(tail + NEAR)];
    let tail = near.find('\n').map_or(tail, |at| tail + at + 1);
    Cow::Owned([&text[..head], CUT, &text[tail..]].concat())
}

/// At most [`MOST_NAME`] bytes of a name.
pub fn named(text: &str) -> String {
    text[..text.floor_char_boundary(MOST_NAME)].to_owned()
}
