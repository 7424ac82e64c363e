//! Passwords in scripts without blanks (`密码是太阳花`), and the words of seed phrases.

use std::ops::Range;

use super::prose::is_literal_value;
use super::prose_word::{line_after, line_before, words_of};
use super::prose_words::{self as list, list_contains};
use super::word_form::{self, PasswordLikeness};

/// Matches at names in runs without blanks: `密码是太阳花`.
pub(super) fn find_in_run(text: &[u8], at: usize) -> Option<Range<usize>> {
    let name = list::RUN_NAMES.iter().find(|name| text[at..].starts_with(name.as_bytes()))?;
    let start = at + name.len();
    let line = line_after(text, start);
    let behind = str::from_utf8(&text[line.clone()]).ok()?;
    let (gap, is) = list::RUN_IS.iter().filter_map(|is| Some((behind.find(is)?, *is))).min()?;
    if behind[..gap].chars().count() > 6 {
        return None;
    }
    let from = gap + is.len();
    let rest = &behind[from..];
    let end = rest
        .find(['，', '。', '、', '！', '；', ',', ';', '！', '"', '<', '」'])
        .unwrap_or(rest.len());
    let value = rest[..end].trim_end().trim_end_matches("です").trim_end_matches('だ').trim();
    let start = line.start + from + rest.find(value)?;
    let token = ["密钥", "密鑰", "令牌", "トークン", "鍵", "キー"].contains(name);
    let bytes = value.as_bytes();
    let made = word_form::rate_password(bytes) == PasswordLikeness::Clearly
        || word_form::looks_random(bytes);
    let plain = (1..=16).contains(&value.chars().count())
        && !list::RUN_STATES.iter().any(|it| value.contains(it))
        && !value.contains(['/', '$', '{', '_', '\\', '*', '[']);
    let fits = made
        || plain && !token && !value.is_ascii()
        || word_form::rate_password(bytes) > PasswordLikeness::No && !token;
    (fits && is_literal_value(bytes)).then(|| start..start + value.len())
}

/// Matches at the names of seed phrases: twelve words or more in a row.
pub(super) fn find_seed(text: &[u8], at: usize) -> Option<Range<usize>> {
    let named = text[at] != b' '
        || words_of(text, line_before(text, at)).last().is_some_and(|word| {
            list_contains("seed recovery secret mnemonic backup wallet", word.value_bytes(text))
        });
    if !named {
        return None;
    }
    let rest = &text[at..text.len().min(at + 400)];
    let mut run: Option<(usize, usize, usize)> = None;
    let mut from = 0;
    for word in rest.split(u8::is_ascii_whitespace) {
        let range = (from, from + word.len());
        from += word.len() + 1;
        let plain = (3..=8).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
        run = match run {
            Some((start, _, count)) if plain => Some((start, range.1, count + 1)),
            Some((start, end, count)) if count >= 12 => return Some(at + start..at + end),
            // A phrase begins behind a sign, as no sentence does.
            _ => {
                let before = rest[..range.0].trim_ascii_end().last();
                let begins = before.is_some_and(|byte| b":=\"'`".contains(byte));
                (plain && begins).then_some((range.0, range.1, 1))
            }
        };
    }
    run.filter(|(_, _, count)| *count >= 12).map(|(start, end, _)| at + start..at + end)
}
