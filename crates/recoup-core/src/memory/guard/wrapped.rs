//! Text that a program put into a prompt in tags: an editor's selection, a reminder, a file, the
//! output of a command. Nothing in it was said by the user.
//!
//! The wrapped text may itself contain tags, even the closing tag of its own wrapper. So the first
//! closing tag proves nothing: a wrapper ends at the last closing tag of its name, and if the
//! opening and closing tags of that name differ in number, nothing behind it is trusted.
//!
//! A tag in the middle of a line is mostly the user's own word: "never use `<mat-icon>`". Where it
//! does wrap, and is not a client's, its line is dropped whole: half a sentence may say the opposite
//! of the whole.

use std::borrow::Cow;
use std::collections::HashMap;

/// Beginnings of the names that clients give to what they put into a prompt.
const CLIENT_TAGS: [&str; 8] = [
    "bash-", "command-", "ide_", "local-command-", "system-reminder", "task-notification",
    "tool_use_error", "user-memory-input",
];

/// A tag in a text. Only `</name>`, written exactly so, closes anything.
#[derive(Debug, Clone, Copy)]
struct WrapperTag<'a> {
    name: &'a str,
    closes: bool,
    /// The text behind the name.
    rest: &'a str,
}

/// The tags of one name in a text.
#[derive(Debug, Default)]
struct TagCount {
    opened: usize,
    closed: usize,
    /// The end of the last closing tag.
    last_closed: usize,
}

impl<'a> WrapperTag<'a> {
    fn at(text: &'a str, at: usize) -> Option<Self> {
        let inside = &text[at + 1..];
        let closes = inside.starts_with('/');
        let name = inside.strip_prefix('/').unwrap_or(inside);
        let length = name
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            .count();
        let (name, rest) = name.split_at(length);
        let ends = match rest.chars().next() {
            Some('>') => true,
            Some(c) => !closes && (c == '/' || c.is_whitespace()),
            None => !closes,
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
        (is_name && ends).then_some(Self { name, closes, rest })
    }

    /// The text behind the tag.
    fn behind(&self) -> &'a str {
        let end = memchr::memchr(b'>', self.rest.as_bytes());
        &self.rest[end.map_or(self.rest.len(), |gap| gap + 1)..]
    }

    /// True if nothing follows the tag on its line, as behind the tag of a block. `<Foo />` is
    /// none.
    fn fills_line(&self) -> bool {
        let behind = self.behind();
        let line = behind.lines().next().unwrap_or("");
        let tag = &self.rest[..self.rest.len() - behind.len()];
        line.trim().is_empty() && !tag.ends_with("/>")
    }

    /// True if an opening tag in the middle of a line wraps the lines below it.
    fn wraps_lines(&self, is_closed: bool, is_glued: bool) -> bool {
        let behind = self.behind();
        if self.fills_line() {
            return !behind.trim().is_empty() && (is_closed || !is_glued);
        }
        let line = behind.lines().next().unwrap_or("");
        is_closed && !line.contains(&format!("</{}>", self.name))
    }

    /// True for names that programs use, and neither HTML nor prose: `ide_selection`,
    /// `system-reminder`.
    fn is_program_name(&self) -> bool {
        self.name.contains(['-', '_'])
    }

    fn is_client_tag(&self) -> bool {
        CLIENT_TAGS.iter().any(|start| self.name.starts_with(start))
    }
}

/// Returns the text without what programs wrapped in it. It may be empty.
///
/// A tag wraps if it begins a line, if the lines below it are wrapped, if it is a client's, or if
/// it has the name of a program's tag and is closed. Text on the line of a cut is dropped, but for
/// what stands before a closed wrapper of a client, or behind one that begins the line.
pub fn without_wrapped(text: &str) -> Cow<'_, str> {
    let mut counts: HashMap<&str, TagCount> = HashMap::new();
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        let Some(tag) = WrapperTag::at(text, at) else { continue };
        let count = counts.entry(tag.name).or_default();
        if tag.closes {
            count.closed += 1;
            count.last_closed = text.len() - tag.behind().len();
        } else {
            count.opened += 1;
        }
    }
    if counts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let (mut from, mut at) = (0, 0);
    // True if the text from `from` to the end of its line is dropped.
    let mut drops_line = false;
    while let Some(bracket) = memchr::memchr(b'<', &text.as_bytes()[at..]).map(|gap| at + gap) {
        at = bracket + 1;
        let Some(tag) = WrapperTag::at(text, bracket) else { continue };
        let before = text[from..bracket].trim_end_matches([' ', '\t']);
        let begins_line = before.ends_with('\n') || (before.is_empty() && !drops_line);
        let count = &counts[tag.name];
        let is_closed = count.closed > 0;
        let end = if tag.closes {
            // Where it was opened is not known: any of the text may have been wrapped.
            if tag.is_program_name() {
                return Cow::Owned(String::new());
            }
            if !begins_line {
                continue;
            }
            text.len() - tag.behind().len()
        } else {
            let is_program_tag = tag.is_program_name() && (is_closed || begins_line);
            let is_glued = text[..bracket]
                .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_'));
            let wraps = is_program_tag
                || tag.is_client_tag()
                || (begins_line && (is_closed || tag.fills_line()))
                || tag.wraps_lines(is_closed, is_glued);
            if !wraps {
                // A word of the user's: "<div> is never used for buttons".
                continue;
            }
            let is_balanced = count.opened == count.closed && count.last_closed > bracket;
            if is_balanced { count.last_closed } else { text.len() }
        };
        kept.push_str(trusted(&text[from..bracket], drops_line));
        drops_line = !(begins_line && tag.is_client_tag());
        // A client's tag that is closed is no word of the user's: what stands before it is whole.
        if !(tag.is_client_tag() && is_closed) {
            kept.truncate(kept.rfind('\n').map_or(0, |line| line + 1));
        }
        kept.push('\n');
        (from, at) = (end, end);
    }
    kept.push_str(trusted(&text[from..], drops_line));
    Cow::Owned(kept)
}

/// Returns the part without the rest of its first line, if that is dropped.
fn trusted(part: &str, drops_line: bool) -> &str {
    if drops_line { part.find('\n').map_or("", |line| &part[line..]) } else { part }
}
