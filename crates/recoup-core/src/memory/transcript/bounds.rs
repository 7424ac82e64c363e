//! Limits on the text of an entry: its beginning and its end are kept. Errors stand near one of
//! them, and fifty entries stay small whatever the tools wrote.

use std::borrow::Cow;

/// Maximum bytes of a text in an entry.
pub const MOST_TEXT: usize = 16 << 10;

/// Maximum bytes of a name, an id or a path.
pub const MOST_NAME: usize = 512;

/// Bytes of the beginning. Compilers report errors first, test runners last; the end has more room,
/// because the verdict is there.
const HEAD: usize = 6 << 10;
const CUT: &str = "\n…\n";

/// Maximum bytes by which a cut moves to fall between two lines.
const NEAR: usize = 1 << 10;

/// Cuts out the middle of a text that is longer than [`MOST_TEXT`].
pub fn bound_text(text: &str) -> Cow<'_, str> {
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

/// Cuts a name to [`MOST_NAME`] bytes.
pub fn bound_name(text: &str) -> String {
    text[..text.floor_char_boundary(MOST_NAME)].to_owned()
}
