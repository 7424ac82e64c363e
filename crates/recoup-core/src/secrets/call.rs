//! Credentials among the arguments of calls that log in: `ftp.login("user", "…")`,
//! `DriverManager.getConnection(url, "user", "…")`, and data sources such as
//! `user:…@tcp(host:3306)/shop`.

use std::ops::Range;

use super::boundary;
use super::placeholder;
use super::slot;
use super::word_form::{self, PasswordLikeness};

/// Most bytes of the arguments that are examined.
const LONGEST: usize = 400;

/// Matches at the names of functions that take a user and a password, with their bracket.
pub(super) fn find_login(text: &[u8], at: usize) -> Option<Range<usize>> {
    let open = at + text[at..].iter().take(48).position(|&byte| byte == b'(')?;
    let strings = string_arguments(text, open + 1);
    let [_, others @ ..] = &strings[..] else { return None };
    others.iter().rev().take(2).find(|range| is_password(&text[(*range).clone()])).cloned()
}

/// The strings among the arguments, as long as these are strings, names or calls.
fn string_arguments(text: &[u8], start: usize) -> Vec<Range<usize>> {
    let end = text.len().min(start + LONGEST);
    let mut found = Vec::new();
    let (mut at, mut depth) = (start, 0);
    while at < end {
        match text[at] {
            quote @ (b'"' | b'\'') => {
                let Some(len) =
                    text[at + 1..end].iter().position(|&byte| byte == quote || byte == b'\n')
                else {
                    break;
                };
                found.push(at + 1..at + 1 + len);
                at += len + 1;
            }
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            b'{' | b'}' | b';' => break,
            _ => {}
        }
        at += 1;
    }
    found
}

fn is_password(value: &[u8]) -> bool {
    let grouped = value.len() == 19
        && value
            .split(|&byte| byte == b' ')
            .all(|group| group.len() == 4 && group.iter().all(u8::is_ascii_lowercase));
    let made = word_form::rate_password(value) == PasswordLikeness::Clearly
        || word_form::looks_random(value);
    (grouped || made) && slot::is_credential(value) && !placeholder::is_prose(value)
}

/// Matches at the literals `@tcp(` and `@unix(`.
pub(super) fn find_data_source(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before =
        text[..at].iter().rev().take(128).take_while(|byte| !b" \t\n\"'`=".contains(byte)).count();
    let pair = &text[at - before..at];
    let colon = pair.iter().position(|&byte| byte == b':')?;
    let value = at - before + colon + 1..at;
    slot::is_credential(&text[value.clone()]).then_some(value)
}

/// Matches at prefixes of tokens that only their prefix and length identify: letters, digits and
/// the signs of base64url.
pub(super) fn find_prefixed(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !boundary::is_word_start(text, at) {
        return None;
    }
    let len = boundary::count_run(text, at, 400, |byte| {
        boundary::is_base64url(byte) || b".$+/".contains(&byte)
    });
    let token = text[at..at + len].trim_ascii_end();
    let parts = || token.rsplit(|byte| b"_-.$/+".contains(byte));
    let digits = parts().flatten().filter(|byte| byte.is_ascii_digit()).count();
    let longest = parts().map(<[u8]>::len).max().unwrap_or(0);
    let real = token.len() >= 24 && digits >= 3 && longest >= 16;
    (real && !placeholder::lacks_variety(token)).then_some(at..at + len)
}
