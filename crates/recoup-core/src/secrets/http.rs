//! Credentials of HTTP requests: `Bearer TOKEN` and `Basic BASE64` in headers, commands and logs;
//! cookies that log somebody in; passwords in addresses.

use std::ops::Range;

use super::value::lowercase_alphanumerics;
use super::word_form::{self, looks_random};
use super::words;
use crate::base::text::decode_base64;

/// Most bytes of a token that are examined.
const LONGEST_TOKEN: usize = 4096;
/// Most bytes of a header with cookies that are examined.
const LONGEST_COOKIE: usize = 1024;
/// Longer than any address that people or programs write.
const LONGEST_ADDRESS: usize = 512;

/// Matches at the literal `bearer`.
pub(super) fn find_bearer(text: &[u8], at: usize) -> Option<Range<usize>> {
    let token = token_after_scheme(text, at, b"bearer".len())?;
    let secret = &text[token.clone()];
    let digit = secret.iter().any(u8::is_ascii_digit);
    let letter = secret.iter().any(u8::is_ascii_alphabetic);
    // `Authorization` may be just before, whatever quotes are between.
    let name = b"authorization";
    let before = &text[at.saturating_sub(24)..at];
    let in_header = before.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name));
    let least = if in_header { 6 } else { 16 };
    let real = digit && letter && secret.len() >= least;
    (real && !word_form::is_placeholder(secret) && !word_form::lacks_variety(secret))
        .then_some(token)
}

/// Matches at the literal `basic `: the base64 of a user, a colon and a password.
pub(super) fn find_basic(text: &[u8], at: usize) -> Option<Range<usize>> {
    basic_login(text, token_after_scheme(text, at, b"basic".len())?)
}

/// Matches at the literal `_auth =` of an `.npmrc`, with blanks as in code too.
pub(super) fn find_registry_login(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + b"_auth =".len();
    let start = start + words::count_run(text, start, 4, |byte| b" \"".contains(&byte));
    basic_login(text, start..start + words::count_run(text, start, LONGEST_TOKEN, is_token))
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
    (readable && !stand_in && !word_form::is_placeholder(password)).then_some(token)
}

/// Matches at the literal `authorization`, for any scheme of the header.
pub(super) fn find_header(text: &[u8], at: usize) -> Option<Range<usize>> {
    let end = at + b"authorization".len();
    let quotes = words::count_run(text, end, 4, |byte| b"\"'\\])".contains(&byte));
    let link = end + quotes + words::count_run(text, end + quotes, 4, |byte| byte == b' ');
    match text.get(link)? {
        b':' | b'=' => {}
        b',' if quotes > 0 => {}
        _ => return None,
    }
    let start = link + 1 + words::count_run(text, link + 1, 8, |byte| b" \"'\\>`".contains(&byte));
    let rest = &text[start..text.len().min(start + LONGEST_TOKEN)];
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
            let from = from + words::count_run(text, from, 2, |byte| b"\"\\".contains(&byte));
            let len = words::count_run(text, from, 128, |byte| byte.is_ascii_hexdigit());
            return (len >= 32).then_some(from..from + len);
        }
    }
    let scheme = words::count_run(value, 0, 24, words::is_base64url);
    let blanks = words::count_run(value, scheme, 4, |byte| byte == b' ');
    // These two have rules of their own.
    if [b"bearer".as_slice(), b"basic"].iter().any(|own| value[..scheme].eq_ignore_ascii_case(own))
    {
        return None;
    }
    let plain_scheme = scheme > 0
        && blanks > 0
        && value[..scheme].iter().all(|byte| !byte.is_ascii_digit() || scheme < 12);
    let from = start + if plain_scheme { scheme + blanks } else { 0 };
    let from = from + words::count_run(text, from, 6, |byte| b"\"'".contains(&byte));
    let len = words::count_run(text, from, LONGEST_TOKEN, |byte| {
        is_token(byte) || b":%|!".contains(&byte)
    });
    let token = &text[from..from + len];
    let made = token.iter().any(u8::is_ascii_digit) && token.iter().any(u8::is_ascii_alphabetic);
    let code = token.contains(&b'.')
        && token.iter().all(|byte| byte.is_ascii_lowercase() || b"._".contains(byte));
    let called = matches!(text.get(from + len), Some(b'(' | b'['));
    let real = len >= 10 && made && !code && !called;
    (real && !word_form::is_placeholder(token) && !word_form::lacks_variety(token))
        .then(|| from..from + len)
}

/// The token behind a scheme of `len` bytes.
fn token_after_scheme(text: &[u8], at: usize, len: usize) -> Option<Range<usize>> {
    if !words::is_word_start(text, at) {
        return None;
    }
    let blanks = words::count_run(text, at + len, 4, |byte| byte == b' ');
    let start = at + len + blanks;
    let end = start + words::count_run(text, start, LONGEST_TOKEN, is_token);
    (blanks > 0 && end > start).then_some(start..end)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// Matches at the literals `cookie` and ` -b `.
pub(super) fn find_cookie(text: &[u8], at: usize) -> Option<Range<usize>> {
    let flag = text[at..].starts_with(b" -b ");
    let start = if flag {
        let line = text[at.saturating_sub(200)..at].rsplit(|&byte| byte == b'\n').next()?;
        line.windows(4).any(|window| window == b"curl").then_some(at + 4)?
    } else {
        // Behind the colon, or behind the flag's blank.
        let end = at + b"cookie".len();
        let quotes = words::count_run(text, end, 4, |byte| b"\"'\\".contains(&byte));
        let at = end + quotes + words::count_run(text, end + quotes, 4, |byte| byte == b' ');
        match text.get(at)? {
            b':' | b'=' | b',' if quotes > 0 || text[at] == b':' => at + 1,
            _ if text[..end].ends_with(b"--cookie") && at > end => at,
            _ => return None,
        }
    };
    let opening = words::count_run(text, start, 8, |byte| b" \t\"'\\[".contains(&byte));
    let start = start + opening;
    let rest = &text[start..text.len().min(start + LONGEST_COOKIE)];
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

/// True for a value that a server made, and for any that stands for a session.
fn is_login(name: &[u8], value: &[u8]) -> bool {
    if value.len() < 8
        || word_form::is_placeholder(value)
        || word_form::lacks_variety(value)
        || words::contains_word(&["expires", "path", "domain", "max-age", "samesite"], name)
    {
        return false;
    }
    let plain = lowercase_alphanumerics(name);
    let session = words::SESSIONS
        .iter()
        .any(|word| plain.windows(word.len()).any(|window| window == word.as_bytes()));
    let mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    let plain_value: Vec<u8> =
        value.iter().copied().filter(|byte| !b"!|*,()&$#@\x20".contains(byte)).collect();
    session && mixed || looks_random(&plain_value)
}

/// Matches at the literal `://`: `scheme://user:password@host`, for databases, brokers, proxies and
/// repositories alike.
pub(super) fn find_url_password(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !at.checked_sub(1).is_some_and(|before| text[before].is_ascii_alphanumeric()) {
        return None;
    }
    let start = at + 3;
    let rest = &text[start..text.len().min(start + LONGEST_ADDRESS)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || byte.is_ascii_control() || b"/?#\"'`<>\\,|^".contains(byte)
    };
    let authority = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let user_info = &authority[..authority.iter().rposition(|&byte| byte == b'@')?];
    let host = &authority[user_info.len() + 1..];
    let Some(colon) = user_info.iter().position(|&byte| byte == b':') else {
        // `https://TOKEN@host/`. In the address of an error tracker such a token is public.
        let public = host.windows(6).any(|window| window == b"sentry");
        let token = looks_random(user_info) && !public && !word_form::is_placeholder(user_info);
        return token.then(|| start..start + user_info.len());
    };
    let (user, password) = (&user_info[..colon], &user_info[colon + 1..]);
    // `postgres:postgres@localhost`: well-known defaults of fresh installations.
    let local: [&[u8]; 5] = [b"localhost", b"127.0.0.1", b"db", b"[::1]", b"example."];
    let is_default =
        user.eq_ignore_ascii_case(password) && local.iter().any(|name| host.starts_with(name));
    let names = user.is_ascii() && !user.iter().any(|byte| b"<{[(".contains(byte));
    let code = password.starts_with(b"$") || password.iter().any(|byte| b"{}()<>[]".contains(byte));
    let numeric = password.iter().all(u8::is_ascii_digit) && password.len() < 6;
    let real = !host.is_empty()
        && !is_default
        && names
        && password.len() >= 2
        && !word_form::is_stand_in(password)
        && !code
        && !numeric
        && !word_form::is_placeholder(password)
        && !(password.starts_with(b"%") && password.len() < 4);
    real.then(|| start + colon + 1..start + user_info.len())
}
