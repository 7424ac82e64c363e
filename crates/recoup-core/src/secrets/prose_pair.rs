//! A user and a password that are told together: "log in with admin / sesame", "creds: ada:sesame1".

use std::ops::Range;

use super::prose::is_literal_value;
use super::prose_word::{line_after, line_before, words_of};
use super::prose_words::{self as list, list_contains};
use super::word_form::{self, PasswordLikeness};

/// Matches at the literals that announce a login: `creds: ada:sesame1`.
pub(super) fn find_announced(text: &[u8], at: usize) -> Option<Range<usize>> {
    let line = line_after(text, at);
    let word =
        words_of(text, line).into_iter().find(|word| !text[word.raw.clone()].ends_with(b":"))?;
    let value = word.value(text);
    let sign = text[value.clone()]
        .iter()
        .position(|byte| b":/".contains(byte))
        .filter(|&sign| sign > 0)?;
    let password = value.start + sign + 1..value.end;
    let chosen = word_form::rate_password(&text[password.clone()]) > PasswordLikeness::No;
    (chosen && is_literal_value(&text[password.clone()])).then_some(password)
}

/// Matches at the literal ` / `, and at `admin/` and the like: a user and a password.
pub(super) fn find_pair(text: &[u8], at: usize) -> Option<Range<usize>> {
    let slash = at + text[at..].iter().take(12).position(|&byte| byte == b'/')?;
    let apart = text.get(slash + 1) == Some(&b' ');
    let before = words_of(text, line_before(text, slash));
    let behind = words_of(text, line_after(text, slash + 1));
    let (user, word) = (before.last()?, behind.first()?);
    let value = word.value(text);
    let password = &text[value.clone()];
    let name = user.value_bytes(text);
    if name.is_empty()
        || !is_literal_value(password)
        || list_contains(list::KINDS, name)
        || list_contains(list::KINDS, password)
    {
        return None;
    }
    let logs =
        before.iter().rev().take(6).any(|word| list_contains(list::LOGIN, word.value_bytes(text)));
    let with = before.iter().rev().take(3).any(|word| {
        let plain = word.value_bytes(text);
        list_contains(list::WITH, plain)
            || list_contains(list::IS, plain)
            || text[word.raw.clone()].ends_with(b":")
    });
    let known = list_contains(list::USERS, name);
    let chosen = word_form::rate_password(password);
    let plain = password.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_!".contains(byte));
    let mail = name.contains(&b'@');
    let user_like = name
        .iter()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(byte));
    let told = if apart {
        chosen == PasswordLikeness::Clearly
            && (logs || known || mail || user_like && has_mixed_characters(password))
            || logs
                && (with || known)
                && (plain || chosen > PasswordLikeness::No)
                && !list_contains(list::STATES, password)
    } else {
        let joined = word.raw.start == slash + 1 && user.raw.end == slash;
        let twice = known && name.eq_ignore_ascii_case(password);
        joined
            && (twice
                || known
                    && logs
                    && with
                    && !password.contains(&b'/')
                    && (plain || chosen > PasswordLikeness::No))
    };
    told.then_some(value)
}

/// True for eight characters or more with a small letter, a digit, and a capital or a sign.
fn has_mixed_characters(word: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| word.iter().any(is);
    word.len() >= 8
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && (has(u8::is_ascii_uppercase) || word.iter().any(|byte| b"!#$&@%+".contains(byte)))
}
