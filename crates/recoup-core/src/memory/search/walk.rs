//! Who has the words of a query: rows, and the weight of what each is known to
//! have. Lists are walked newest first and never far: rare words to the end, common
//! ones as far as a budget goes.

use std::collections::HashMap;

use rusqlite::Connection;

use super::index::{self, Asked};
use super::rank::{HEAD_WORTH, KIN_WORTH, STEM_WORTH, Weights};
use super::stop::is_faint;
use super::terms::{Join, Term, Terms};
use crate::error::Result;

/// How many rows of every word are walked.
const PROBE: usize = 128;
/// How many more of a common one, and of all of them together.
const WALK: usize = 1_000;
const BUDGET: usize = 2_000;
/// In a small memory a word is judged as if there were as many notes.
const FEWEST: f32 = 256.0;
/// How much a word that requests are made of says, against others as rare.
const FAINT: f32 = 0.5;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// What is known of rows.
pub(super) struct Walk<'a> {
    connection: &'a Connection,
    scopes: &'a [String],
    newest: i64,
    /// The weight of the words that a row has.
    rows: Map<i64, f32>,
    /// Words that were not walked to the end.
    common: Vec<Common<'a>>,
}

struct Common<'a> {
    form: &'a str,
    open: bool,
    weight: f32,
    /// The oldest row that was seen.
    seen: i64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(connection: &'a Connection, scopes: &'a [String]) -> Result<Self> {
        let newest = index::notes(connection)?;
        let (rows, common) = (Map::default(), Vec::new());
        Ok(Self { connection, scopes, newest, rows, common })
    }

    /// Walks all that a query asks for; says how much each part of it says.
    pub(super) fn all(&mut self, terms: &'a Terms) -> Result<Weights> {
        let words = terms.words.iter().map(|term| self.word(term)).collect::<Result<_>>()?;
        let joins = terms.joins.iter().map(|join| self.join(join)).collect::<Result<_>>()?;
        self.common.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.form.cmp(b.form)));
        self.where_common_words_meet()?;
        self.walk_on()?;
        Ok(Weights { words, joins })
    }

    /// Notes who has a word, or another form of it; says how much the word says.
    fn word(&mut self, term: &'a Term) -> Result<f32> {
        if term.stop {
            return Ok(0.0);
        }
        let asked = Asked { forms: &[term.widest()], open: term.open, ..Asked::default() };
        let list = index::rows(self.connection, &asked, PROBE)?;
        let rare = list.len() < PROBE;
        let having = if rare { count(&list) } else { self.estimate(&asked, &list)? };
        let weight = self.weight(having) * if is_faint(&term.exact) { FAINT } else { 1.0 };
        self.add(&list, weight * STEM_WORTH);
        if rare {
            if let Some(head) = &term.head {
                self.other(head, weight * HEAD_WORTH)?;
            }
        } else {
            let (form, open, seen) = (term.widest(), term.open, list[PROBE - 1]);
            self.common.push(Common { form, open, weight: weight * STEM_WORTH, seen });
            // Its other forms must not hide the word itself.
            if term.stem.is_some() {
                self.other(&term.exact, weight * (1.0 - STEM_WORTH))?;
            }
        }
        for kin in &term.kin {
            self.other(kin, weight * KIN_WORTH)?;
        }
        Ok(weight)
    }

    fn join(&mut self, join: &Join) -> Result<f32> {
        let asked = Asked { forms: &[&join.exact], ..Asked::default() };
        let list = index::rows(self.connection, &asked, PROBE)?;
        let weight = self.weight(count(&list));
        self.add(&list, weight);
        for kin in &join.kin {
            self.other(kin, weight * KIN_WORTH)?;
        }
        Ok(weight)
    }

    fn other(&mut self, form: &str, weight: f32) -> Result<()> {
        let asked = Asked { forms: &[form], ..Asked::default() };
        let list = index::rows(self.connection, &asked, PROBE * 2)?;
        self.add(&list, weight);
        Ok(())
    }

    fn add(&mut self, rows: &[i64], weight: f32) {
        for row in rows {
            *self.rows.entry(*row).or_default() += weight;
        }
    }

    /// How many notes have a word whose list goes on: from how far its newest and its oldest
    /// rows reach, since either end alone may be all about one thing.
    fn estimate(&self, asked: &Asked<'_>, newest: &[i64]) -> Result<f32> {
        let oldest = index::oldest(self.connection, asked, PROBE)?;
        let reach = newest.last().map_or(1, |last| self.newest - last + 1);
        let other = oldest.last().copied().unwrap_or(1);
        let dense = (count(newest) / number(reach)) * (count(&oldest) / number(other));
        Ok((dense.sqrt() * number(self.newest)).max(count(newest)))
    }

    /// How much a word says: 1 if nobody has it, towards 0 the more notes do.
    fn weight(&self, having: f32) -> f32 {
        let notes = number(self.newest).max(having).max(FEWEST);
        let idf = |having: f32| (1.0 + (notes - having + 0.5) / (having + 0.5)).ln();
        idf(having) / idf(0.0)
    }

    /// Where the two that say most of the common words meet, however old the note.
    fn where_common_words_meet(&mut self) -> Result<()> {
        let [first, second, ..] = &self.common[..] else { return Ok(()) };
        let (both, weight) = ([first.form, second.form], first.weight + second.weight);
        let asked = Asked { forms: &both, scopes: self.scopes, ..Asked::default() };
        for row in index::rows(self.connection, &asked, PROBE * 2)? {
            let known = self.rows.entry(row).or_default();
            *known = known.max(weight);
        }
        Ok(())
    }

    /// Walks common words further, those that say most first; only where it was asked.
    fn walk_on(&mut self) -> Result<()> {
        let mut budget = BUDGET;
        for n in 0..self.common.len() {
            let Common { form, open, weight, seen } = self.common[n];
            let forms = [form];
            let asked = Asked { forms: &forms, open, below: Some(seen), scopes: self.scopes };
            let list = index::rows(self.connection, &asked, budget.min(WALK))?;
            self.add(&list, weight);
            self.common[n].seen = match list.last() {
                Some(oldest) if list.len() == budget.min(WALK) => *oldest,
                _ => 0,
            };
            budget -= list.len();
            if budget == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The most promising rows, best first. One that is older than where the walk of a common word
    /// ended may have that word, and is taken to have it.
    pub(super) fn promising(&self, most: usize) -> Vec<i64> {
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
