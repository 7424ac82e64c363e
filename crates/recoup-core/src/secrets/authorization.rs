//! Credentials of HTTP requests: `Bearer TOKEN` and `Basic BASE64`, in headers,
//! commands and logs.

use std::ops::Range;

use super::boundary;
use super::placeholder;
use crate::base::text::decode_base64;

const LONGEST: usize = 4096;

/// Matches at the literal `bearer`.
pub(super) fn find_bearer(text: &[u8], at: usize) -> Option<Range<usize>> {
    let token = token_after_scheme(text, at, b"bearer".len())?;
    let secret = &text[token.clone()];
    let digit = secret.iter().any(u8::is_ascii_digit);
    let letter = secret.iter().any(u8::is_ascii_alphabetic);
    let least = if in_header(text, at) { 6 } else { 16 };
    let real = digit && letter && secret.len() >= least;
    (real && !placeholder::is_placeholder(secret) && !placeholder::lacks_variety(secret))
        .then_some(token)
}

/// Matches at the literal `basic `: the base64 of a user, a colon and a password.
pub(super) fn find_basic(text: &[u8], at: usize) -> Option<Range<usize>> {
    basic_login(text, token_after_scheme(text, at, b"basic".len())?)
}

/// Matches at the literal `_auth =` of an `.npmrc`, with blanks as in code too.
pub(super) fn find_registry_login(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + b"_auth =".len();
    let start = start + boundary::count_run(text, start, 4, |byte| b" \"".contains(&byte));
    basic_login(text, start..start + boundary::count_run(text, start, LONGEST, is_token))
}

/// Returns `token_after_scheme` if it is the base64 of a user, a colon and a password.
fn basic_login(text: &[u8], token: Range<usize>) -> Option<Range<usize>> {
    let secret = &text[token.clone()];
    if secret.len() < 8 {
        return None;
    }
    let pair = decode_base64(secret, 256)?;
    let colon = pair.iter().position(|&byte| byte == b':')?;
    let password = &pair[colon + 1..];
    let readable =
        pair.iter().all(|byte| !byte.is_ascii_control()) && std::str::from_utf8(&pair).is_ok();
    let stand_in = password.is_empty() || password == b"password" || password == b"pass";
    (readable && !stand_in && !placeholder::is_placeholder(password)).then_some(token)
}

/// Matches at the literal `authorization`, for any scheme of the header.
pub(super) fn find_header(text: &[u8], at: usize) -> Option<Range<usize>> {
    let end = at + b"authorization".len();
    let quotes = boundary::count_run(text, end, 4, |byte| b"\"'\\])".contains(&byte));
    let link = end + quotes + boundary::count_run(text, end + quotes, 4, |byte| byte == b' ');
    match text.get(link)? {
        b':' | b'=' => {}
        b',' if quotes > 0 => {}
        _ => return None,
    }
    let start =
        link + 1 + boundary::count_run(text, link + 1, 8, |byte| b" \"'\\>`".contains(&byte));
    let rest = &text[start..text.len().min(start + LONGEST)];
    let value = &rest[..rest.iter().position(|byte| b"\n`".contains(byte)).unwrap_or(rest.len())];
    // A digest and a signature are as good as the password until they expire.
    let proofs: &[&[u8]] = match value.first() {
        Some(b'D' | b'd') => &[b"response="],
        Some(b'A' | b'S' | b'H') => &[b"Signature=", b"signature="],
        _ => &[],
    };
    for proof in proofs {
        if let Some(place) = value.windows(proof.len()).position(|window| window == *proof) {
            let from = start + place + proof.len();
            let from = from + boundary::count_run(text, from, 2, |byte| b"\"\\".contains(&byte));
            let len = boundary::count_run(text, from, 128, |byte| byte.is_ascii_hexdigit());
            return (len >= 32).then_some(from..from + len);
        }
    }
    let scheme = boundary::count_run(value, 0, 24, boundary::is_base64url);
    let blanks = boundary::count_run(value, scheme, 4, |byte| byte == b' ');
    // These two have rules of their own.
    if [b"bearer".as_slice(), b"basic"].iter().any(|own| value[..scheme].eq_ignore_ascii_case(own))
    {
        return None;
    }
    let plain_scheme = scheme > 0
        && blanks > 0
        && value[..scheme].iter().all(|byte| !byte.is_ascii_digit() || scheme < 12);
    let from = start + if plain_scheme { scheme + blanks } else { 0 };
    let from = from + boundary::count_run(text, from, 6, |byte| b"\"'".contains(&byte));
    let len =
        boundary::count_run(text, from, LONGEST, |byte| is_token(byte) || b":%|!".contains(&byte));
    let token = &text[from..from + len];
    let made = token.iter().any(u8::is_ascii_digit) && token.iter().any(u8::is_ascii_alphabetic);
    let code = token.contains(&b'.')
        && token.iter().all(|byte| byte.is_ascii_lowercase() || b"._".contains(byte));
    let called = matches!(text.get(from + len), Some(b'(' | b'['));
    let real = len >= 10 && made && !code && !called;
    (real && !placeholder::is_placeholder(token) && !placeholder::lacks_variety(token))
        .then(|| from..from + len)
}

/// The token behind a scheme of `len` bytes.
fn token_after_scheme(text: &[u8], at: usize, len: usize) -> Option<Range<usize>> {
    if !boundary::is_word_start(text, at) {
        return None;
    }
    let blanks = boundary::count_run(text, at + len, 4, |byte| byte == b' ');
    let start = at + len + blanks;
    let end = start + boundary::count_run(text, start, LONGEST, is_token);
    (blanks > 0 && end > start).then_some(start..end)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// True if `Authorization` is just before, whatever quotes are between.
fn in_header(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(24)..at];
    let name = b"authorization";
    before.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name))
}
