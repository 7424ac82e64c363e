//! Cookies that log somebody in: `Cookie: sid=…; theme=dark`, `Set-Cookie: session=…`, and the
//! same in JSON or behind a flag of `curl`.

use std::ops::Range;

use super::boundary;
use super::placeholder;
use super::word_form::looks_random;
use super::words;

/// Most bytes of a header that are examined.
const LONGEST: usize = 1024;

/// Matches at the literals `cookie` and ` -b `.
pub(super) fn find_cookie(text: &[u8], at: usize) -> Option<Range<usize>> {
    let flag = text[at..].starts_with(b" -b ");
    let start = if flag {
        let line = text[at.saturating_sub(200)..at].rsplit(|&byte| byte == b'\n').next()?;
        line.windows(4).any(|window| window == b"curl").then_some(at + 4)?
    } else {
        value_start(text, at + b"cookie".len())?
    };
    let opening = boundary::count_run(text, start, 8, |byte| b" \t\"'\\[".contains(&byte));
    let start = start + opening;
    let rest = &text[start..text.len().min(start + LONGEST)];
    let end = rest.iter().position(|byte| b"\n\"'\\".contains(byte)).unwrap_or(rest.len());
    let mut from = start;
    for pair in rest[..end].split(|&byte| byte == b';') {
        let blanks = pair.len() - pair.trim_ascii_start().len();
        if let Some(equals) = pair.iter().position(|&byte| byte == b'=') {
            let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii_end());
            if is_login(name, value) {
                let at = from + equals + 1;
                return Some(at..at + value.len());
            }
        } else if blanks == 0 && from == start {
            return None;
        }
        from += pair.len() + 1;
    }
    None
}

/// Start of the value: behind the colon, or behind the flag's blank.
fn value_start(text: &[u8], end: usize) -> Option<usize> {
    let quotes = boundary::count_run(text, end, 4, |byte| b"\"'\\".contains(&byte));
    let at = end + quotes + boundary::count_run(text, end + quotes, 4, |byte| byte == b' ');
    match text.get(at)? {
        b':' | b'=' | b',' if quotes > 0 || text[at] == b':' => Some(at + 1),
        _ if text[..end].ends_with(b"--cookie") && at > end => Some(at),
        _ => None,
    }
}

/// True for a value that a server made, and for any that stands for a session.
fn is_login(name: &[u8], value: &[u8]) -> bool {
    if value.len() < 8 || placeholder::is_placeholder(value) || placeholder::lacks_variety(value) {
        return false;
    }
    if words::contains_word(&["expires", "path", "domain", "max-age", "samesite"], name) {
        return false;
    }
    let plain: Vec<u8> = name
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    let session = words::SESSIONS
        .iter()
        .any(|word| plain.windows(word.len()).any(|window| window == word.as_bytes()));
    let mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    let plain_value: Vec<u8> =
        value.iter().copied().filter(|byte| !b"!|*,()&$#@\x20".contains(byte)).collect();
    session && mixed || looks_random(&plain_value)
}
