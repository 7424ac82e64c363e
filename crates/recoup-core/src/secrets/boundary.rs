//! Word boundaries in text that may be escaped: results are mostly JSON, where a line's first word
//! stands behind the `n` of `\n`.

/// True for letters, digits and the underscore.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// True for characters of base64url, which other tokens consist of, too.
pub(super) const fn is_base64url(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// True if a word may begin at `at`.
pub(super) fn is_word_start(text: &[u8], at: usize) -> bool {
    match text[..at] {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !is_word(last),
    }
}

/// True if a word may end at `at`.
pub(super) fn is_word_end(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|&byte| !is_word(byte))
}

/// True if the quote at `at` ends a string of JSON: something stands before it, and the end of a
/// value behind it.
pub(super) fn closes_string(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text[before]);
    let ends = matches!(text.get(at + 1), None | Some(b'}' | b']' | b',' | b':' | b'\n' | b'\r'));
    let inside =
        before.is_some_and(|byte| !byte.is_ascii_whitespace() && !b"\\=\"".contains(&byte));
    text[at] == b'"' && inside && ends
}

/// Counts the bytes from `at` on that are `wanted`, up to `most`.
pub(super) fn count_run(text: &[u8], at: usize, most: usize, wanted: fn(u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take(most).take_while(|&&byte| wanted(byte)).count()
}
