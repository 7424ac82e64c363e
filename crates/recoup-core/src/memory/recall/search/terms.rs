//! Terms of a query: its words, the compounds that they may form, and their synonyms: short and long
//! names, two spellings, verbs that no stemmer brings together. Only queries are expanded by these.

use crate::memory::lang::dictionary;
use crate::memory::lang::forms::{HEAD, STEM, SearchWord, head, is_request_word, split_words};
use crate::memory::lang::lexicon;
use crate::memory::lang::tokenizer::{WordSort, is_unspaced};

/// Maximum number of words of a query.
const MOST: usize = 40;
/// Maximum words of a query whose neighbours are tried as one identifier; longer ones are prose.
const MOST_JOINED: usize = 10;

/// A word of a query.
#[derive(Debug)]
pub(super) struct QueryTerm {
    /// Word as it was typed, folded.
    pub(super) exact: String,
    /// Stem with its prefix, as the index has it.
    pub(super) stem: Option<String>,
    /// Beginning with its prefix.
    pub(super) head: Option<String>,
    /// Synonyms.
    pub(super) synonyms: Vec<&'static str>,
    /// Position among the query's words.
    pub(super) at: usize,
    /// True if it is only a beginning: one character of a script that is indexed in pairs.
    pub(super) open: bool,
    /// True for a stop word, which only decides between notes that others found.
    pub(super) stop: bool,
    sort: WordSort,
}

/// Several words that may be one identifier.
#[derive(Debug)]
pub(super) struct CompoundTerm {
    pub(super) exact: String,
    /// Synonyms.
    pub(super) synonyms: Vec<&'static str>,
    /// Positions of its words in the query.
    pub(super) places: std::ops::Range<usize>,
}

/// Terms of a query.
#[derive(Debug, Default)]
pub(super) struct QueryTerms {
    pub(super) words: Vec<QueryTerm>,
    pub(super) joins: Vec<CompoundTerm>,
}

/// All words of a query, in order, before some are selected.
#[derive(Default)]
struct QueryWords {
    words: Vec<SearchWord>,
    joins: Vec<CompoundTerm>,
}

impl QueryTerms {
    /// Parses a query. The most specific words are kept: identifiers and numbers first, then long
    /// words. Stop words count in short queries: `make test`.
    pub(super) fn of(text: &str) -> Self {
        let said = QueryWords::of(text);
        let only_stops = said.words.iter().all(is_stop_term);
        let brief = said.words.len() <= MOST_JOINED;
        let mut terms = Self::default();
        let mut seen = std::collections::HashSet::<_, foldhash::fast::RandomState>::default();
        for (at, word) in said.words.into_iter().enumerate() {
            let stop = !only_stops && is_stop_term(&word);
            let SearchWord { exact, stem, sort, .. } = word;
            let stem = stem.map(|stem| format!("{STEM}{stem}"));
            let fresh = seen.insert(stem.clone().unwrap_or_else(|| exact.clone()));
            if fresh && (brief || !stop) {
                let head = head(&exact, sort).filter(|_| !stop).map(|head| format!("{HEAD}{head}"));
                let synonyms = synonyms(stem.as_deref().unwrap_or(&exact)).collect();
                let open = sort == WordSort::Tail;
                terms.words.push(QueryTerm { exact, stem, head, synonyms, at, open, stop, sort });
            }
        }
        if terms.words.len() > MOST {
            terms.words.sort_by_key(|term| {
                let sort = match term.sort {
                    WordSort::Part | WordSort::Whole => 100,
                    WordSort::Number => 50,
                    WordSort::Plain | WordSort::Pair | WordSort::Tail => 0,
                };
                std::cmp::Reverse(sort + term.exact.len())
            });
            terms.words.truncate(MOST);
            terms.words.sort_by_key(|term| term.at);
        }
        terms.joins = said.joins;
        terms.joins.truncate(MOST);
        terms
    }
}

impl QueryTerm {
    /// True if it can be part of a name: no request word and no number.
    pub(super) fn can_be_name(&self) -> bool {
        matches!(self.sort, WordSort::Plain | WordSort::Part)
            && !self.stop
            && !is_request_word(&self.exact)
    }

    /// True if it is a word that may be a mistyped other one.
    pub(super) fn can_be_mistyped(&self) -> bool {
        matches!(self.sort, WordSort::Plain | WordSort::Part) && self.exact.len() >= 4
    }

    /// Returns the form with the most rows, its beginning aside.
    pub(super) fn widest_form(&self) -> &str {
        self.stem.as_deref().unwrap_or(&self.exact)
    }
}

fn is_stop_term(word: &SearchWord) -> bool {
    word.is_small && matches!(word.sort, WordSort::Plain | WordSort::Part)
}

impl QueryWords {
    fn of(text: &str) -> Self {
        let mut said = Self::default();
        let mut parts = 0;
        let mut pairs = 0;
        for word in split_words(text) {
            let sort = word.sort;
            match sort {
                // All the parts; else the name without its number (`python3`).
                WordSort::Whole if parts > 1 => {
                    let end = said.words.len();
                    said.push_join(end - parts.min(end)..end);
                }
                WordSort::Tail if pairs > 0 => {}
                _ => said.words.push(word),
            }
            parts = if sort == WordSort::Part { parts + 1 } else { 0 };
            pairs = if sort == WordSort::Pair { pairs + 1 } else { 0 };
        }
        let count = said.words.len();
        // Longer words of scripts without spaces, which the index has in pairs.
        for run in text.split(|c| !is_unspaced(c)).filter(|run| !run.is_empty()) {
            let words = dictionary::words_in_run(run).into_iter();
            let longer = words.filter(|word| word.chars().count() > 2);
            said.words.extend(longer.map(|word| SearchWord::new(word, WordSort::Whole)));
        }
        if count <= MOST_JOINED {
            (1..count).for_each(|start| said.push_join(start - 1..start + 1));
            if (3..=5).contains(&count) {
                said.push_join(0..count);
            }
        }
        said
    }

    fn push_join(&mut self, places: std::ops::Range<usize>) {
        let words = &self.words[places.clone()];
        if words.iter().all(|it| matches!(it.sort, WordSort::Plain | WordSort::Part)) {
            let exact: String = words.iter().map(|it| &*it.exact).collect();
            if self.joins.iter().all(|join| join.exact != exact) {
                let synonyms = synonyms(&exact).collect();
                self.joins.push(CompoundTerm { exact, synonyms, places });
            }
        }
    }
}

/// Returns the synonyms of a form, as the index has them.
fn synonyms(form: &str) -> impl Iterator<Item = &'static str> {
    let groups = lexicon::SYNONYMS.split('\n').map(|group| group.split(' '));
    groups
        .filter(move |group| group.clone().any(|it| it == form))
        .flat_map(move |group| group.filter(move |other| *other != form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_each_other() {
        assert_eq!(synonyms("db").collect::<Vec<_>>(), ["~databas"]);
        assert_eq!(synonyms("~databas").collect::<Vec<_>>(), ["db"]);
        assert_eq!(synonyms("~zebra").count(), 0);
    }

    #[test]
    fn a_mark_stands_before_every_stem() {
        for form in lexicon::SYNONYMS.split_whitespace() {
            let word = form.trim_start_matches('~');
            let has_stem = word.len() > 2 && word.chars().all(char::is_alphabetic);
            assert!(!form.starts_with('~') || has_stem, "{form}");
        }
    }
}
