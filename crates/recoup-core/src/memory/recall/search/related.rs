//! Words that are related to a word of a query which the index lacks: its translations, and words
//! that are spelt almost like it.

use rusqlite::Connection;

use crate::error::Result;
use crate::memory::db::index;
use crate::memory::lang::dictionary;
use crate::memory::lang::forms::{STEM, WordStemmer};
use crate::memory::lang::tokenizer::WordSort;

/// Most words that a mistyped word may stand for.
const MOST_SIMILAR: usize = 4;

/// Returns the translations of a word, as the index has them: the English word by its stem, others as
/// they are, because their English stem may be that of another word.
pub(super) fn translated_forms(word: &str) -> Vec<String> {
    let stemmer = WordStemmer::default();
    let english = dictionary::english_word(word);
    let others = dictionary::translations(word).filter(|other| *other != word);
    let mut forms: Vec<String> = others
        .map(|other| match stemmer.stem(other, WordSort::Plain) {
            Some(stem) if english == Some(other) => format!("{STEM}{stem}"),
            _ => other.to_owned(),
        })
        .collect();
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Returns words of the index with the same first letter that differ from `word` by one letter, or by
/// two if it is long.
pub(super) fn similar_words(connection: &Connection, word: &str) -> Result<Vec<String>> {
    let most = if word.chars().count() >= 8 { 2 } else { 1 };
    let Some(first) = word.chars().next() else { return Ok(Vec::new()) };
    let typed: Vec<char> = word.chars().collect();
    let mut similar = Vec::new();
    index::visit_words(connection, first, |found| {
        if found.chars().count().abs_diff(typed.len()) <= most {
            let distance = edit_distance(&typed, &found.chars().collect::<Vec<_>>());
            if distance <= most {
                similar.push((distance, found.to_owned()));
            }
        }
    })?;
    similar.sort_unstable();
    Ok(similar.into_iter().take(MOST_SIMILAR).map(|(_, word)| word).collect())
}

/// Number of letters that are missing, added, replaced or exchanged with their neighbour.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut before = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1; other.len() + 1];
        for (j, b) in other.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && one[i - 1] == *b && *a == other[j - 1] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanged_neighbours_are_one_mistake() {
        let distance = |one: &str, other: &str| {
            edit_distance(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>())
        };
        assert_eq!(distance("defualt", "default"), 1);
        assert_eq!(distance("chagelog", "changelog"), 1);
        assert_eq!(distance("exprots", "export"), 2);
        assert_eq!(distance("", "abc"), 3);
    }
}
