//! What a query asks for: its words, and what they would be as one identifier.

use super::forms::{Forms, HEAD, STEM, head};
use super::kin::kin;
use super::split::{Sort, split};
use super::stop::{is_faint, is_stop};

/// How many words of a query are looked for.
const MOST: usize = 40;
/// A query of more words is prose: its neighbours are not tried as one identifier.
const MOST_JOINED: usize = 10;

/// A word that is looked for.
#[derive(Debug)]
pub(super) struct Term {
    /// As it was typed, folded.
    pub(super) exact: String,
    /// Marked, as the index has it.
    pub(super) stem: Option<String>,
    /// Marked likewise.
    pub(super) head: Option<String>,
    /// Other words for the same.
    pub(super) kin: Vec<&'static str>,
    /// Its place among the query's words.
    pub(super) at: usize,
    /// Only the beginning of something: one character of a script that is written in pairs.
    pub(super) open: bool,
    /// Every sentence has it: it decides between notes that others found.
    pub(super) stop: bool,
    sort: Sort,
}

/// Several words that may be one identifier.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) exact: String,
    /// Other names for the same.
    pub(super) kin: Vec<&'static str>,
    /// The places of its words in the query.
    pub(super) places: std::ops::Range<usize>,
}

/// A query, taken apart.
#[derive(Debug, Default)]
pub(super) struct Terms {
    pub(super) words: Vec<Term>,
    pub(super) joins: Vec<Join>,
}

/// Every word of a query, in order, before it is decided which of them count.
#[derive(Default)]
struct Said {
    words: Vec<(String, Sort)>,
    joins: Vec<Join>,
}

impl Terms {
    /// Takes a query apart. The words that say most are kept: identifiers and numbers first,
    /// then long words. What every sentence has counts in short queries: `make test`.
    pub(super) fn of(text: &str) -> Self {
        let said = Said::of(text);
        let forms = Forms::default();
        let only_stops = said.words.iter().all(|(word, sort)| says_nothing(word, *sort));
        let brief = said.words.len() <= MOST_JOINED;
        let mut terms = Self::default();
        let mut seen = std::collections::HashSet::<_, foldhash::fast::RandomState>::default();
        for (at, (word, sort)) in said.words.iter().enumerate() {
            let (sort, stop) = (*sort, !only_stops && says_nothing(word, *sort));
            let stem = forms.stem(word, sort).map(|stem| format!("{STEM}{stem}"));
            let fresh = seen.insert(stem.clone().unwrap_or_else(|| word.clone()));
            if fresh && (brief || !stop) {
                let head = head(word, sort).filter(|_| !stop).map(|head| format!("{HEAD}{head}"));
                let kin = kin(stem.as_deref().unwrap_or(word)).collect();
                let open = sort == Sort::Tail;
                terms.words.push(Term {
                    exact: word.clone(),
                    stem,
                    head,
                    kin,
                    at,
                    open,
                    stop,
                    sort,
                });
            }
        }
        terms.keep_the_most_telling();
        terms.joins = said.joins;
        terms.joins.truncate(MOST);
        terms
    }

    fn keep_the_most_telling(&mut self) {
        if self.words.len() > MOST {
            self.words.sort_by_key(|term| std::cmp::Reverse(term.telling()));
            self.words.truncate(MOST);
            self.words.sort_by_key(|term| term.at);
        }
    }
}

impl Term {
    fn telling(&self) -> usize {
        let sort = match self.sort {
            Sort::Part | Sort::Whole => 100,
            Sort::Number => 50,
            Sort::Plain | Sort::Pair | Sort::Tail => 0,
        };
        sort + self.exact.len()
    }

    /// True if it can be part of a name: not what requests are made of, nor a number.
    pub(super) fn names(&self) -> bool {
        matches!(self.sort, Sort::Plain | Sort::Part) && !self.stop && !is_faint(&self.exact)
    }

    /// The widest list of rows that have it in some form but its beginning.
    pub(super) fn widest(&self) -> &str {
        self.stem.as_deref().unwrap_or(&self.exact)
    }
}

fn says_nothing(word: &str, sort: Sort) -> bool {
    match sort {
        Sort::Plain | Sort::Part => is_stop(word),
        _ => false,
    }
}

impl Said {
    fn of(text: &str) -> Self {
        let mut said = Self::default();
        let mut parts = 0;
        let mut pairs = 0;
        split(text, |word, sort| {
            match sort {
                // All the parts; else the name without its number (`python3`).
                Sort::Whole if parts > 1 => said.join(parts),
                Sort::Tail if pairs > 0 => {}
                _ => said.words.push((word.to_owned(), sort)),
            }
            parts = if sort == Sort::Part { parts + 1 } else { 0 };
            pairs = if sort == Sort::Pair { pairs + 1 } else { 0 };
        });
        said.join_neighbours();
        said
    }

    /// The last `count` words are one identifier.
    fn join(&mut self, count: usize) {
        let end = self.words.len();
        self.push_join(end - count.min(end)..end);
    }

    fn join_neighbours(&mut self) {
        let count = self.words.len();
        if count > MOST_JOINED {
            return;
        }
        for start in 1..count {
            self.push_join(start - 1..start + 1);
        }
        if (3..=5).contains(&count) {
            self.push_join(0..count);
        }
    }

    fn push_join(&mut self, places: std::ops::Range<usize>) {
        let joinable = |(_, sort): &(String, Sort)| matches!(sort, Sort::Plain | Sort::Part);
        if self.words[places.clone()].iter().all(joinable) {
            let exact: String =
                self.words[places.clone()].iter().map(|(word, _)| &**word).collect();
            if self.joins.iter().all(|join| join.exact != exact) {
                let kin = kin(&exact).collect();
                self.joins.push(Join { exact, kin, places });
            }
        }
    }
}
