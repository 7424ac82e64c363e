//! `identifiers_only`: places and nothing else, unique and sorted by path and then by number, so
//! that line 9 is before line 10.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::document::InputDocument;
use super::output::CondensedResult;
use super::tokens::Tokenizer;

/// `finish` adds the fields common to all strategies, which count towards `max_tokens`.
pub(super) fn condense(
    document: &InputDocument<'_>,
    max_tokens: Option<usize>,
    finish: impl Fn(CondensedResult) -> CondensedResult,
) -> CondensedResult {
    let all = sorted_unique(document.identifiers());
    let made = |kept: usize| {
        let mut condensed = CondensedResult::default();
        condensed.set("identifiers", &all[..kept]);
        for (name, value) in document.search_fields() {
            condensed.set(name, &value);
        }
        if kept < all.len() {
            condensed.set("truncated", &(all.len() - kept));
        }
        finish(condensed)
    };
    match max_tokens {
        Some(most) => made(max_fitting(all.len(), most, made)),
        None => made(all.len()),
    }
}

/// How many of `all` can be kept within `most` tokens.
fn max_fitting(all: usize, most: usize, made: impl Fn(usize) -> CondensedResult) -> usize {
    let tokenizer = Tokenizer::load();
    let fits = |kept| tokenizer.count(&made(kept).to_json()) <= most;
    if fits(all) {
        return all;
    }
    // An identifier has at least one token, so this many are too many.
    let (mut fitting, mut too_many) = (0, all.min(most + 1));
    while too_many - fitting > 1 {
        let middle = usize::midpoint(fitting, too_many);
        if fits(middle) { fitting = middle } else { too_many = middle }
    }
    fitting
}

fn sorted_unique(all: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    let mut split: Vec<_> = all.into_iter().map(|text| (path_length(&text), text)).collect();
    split.sort_unstable_by(compare);
    split.dedup_by(|one, other| one.1 == other.1);
    split.into_iter().map(|(_, text)| text).collect()
}

fn compare(
    (end, text): &(usize, Cow<'_, str>),
    (other_end, other): &(usize, Cow<'_, str>),
) -> Ordering {
    let numbers = numbers(&text[*end..]).cmp(numbers(&other[*other_end..]));
    text[..*end].cmp(&other[..*other_end]).then(numbers).then_with(|| text.cmp(other))
}

/// True if the text contains a line number.
pub(super) fn has_line(text: &str) -> bool {
    path_length(text) < text.len()
}

/// Length of the path in `path`, `path:line`, `path:line-line` or `path:line:column`.
fn path_length(text: &str) -> usize {
    let without_number = |text: &str| match text.rsplit_once(':') {
        Some((path, digits)) if !path.is_empty() && digits.split('-').all(is_number) => path.len(),
        _ => text.len(),
    };
    without_number(&text[..without_number(text)])
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `:12:3` or `:12-14` as numbers of any length: the longer is the larger.
fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split([':', '-']).skip(1).map(|digits| {
        let digits = digits.trim_start_matches('0');
        (digits.len(), digits)
    })
}
