//! The words of a line of prose, with their places in the text.

use std::ops::Range;

use super::words;

/// Most bytes of a line that are examined behind a name, and before it.
const WINDOW: usize = 240;
const BEFORE: usize = 120;

/// A word as it was typed, with the signs around it.
#[derive(Debug, Clone)]
pub(super) struct ProseWord {
    pub(super) raw: Range<usize>,
}

/// Signs that belong to the sentence and not to the word.
const EDGES: &[&str] = &[
    "\"", "'", "`", "“", "”", "„", "«", "»", "‘", "’", "(", ")", ",", ".", ";", ":", "!", "?", "*",
    "「", "」", "，", "。", "、", "）", "（",
];
/// Brackets that end what stands around the word.
const CLOSING: &[&str] = &["}", "]"];
const QUOTES: &[&str] = &["\"", "'", "`", "“", "„", "«", "‘", "「", "\\\"", "**"];

impl ProseWord {
    /// The word without the signs around it; the inner text of a quoted one.
    pub(super) fn value(&self, text: &[u8]) -> Range<usize> {
        let mut range = self.raw.clone();
        let plain = |at: usize| text[at].is_ascii_alphanumeric();
        if plain(range.start) && plain(range.end - 1) {
            return range;
        }
        while let Some(sign) =
            EDGES.iter().find(|sign| text[range.clone()].starts_with(sign.as_bytes()))
        {
            range.start += sign.len();
        }
        while text[range.clone()].starts_with(b"\\") {
            range.start += 1;
        }
        while let Some(sign) =
            EDGES.iter().chain(CLOSING).find(|sign| text[range.clone()].ends_with(sign.as_bytes()))
        {
            // `Passw0rd!` keeps a sign that may be its own.
            range.end -= sign.len();
        }
        while range.end > range.start && text[range.end - 1] == b'\\' {
            range.end -= 1;
        }
        range
    }

    /// The value, to be looked up in a list.
    pub(super) fn value_bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.value(text)]
    }

    /// Like [`Self::value_bytes`], but a sign on its own is returned itself.
    pub(super) fn value_or_sign<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let plain = self.value_bytes(text);
        if plain.is_empty() { &text[self.raw.clone()] } else { plain }
    }

    pub(super) fn is_quoted(&self, text: &[u8]) -> bool {
        QUOTES.iter().any(|quote| text[self.raw.clone()].starts_with(quote.as_bytes()))
    }

    pub(super) fn ends_clause(&self, text: &[u8]) -> bool {
        let raw = &text[self.raw.clone()];
        [",", ".", ";", "!", "?", ")", "，", "。"].iter().any(|sign| raw.ends_with(sign.as_bytes()))
    }

    pub(super) fn ends_sentence(&self, text: &[u8]) -> bool {
        let raw = &text[self.raw.clone()];
        [".", ";", "!", "?", "。"].iter().any(|sign| raw.ends_with(sign.as_bytes()))
    }

    /// True for a word of a sentence: code has other signs.
    pub(super) fn is_prose(&self, text: &[u8]) -> bool {
        !text[self.raw.clone()].iter().any(|byte| b"{}[]<>=|$\\;_".contains(byte))
    }
}

/// The rest of the line from `at` on, at most [`WINDOW`] bytes. It ends with the string of JSON
/// around it.
pub(super) fn line_after(text: &[u8], at: usize) -> Range<usize> {
    let rest = &text[at..text.len().min(at + WINDOW)];
    let end = rest.iter().enumerate().position(|(place, &byte)| {
        byte == b'\n' || byte == b'\\' && matches!(rest.get(place + 1), Some(b'n' | b'r'))
    });
    let end = at + end.unwrap_or(rest.len());
    let mut opened = false;
    for quote in memchr::memchr_iter(b'"', &text[at..end]).map(|quote| at + quote) {
        if quote > at && text[quote - 1] == b'\\' {
            continue;
        }
        if !opened && words::closes_string(text, quote) {
            return at..quote;
        }
        opened = !opened;
    }
    at..end
}

/// The line up to `at`, at most [`BEFORE`] bytes. It begins with the string of JSON around it.
pub(super) fn line_before(text: &[u8], at: usize) -> Range<usize> {
    let from = at.saturating_sub(BEFORE);
    let start =
        text[from..at].iter().rposition(|&byte| byte == b'\n').map_or(from, |line| from + line + 1);
    let quote = memchr::memrchr(b'"', &text[start..at]).map(|quote| start + quote);
    let opens = quote.filter(|&quote| {
        let before = text[start..quote].trim_ascii_end().last();
        let inner = text.get(quote + 1).is_some_and(|byte| !byte.is_ascii_whitespace());
        inner && before.is_none_or(|byte| b":[,{".contains(byte))
    });
    opens.map_or(start, |quote| quote + 1)..at
}

/// The words in `range`. A quoted text is one, and so is a sign on its own.
pub(super) fn words_of(text: &[u8], range: Range<usize>) -> Vec<ProseWord> {
    let mut words = Vec::new();
    let mut at = range.start;
    while at < range.end {
        if text[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        let rest = &text[at..range.end];
        let pairs = [
            ("\"", "\""),
            ("“", "”"),
            ("„", "“"),
            ("«", "»"),
            ("「", "」"),
            ("`", "`"),
            ("\\\"", "\\\""),
        ];
        let signs = if text[at].is_ascii_alphanumeric() { 0 } else { pairs.len() };
        let quoted = pairs[..signs].iter().find_map(|(open, close)| {
            let inner = rest.strip_prefix(open.as_bytes())?;
            let end = inner.windows(close.len()).position(|window| window == close.as_bytes())?;
            (end > 0).then_some(open.len() + end + close.len())
        });
        at += quoted.unwrap_or(1);
        at += text[at..range.end].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        words.push(ProseWord { raw: start..at });
    }
    words
}
