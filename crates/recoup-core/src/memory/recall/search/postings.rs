//! Posting lists of a query's words: rows, and the weight of the words that each is known to have.
//! Lists are read newest first, and never far: rare words to the end, common ones within a budget.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::error::Result;
use crate::memory::db::index;
use crate::memory::db::index::{IndexQuery, SCOPE};
use crate::memory::lang::forms::is_request_word;
use crate::memory::recall::search::rank::{HEAD_WORTH, STEM_WORTH, SYNONYM_WORTH, TermWeights};
use crate::memory::recall::search::related;
use crate::memory::recall::search::terms::{QueryTerm, QueryTerms};

/// Share of notes in the queried scopes above which scopes are not looked up.
const MOST_NOTES: f32 = 0.5;
/// Minimum number of notes that is assumed when a word is weighed in a small memory.
const FEWEST: f32 = 256.0;
/// Weight of a request word, relative to others as rare.
const FAINT: f32 = 0.5;

type RowMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Limits on how far posting lists are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchEffort {
    /// Rows that are read of every word; a word with more is common.
    probe: usize,
    /// Rows that are read of another form of a word.
    other: usize,
    /// Further rows that are read of each common word, and of all of them together.
    each: usize,
    all: usize,
    /// Factor above which a common word is not read further, because that would not reach far.
    far: f32,
    /// Rows that are visited to find some with several words: all that have one of them, whether
    /// many have the others or none.
    steps: f32,
    /// Number of notes that are ranked by their text.
    pub(super) ranked: usize,
    /// True if somebody waits for an answer: then translations of known words and mistyped words
    /// are looked up, too.
    pub(super) is_asked: bool,
}

impl SearchEffort {
    /// Effort for a search that somebody asked for.
    pub(super) const ASKED: Self = Self {
        probe: 128,
        other: 256,
        each: 1_000,
        all: 2_000,
        far: f32::INFINITY,
        steps: 20_000.0,
        ranked: 64,
        is_asked: true,
    };
    /// Effort where nobody asked, and a client waits.
    pub(super) const UNASKED: Self = Self {
        probe: 48,
        other: 48,
        each: 100,
        all: 200,
        far: 8.0,
        steps: 500.0,
        ranked: 32,
        is_asked: false,
    };
}

/// Rows that were found so far.
pub(super) struct PostingWalk<'a> {
    connection: &'a Connection,
    scopes: QueryScopes<'a>,
    effort: SearchEffort,
    newest: i64,
    /// Weight of the words that a row has.
    rows: RowMap<i64, f32>,
    /// Words whose lists were not read to the end.
    common: Vec<CommonTerm<'a>>,
}

/// Scopes of a query.
struct QueryScopes<'a> {
    /// Names; empty if they make no difference.
    names: &'a [String],
    /// Share of all notes that are in them, 0 to 1.
    dense: f32,
}

struct CommonTerm<'a> {
    form: &'a str,
    open: bool,
    weight: f32,
    /// Share of all notes that have it, 0 to 1.
    dense: f32,
    /// Oldest row that was read.
    seen: i64,
}

impl<'a> PostingWalk<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        scopes: &'a [String],
        effort: SearchEffort,
    ) -> Result<Self> {
        let newest = index::count_notes(connection)?;
        let scopes = QueryScopes { names: scopes, dense: 0.0 };
        let (rows, common) = (RowMap::default(), Vec::new());
        Ok(Self { connection, scopes, effort, newest, rows, common })
    }

    /// Reads the lists of all terms, and returns their weights.
    pub(super) fn read_all(&mut self, terms: &'a QueryTerms) -> Result<TermWeights> {
        let mut related = Vec::with_capacity(terms.words.len());
        let mut words = Vec::with_capacity(terms.words.len());
        for term in &terms.words {
            let (weight, forms) = self.read_term(term)?;
            words.push(weight);
            related.push(forms);
        }
        let mut joins = Vec::with_capacity(terms.joins.len());
        for join in &terms.joins {
            let asked = IndexQuery { forms: &[&join.exact], ..IndexQuery::default() };
            let list = index::find_rows(self.connection, &asked, self.effort.probe)?;
            let weight = self.weight(count(&list));
            self.add_rows(&list, weight);
            for synonym in &join.synonyms {
                self.read_form(synonym, weight * SYNONYM_WORTH)?;
            }
            joins.push(weight);
        }
        self.common.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.form.cmp(b.form)));
        if !self.common.is_empty() {
            self.measure_scopes()?;
        }
        // Rows that have both of the two most telling common words, even old ones.
        if let [first, second, ..] = &self.common[..] {
            let (both, weight) = ([first.form, second.form], first.weight + second.weight);
            let dense = first.dense + second.dense + self.scopes.dense;
            let (above, scopes) = (self.lowest_row(self.newest, dense), self.scopes.names);
            let asked = IndexQuery { forms: &both, scopes, above, ..IndexQuery::default() };
            for row in index::find_rows(self.connection, &asked, self.effort.other)? {
                let known = self.rows.entry(row).or_default();
                *known = known.max(weight);
            }
        }
        self.read_common_terms()?;
        Ok(TermWeights { words, joins, related })
    }

    /// Reads the lists of a word and its other forms; returns its weight, and the forms of related
    /// words.
    fn read_term(&mut self, term: &'a QueryTerm) -> Result<(f32, Vec<String>)> {
        if term.stop {
            return Ok((0.0, Vec::new()));
        }
        let asked =
            IndexQuery { forms: &[term.widest_form()], open: term.open, ..IndexQuery::default() };
        let list = index::find_rows(self.connection, &asked, self.effort.probe)?;
        let rare = list.len() < self.effort.probe;
        let having = if rare {
            count(&list)
        } else {
            // Estimated from the reach of the newest and the oldest rows: either end alone may be
            // all about one thing.
            let asked = IndexQuery { oldest_first: true, ..asked };
            let oldest = index::find_rows(self.connection, &asked, self.effort.probe)?;
            let reach = list.last().map_or(1, |last| self.newest - last + 1);
            let other = oldest.last().copied().unwrap_or(1);
            let dense = (count(&list) / number(reach)) * (count(&oldest) / number(other));
            (dense.sqrt() * number(self.newest)).max(count(&list))
        };
        let weight = self.weight(having) * if is_request_word(&term.exact) { FAINT } else { 1.0 };
        self.add_rows(&list, weight * STEM_WORTH);
        if rare {
            if let Some(head) = &term.head {
                self.read_form(head, weight * HEAD_WORTH)?;
            }
        } else {
            let (form, open, seen) = (term.widest_form(), term.open, list[self.effort.probe - 1]);
            let dense = having / number(self.newest).max(having);
            self.common.push(CommonTerm { form, open, weight: weight * STEM_WORTH, dense, seen });
            // Other forms must not hide the word itself.
            if term.stem.is_some() {
                self.read_form(&term.exact, weight * (1.0 - STEM_WORTH))?;
            }
        }
        for synonym in &term.synonyms {
            self.read_form(synonym, weight * SYNONYM_WORTH)?;
        }
        let is_unknown = list.is_empty();
        let mut related = Vec::new();
        if is_unknown || self.effort.is_asked {
            related = related::translated_forms(&term.exact);
        }
        if is_unknown && related.is_empty() && self.effort.is_asked && term.can_be_mistyped() {
            related = related::similar_words(self.connection, &term.exact)?;
        }
        for form in &related {
            self.read_form(form, weight * SYNONYM_WORTH)?;
        }
        Ok((weight, related))
    }

    fn read_form(&mut self, form: &str, weight: f32) -> Result<()> {
        let asked = IndexQuery { forms: &[form], ..IndexQuery::default() };
        let list = index::find_rows(self.connection, &asked, self.effort.other)?;
        self.add_rows(&list, weight);
        Ok(())
    }

    fn add_rows(&mut self, rows: &[i64], weight: f32) {
        for row in rows {
            *self.rows.entry(*row).or_default() += weight;
        }
    }

    /// Returns the weight of a word: 1 if no note has it, towards 0 the more do.
    fn weight(&self, having: f32) -> f32 {
        let notes = number(self.newest).max(having).max(FEWEST);
        let idf = |having: f32| (1.0 + (notes - having + 0.5) / (having + 0.5)).ln();
        idf(having) / idf(0.0)
    }

    /// Measures the scopes, and drops them if they make no difference.
    fn measure_scopes(&mut self) -> Result<()> {
        let mut dense = 0.0;
        for scope in self.scopes.names {
            let form = format!("{SCOPE}{scope}");
            let asked = IndexQuery { forms: &[&form], ..IndexQuery::default() };
            let list = index::find_rows(self.connection, &asked, self.effort.probe)?;
            let reach = list.last().map_or(1, |last| self.newest - last + 1);
            let all = list.len() < self.effort.probe;
            let notes = if all { number(self.newest) } else { number(reach) };
            dense += count(&list) / notes.max(1.0);
        }
        self.scopes.dense = dense.min(1.0);
        if self.scopes.dense > MOST_NOTES {
            self.scopes = QueryScopes { names: &[], dense: 0.0 };
        }
        Ok(())
    }

    /// Returns the row down to which lists with that density are read from `below`.
    fn lowest_row(&self, below: i64, dense: f32) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
        let reach = (self.effort.steps / dense.max(f32::EPSILON)) as i64;
        below.saturating_sub(reach).max(0)
    }

    /// Reads on in the lists of common words, the most telling first, only in the queried scopes.
    fn read_common_terms(&mut self) -> Result<()> {
        let mut budget = self.effort.all;
        for n in 0..self.common.len() {
            let CommonTerm { form, open, weight, dense, seen } = self.common[n];
            #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
            let near = (self.effort.probe + self.effort.each) as f32 * self.effort.far;
            if dense * number(self.newest) > near {
                continue;
            }
            let forms = [form];
            let above = self.lowest_row(seen, dense + self.scopes.dense);
            let scopes = self.scopes.names;
            let below = Some(seen);
            let asked =
                IndexQuery { forms: &forms, open, below, above, scopes, oldest_first: false };
            let most = budget.min(self.effort.each);
            let list = index::find_rows(self.connection, &asked, most)?;
            self.add_rows(&list, weight);
            self.common[n].seen = match list.last() {
                Some(oldest) if list.len() == most => *oldest,
                _ => above,
            };
            budget -= list.len();
            if budget == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Returns the most promising rows, best first. A row that is older than the end of a partly
    /// read list may have that word, and is taken to have it.
    pub(super) fn best_rows(&self, most: usize) -> Vec<i64> {
        let might = |row: i64| {
            let unseen = self.common.iter().filter(|common| row < common.seen);
            unseen.map(|common| common.weight).sum::<f32>()
        };
        let all = self.rows.iter().map(|(row, weight)| (weight + might(*row), *row));
        let mut all: Vec<(f32, i64)> = all.collect();
        let order = |a: &(f32, i64), b: &(f32, i64)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
        if all.len() > most {
            all.select_nth_unstable_by(most, order);
            all.truncate(most);
        }
        all.sort_unstable_by(order);
        all.into_iter().map(|(_, row)| row).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of notes")]
fn number(count: i64) -> f32 {
    count as f32
}

#[expect(clippy::cast_precision_loss, reason = "a list is short")]
fn count(list: &[i64]) -> f32 {
    list.len() as f32
}
