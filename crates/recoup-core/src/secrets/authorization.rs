//! Credentials of HTTP requests: `Bearer TOKEN` and `Basic BASE64`, in headers,
//! commands and logs.

use std::ops::Range;

use super::boundary;
use super::placeholder;
use crate::base::base64;

const LONGEST: usize = 4096;

/// For the literal `bearer`.
pub(super) fn find_bearer(text: &[u8], at: usize) -> Option<Range<usize>> {
    let token = token(text, at, b"bearer".len())?;
    let secret = &text[token.clone()];
    let digit = secret.iter().any(u8::is_ascii_digit);
    let letter = secret.iter().any(u8::is_ascii_alphabetic);
    let least = if in_header(text, at) { 6 } else { 16 };
    let real = digit && letter && secret.len() >= least;
    (real && !placeholder::is_placeholder(secret) && !placeholder::is_dull(secret)).then_some(token)
}

/// For the literal `basic `: the base64 of a user, a colon and a password.
pub(super) fn find_basic(text: &[u8], at: usize) -> Option<Range<usize>> {
    let token = token(text, at, b"basic".len())?;
    let secret = &text[token.clone()];
    if secret.len() < 8 {
        return None;
    }
    let pair = base64::decode(secret, 256)?;
    let colon = pair.iter().position(|&byte| byte == b':')?;
    let password = &pair[colon + 1..];
    let readable =
        pair.iter().all(|byte| !byte.is_ascii_control()) && std::str::from_utf8(&pair).is_ok();
    let stand_in = password.is_empty() || password == b"password" || password == b"pass";
    (readable && !stand_in && !placeholder::is_placeholder(password)).then_some(token)
}

/// The token behind a scheme of `len` bytes.
fn token(text: &[u8], at: usize, len: usize) -> Option<Range<usize>> {
    if !boundary::begins(text, at) {
        return None;
    }
    let blanks = boundary::run(text, at + len, 4, |byte| byte == b' ');
    let start = at + len + blanks;
    let end = start + boundary::run(text, start, LONGEST, is_token);
    (blanks > 0 && end > start).then_some(start..end)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// Whether `Authorization` is just before, whatever quotes are between.
fn in_header(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(24)..at];
    let name = b"authorization";
    before.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name))
}
