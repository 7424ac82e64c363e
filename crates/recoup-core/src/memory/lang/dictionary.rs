//! Developers' words across languages: `dictionary.toml`, compiled by `build.rs` into groups of words
//! that mean the same.

#[allow(clippy::unreadable_literal, reason = "generated")]
mod table {
    include!(concat!(env!("OUT_DIR"), "/dictionary.rs"));
}

use table::{GROUP_STARTS, GROUPS, STARTS, WORDS};

/// Most characters of a word in a script that puts no spaces between words.
const MOST_CHARS: usize = 6;

/// Returns the words that mean the same as a folded word, in all languages. Words with several
/// meanings are left out: `client` is French for a customer.
pub(crate) fn translations(word: &str) -> impl Iterator<Item = &'static str> {
    let has_one_meaning = |word: &&str| groups_of(word).is_some_and(|it| !it.contains(','));
    same_meaning(word).filter(has_one_meaning)
}

/// Returns the English word for a folded word of any language: the first of its group.
pub(crate) fn english_word(word: &str) -> Option<&'static str> {
    same_meaning(word).next()
}

fn same_meaning(word: &str) -> impl Iterator<Item = &'static str> {
    let groups = groups_of(word).unwrap_or_default().split(',').filter_map(|it| it.parse().ok());
    let group = |at: usize| &GROUPS[GROUP_STARTS[at] as usize..GROUP_STARTS[at + 1] as usize];
    groups.flat_map(move |at: usize| group(at).trim_end().split(' '))
}

/// Returns the words of the dictionary that stand in a run of a script without spaces.
pub(crate) fn words_in_run(run: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let ends = rest.char_indices().skip(1).map(|(at, _)| at).chain([rest.len()]);
        let longest = ends.take(MOST_CHARS).filter(|end| groups_of(&rest[..*end]).is_some()).last();
        words.extend(longest.map(|end| &rest[..end]));
        rest = &rest[longest.unwrap_or(first.len_utf8())..];
    }
    words
}

/// Returns the numbers of the groups of a word, with commas between them.
fn groups_of(word: &str) -> Option<&'static str> {
    let entry = |at: usize| {
        let (start, end) = (STARTS[at] as usize, STARTS[at + 1] as usize);
        WORDS[start..end].split_once('\t').unwrap_or_default()
    };
    let (mut low, mut high) = (0, STARTS.len() - 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        let (found, groups) = entry(middle);
        match found.cmp(word) {
            std::cmp::Ordering::Equal => return Some(groups),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::lang::fold::fold_char;

    #[test]
    fn a_word_leads_to_its_group_in_every_language() {
        let deploy: Vec<&str> = translations("развернуть").collect();
        assert!(deploy.contains(&"deploy") && deploy.contains(&"部署"), "{deploy:?}");
        assert_eq!(english_word("zeitzone"), Some("timezone"));
        assert_eq!(english_word("zebra"), None);
        assert_eq!(words_in_run("请部署数据库"), ["部署", "数据库"]);
    }

    #[test]
    fn every_word_is_folded() {
        for word in GROUPS.split_whitespace() {
            let mut folded = String::new();
            word.chars().for_each(|c| fold_char(c, |c| folded.push(c)));
            assert_eq!(word, folded);
        }
    }
}
