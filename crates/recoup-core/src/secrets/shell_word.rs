//! Words of a command somewhere in a text: in a script, a log, a string of JSON, or in quotes. Just
//! enough of a shell to find where a word begins and ends.

use std::ops::Range;

use super::boundary;

/// Most bytes of a command that are examined.
const LONGEST: usize = 1024;
const MOST_WORDS: usize = 64;

/// A word as it was written.
#[derive(Debug, Clone)]
pub(super) struct ShellWord {
    /// The range with its quotes.
    pub(super) raw: Range<usize>,
}

impl ShellWord {
    /// The word without quotes around it; a quote without its partner belongs to a string around
    /// the whole command.
    pub(super) fn value(&self, text: &[u8]) -> Range<usize> {
        let Range { mut start, mut end } = self.raw;
        while start < end && b"\\\"'".contains(&text[start]) {
            start += 1;
        }
        while end > start && b"\\\"'`".contains(&text[end - 1]) {
            end -= 1;
        }
        start..end
    }

    /// Returns the part behind `prefix`, if the word begins with it.
    pub(super) fn strip_prefix(&self, text: &[u8], prefix: &[u8]) -> Option<Self> {
        let rest = text[self.raw.clone()].strip_prefix(prefix)?;
        (!rest.is_empty()).then(|| Self { raw: self.raw.end - rest.len()..self.raw.end })
    }

    pub(super) fn is_flag(&self, text: &[u8]) -> bool {
        text[self.raw.start] == b'-'
    }

    /// True unless it is a flag, a drive or a share.
    pub(super) fn is_argument(&self, text: &[u8]) -> bool {
        let raw = &text[self.raw.clone()];
        !self.is_flag(text) && !b"/\\*".contains(&raw[0]) && !raw.ends_with(b":")
    }
}

/// The words from `at` to the end of the command.
pub(super) fn command_words(text: &[u8], at: usize) -> impl Iterator<Item = ShellWord> {
    let limit = text.len().min(at + LONGEST);
    let mut at = at;
    std::iter::from_fn(move || {
        let word = next_word(&text[..limit], at)?;
        at = word.raw.end;
        Some(word)
    })
    .take(MOST_WORDS)
}

/// The words of a whole script from `at` on, one list for each command. A line break separates
/// words only: where a command ends is for a shell to say.
pub(super) fn script_words(text: &[u8], at: usize) -> Vec<Vec<ShellWord>> {
    let mut commands = vec![Vec::new()];
    let mut at = at;
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if b";|&".contains(&byte) {
            commands.push(Vec::new());
            at += 1;
        } else if let Some(word) = next_word(text, at) {
            at = word.raw.end;
            if &text[word.raw.clone()] != b"\\"
                && let Some(command) = commands.last_mut()
            {
                command.push(word);
            }
        } else {
            at += 1;
        }
    }
    commands
}

fn next_word(text: &[u8], mut at: usize) -> Option<ShellWord> {
    loop {
        match text.get(at..)? {
            [b' ' | b'\t', ..] => at += 1,
            // A line that continues below, also in a string of JSON.
            [b'\\', b'\n', ..] => at += 2,
            [b'\\', b'\r', b'\n', ..] => at += 3,
            [b'\\', b'\\', b'\\', b'n', ..] => at += 4,
            _ => break,
        }
    }
    let start = at;
    while let Some(&byte) = text.get(at) {
        match byte {
            // End of the string of JSON around the command.
            b'"' if boundary::closes_string(text, at) => break,
            b' ' | b'\t' | b'\n' | b'\r' | b'|' | b';' => break,
            b'&' if at == start || text.get(at + 1) == Some(&b'&') => break,
            b'\\' if text[at..].starts_with(b"\\n") && at > start => break,
            b'"' | b'\'' => at = closing_quote(text, at).map_or(at + 1, |end| end + 1),
            b'\\' if text.get(at + 1) == Some(&b'\n') => break,
            _ => at += 1,
        }
    }
    (at > start).then_some(ShellWord { raw: start..at })
}

/// The quote that closes the one at `at`, on the same line.
fn closing_quote(text: &[u8], at: usize) -> Option<usize> {
    // In a string of JSON the closing quote is escaped as the opening one is.
    let escaped = at > 0 && text[at - 1] == b'\\';
    let begins = at == 0
        || escaped
        || matches!(text[at - 1], b' ' | b'\t' | b'=' | b':' | b'-' | b'<')
        || text[at - 1].is_ascii_alphanumeric();
    let line = text[at + 1..].iter().position(|&byte| byte == b'\n').unwrap_or(text.len() - at - 1);
    let rest = &text[at + 1..at + 1 + line];
    let close = (0..rest.len())
        .find(|&end| rest[end] == text[at] && (end > 0 && rest[end - 1] == b'\\') == escaped)?;
    begins.then_some(at + 1 + close)
}

/// The word that is echoed into the program at `program`: `echo V | sudo -S …`.
pub(super) fn echoed_before(text: &[u8], program: usize) -> Option<ShellWord> {
    let from = program.saturating_sub(240);
    let before = &text[from..program];
    let line = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let pipe = before[line..].iter().rposition(|&byte| byte == b'|')? + line;
    let source = &before[..pipe];
    let echo = [b"echo ".as_slice(), b"printf "].into_iter().find_map(|name| {
        let at = source[line..].windows(name.len()).rposition(|window| window == name)?;
        Some(line + at + name.len())
    })?;
    let words = command_words(&text[..from + pipe], from + echo);
    words.filter(|word| !word.is_flag(text) && !text[word.raw.clone()].contains(&b'%')).last()
}

/// The word that a here-string gives to a program: `docker login --password-stdin <<< V`.
pub(super) fn here_string(text: &[u8], arguments: &[ShellWord]) -> Option<ShellWord> {
    let sign = arguments.iter().position(|word| text[word.raw.clone()].starts_with(b"<<<"))?;
    arguments[sign].strip_prefix(text, b"<<<").or_else(|| arguments.get(sign + 1).cloned())
}
