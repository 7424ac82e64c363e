//! Terms of a query: its words, and the compounds that they may form.

use super::forms::{Forms, HEAD, STEM, head};
use super::kin::kin;
use super::split::{Sort, split};
use super::stop::{is_faint, is_stop};

/// Maximum number of words of a query.
const MOST: usize = 40;
/// Maximum words of a query whose neighbours are tried as one identifier; longer ones are prose.
const MOST_JOINED: usize = 10;

/// A word of a query.
#[derive(Debug)]
pub(super) struct Term {
    /// Word as it was typed, folded.
    pub(super) exact: String,
    /// Stem with its prefix, as the index has it.
    pub(super) stem: Option<String>,
    /// Beginning with its prefix.
    pub(super) head: Option<String>,
    /// Synonyms.
    pub(super) kin: Vec<&'static str>,
    /// Position among the query's words.
    pub(super) at: usize,
    /// True if it is only a beginning: one character of a script that is indexed in pairs.
    pub(super) open: bool,
    /// True for a stop word, which only decides between notes that others found.
    pub(super) stop: bool,
    sort: Sort,
}

/// Several words that may be one identifier.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) exact: String,
    /// Synonyms.
    pub(super) kin: Vec<&'static str>,
    /// Positions of its words in the query.
    pub(super) places: std::ops::Range<usize>,
}

/// Terms of a query.
#[derive(Debug, Default)]
pub(super) struct Terms {
    pub(super) words: Vec<Term>,
    pub(super) joins: Vec<Join>,
}

/// All words of a query, in order, before some are selected.
#[derive(Default)]
struct Said {
    words: Vec<(String, Sort)>,
    joins: Vec<Join>,
}

impl Terms {
    /// Parses a query. The most specific words are kept: identifiers and numbers first, then long
    /// words. Stop words count in short queries: `make test`.
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

    /// True if it can be part of a name: no request word and no number.
    pub(super) fn names(&self) -> bool {
        matches!(self.sort, Sort::Plain | Sort::Part) && !self.stop && !is_faint(&self.exact)
    }

    /// Returns the form with the most rows, its beginning aside.
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

    /// Joins the last `count` words to one identifier.
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
