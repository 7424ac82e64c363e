//! Who has the words of a query: rows, and the weight of what each is known to
//! have. Lists are walked newest first and never far: rare words to the end, common
//! ones as far as a budget goes.

use std::collections::HashMap;

use rusqlite::Connection;

use super::index::{self, Asked, SCOPE};
use super::rank::{HEAD_WORTH, KIN_WORTH, STEM_WORTH, Weights};
use super::stop::is_faint;
use super::terms::{Join, Term, Terms};
use crate::error::Result;

/// Where almost every note is of the scopes that are asked for, which these are is not looked up.
const MOST_NOTES: f32 = 0.5;
/// In a small memory a word is judged as if there were as many notes.
const FEWEST: f32 = 256.0;
/// How much a word that requests are made of says, against others as rare.
const FAINT: f32 = 0.5;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// How far it is looked for words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// How many rows of every word are walked: one that has more is common.
    probe: usize,
    /// How many of another form of a word.
    other: usize,
    /// How many more rows of a common word are walked, and of all of them together.
    each: usize,
    all: usize,
    /// A word that has so many times as many rows is not walked further: that would not come far.
    far: f32,
    /// How many are gone through to find some that have several things: all that have one of
    /// them, whether many have the others or none.
    steps: f32,
    /// How many notes are ranked by what they say.
    pub(super) ranked: usize,
}

impl Effort {
    /// For somebody who asked.
    pub(super) const ASKED: Self = Self {
        probe: 128,
        other: 256,
        each: 1_000,
        all: 2_000,
        far: f32::INFINITY,
        steps: 20_000.0,
        ranked: 64,
    };
    /// Where nobody did, and a client waits.
    pub(super) const UNASKED: Self =
        Self { probe: 48, other: 48, each: 100, all: 200, far: 8.0, steps: 500.0, ranked: 32 };
}

/// What is known of rows.
pub(super) struct Walk<'a> {
    connection: &'a Connection,
    scopes: Scopes<'a>,
    effort: Effort,
    newest: i64,
    /// The weight of the words that a row has.
    rows: Map<i64, f32>,
    /// Words that were not walked to the end.
    common: Vec<Common<'a>>,
}

/// Where it was asked.
struct Scopes<'a> {
    /// None where it makes no difference.
    names: &'a [String],
    /// How many of all notes are there, 0 to 1.
    dense: f32,
}

struct Common<'a> {
    form: &'a str,
    open: bool,
    weight: f32,
    /// How many of all notes have it, 0 to 1.
    dense: f32,
    /// The oldest row that was seen.
    seen: i64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        scopes: &'a [String],
        effort: Effort,
    ) -> Result<Self> {
        let newest = index::notes(connection)?;
        let scopes = Scopes { names: scopes, dense: 0.0 };
        let (rows, common) = (Map::default(), Vec::new());
        Ok(Self { connection, scopes, effort, newest, rows, common })
    }

    /// Walks all that a query asks for; says how much each part of it says.
    pub(super) fn all(&mut self, terms: &'a Terms) -> Result<Weights> {
        let words = terms.words.iter().map(|term| self.word(term)).collect::<Result<_>>()?;
        let joins = terms.joins.iter().map(|join| self.join(join)).collect::<Result<_>>()?;
        self.common.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.form.cmp(b.form)));
        if !self.common.is_empty() {
            self.look_at_scopes()?;
        }
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
        let list = index::rows(self.connection, &asked, self.effort.probe)?;
        let rare = list.len() < self.effort.probe;
        let having = if rare { count(&list) } else { self.estimate(&asked, &list)? };
        let weight = self.weight(having) * if is_faint(&term.exact) { FAINT } else { 1.0 };
        self.add(&list, weight * STEM_WORTH);
        if rare {
            if let Some(head) = &term.head {
                self.other(head, weight * HEAD_WORTH)?;
            }
        } else {
            let (form, open, seen) = (term.widest(), term.open, list[self.effort.probe - 1]);
            let dense = having / number(self.newest).max(having);
            self.common.push(Common { form, open, weight: weight * STEM_WORTH, dense, seen });
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
        let list = index::rows(self.connection, &asked, self.effort.probe)?;
        let weight = self.weight(count(&list));
        self.add(&list, weight);
        for kin in &join.kin {
            self.other(kin, weight * KIN_WORTH)?;
        }
        Ok(weight)
    }

    fn other(&mut self, form: &str, weight: f32) -> Result<()> {
        let asked = Asked { forms: &[form], ..Asked::default() };
        let list = index::rows(self.connection, &asked, self.effort.other)?;
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
        let oldest = index::oldest(self.connection, asked, self.effort.probe)?;
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

    /// Whether it makes a difference where it was asked.
    fn look_at_scopes(&mut self) -> Result<()> {
        let mut dense = 0.0;
        for scope in self.scopes.names {
            let form = format!("{SCOPE}{scope}");
            let asked = Asked { forms: &[&form], ..Asked::default() };
            let list = index::rows(self.connection, &asked, self.effort.probe)?;
            let reach = list.last().map_or(1, |last| self.newest - last + 1);
            let all = list.len() < self.effort.probe;
            let notes = if all { number(self.newest) } else { number(reach) };
            dense += count(&list) / notes.max(1.0);
        }
        self.scopes.dense = dense.min(1.0);
        if self.scopes.dense > MOST_NOTES {
            self.scopes = Scopes { names: &[], dense: 0.0 };
        }
        Ok(())
    }

    /// How far down lists that have so many of all notes are walked from `below`.
    fn down_from(&self, below: i64, dense: f32) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
        let reach = (self.effort.steps / dense.max(f32::EPSILON)) as i64;
        below.saturating_sub(reach).max(0)
    }

    /// Where the two that say most of the common words meet, even if the note is old.
    fn where_common_words_meet(&mut self) -> Result<()> {
        let [first, second, ..] = &self.common[..] else { return Ok(()) };
        let (both, weight) = ([first.form, second.form], first.weight + second.weight);
        let above = self.down_from(self.newest, first.dense + second.dense + self.scopes.dense);
        let scopes = self.scopes.names;
        let asked = Asked { forms: &both, scopes, above, ..Asked::default() };
        for row in index::rows(self.connection, &asked, self.effort.other)? {
            let known = self.rows.entry(row).or_default();
            *known = known.max(weight);
        }
        Ok(())
    }

    /// Walks common words further, those that say most first; only where it was asked.
    fn walk_on(&mut self) -> Result<()> {
        let mut budget = self.effort.all;
        for n in 0..self.common.len() {
            let Common { form, open, weight, dense, seen } = self.common[n];
            #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
            let near = (self.effort.probe + self.effort.each) as f32 * self.effort.far;
            if dense * number(self.newest) > near {
                continue;
            }
            let forms = [form];
            let above = self.down_from(seen, dense + self.scopes.dense);
            let scopes = self.scopes.names;
            let asked = Asked { forms: &forms, open, below: Some(seen), above, scopes };
            let most = budget.min(self.effort.each);
            let list = index::rows(self.connection, &asked, most)?;
            self.add(&list, weight);
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
