//! From a query to notes: who has its words, who of them may be returned, and
//! in which order.

use std::cmp::Reverse;
use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _};

use super::index::{self, Asked};
use super::rank::{HEAD_WORTH, KIN_WORTH, Ranker, STEM_WORTH, Weights};
use super::stop::is_faint;
use super::terms::{Join, Term, Terms};
use super::{Hit, Query};
use crate::database::fault::explain;
use crate::error::Result;

/// How many rows of a word are walked: of a common word the newest.
const WALK: usize = 1_000;
/// How many notes are ranked by what they say.
const RANKED: usize = 96;
/// How many are looked at to find those.
/// In a small memory a word is judged as if there were as many notes.
const FEWEST: f32 = 256.0;
/// How much a word that requests are made of says, against others as rare.
const FAINT: f32 = 0.5;
const LOOKED_AT: usize = 1_000;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// All notes that were ranked for a query, best first.
pub(super) fn ranked(connection: &Connection, query: &Query<'_>) -> Result<Vec<Hit>> {
    let terms = Terms::of(query.text);
    if terms.words.is_empty() || query.limit == 0 {
        return Ok(Vec::new());
    }
    let mut search = Search::new(connection, query)?;
    let words = terms.words.iter().map(|term| search.term(term)).collect::<Result<_>>()?;
    let joins = terms.joins.iter().map(|join| search.join(join)).collect::<Result<_>>()?;
    search.meetings_of_common_words()?;
    let weights = Weights { words, joins };
    let ranker = Ranker::new(&terms, &weights);
    let mut hits = search.ranked(&ranker)?;
    hits.sort_unstable_by_key(|(hit, tie)| (Reverse(in_steps(hit.score)), Reverse(*tie)));
    Ok(hits.into_iter().map(|(hit, _)| hit).collect())
}

/// What decides between notes that answer equally well: evidence, then recency, then the row.
type Tie = (i64, i64, i64);

/// Scores that differ by less are a tie.
#[expect(clippy::cast_possible_truncation, reason = "a score is at most 1")]
fn in_steps(score: f32) -> i32 {
    (score * 1_000.0).round() as i32
}

struct Search<'a> {
    connection: &'a Connection,
    query: &'a Query<'a>,
    scopes: Vec<String>,
    notes: f32,
    newest: i64,
    /// What is known of each row: the weight of its words.
    rows: Map<i64, f32>,
    /// Words too common to be walked to the end: up to which row they were, and their weight.
    common: Vec<(i64, f32, String)>,
}

impl<'a> Search<'a> {
    #[expect(clippy::cast_precision_loss, reason = "a count of notes")]
    fn new(connection: &'a Connection, query: &'a Query<'a>) -> Result<Self> {
        let newest = index::notes(connection)?;
        let scopes = query.scopes.iter().map(ToString::to_string).collect();
        let (rows, common) = (Map::default(), Vec::new());
        Ok(Self { connection, query, scopes, notes: newest as f32, newest, rows, common })
    }

    /// Notes who has a word in any of its forms; says how much the word says.
    fn term(&mut self, term: &Term) -> Result<f32> {
        let widest = term.widest();
        let asked = Asked { forms: &[widest], open: term.open, ..Asked::default() };
        let list = index::rows(self.connection, &asked, WALK)?;
        let weight = self.weight(&list) * if is_faint(&term.exact) { FAINT } else { 1.0 };
        self.add(&list, weight * STEM_WORTH);
        if list.len() == WALK {
            self.common.push((list[WALK - 1], weight * STEM_WORTH, widest.to_owned()));
            if !self.scopes.is_empty() {
                let asked = Asked { scopes: &self.scopes, ..asked };
                let ours = index::rows(self.connection, &asked, WALK)?;
                let beyond = ours.partition_point(|row| *row >= list[WALK - 1]);
                self.add(&ours[beyond..], weight * STEM_WORTH);
            }
        }
        if list.len() > RANKED && term.stem.is_some() {
            let asked = Asked { forms: &[&term.exact], ..Asked::default() };
            let exact = index::rows(self.connection, &asked, WALK)?;
            self.add(&exact, weight * (1.0 - STEM_WORTH));
        }
        if list.len() < RANKED
            && let Some(head) = &term.head
        {
            let asked = Asked { forms: &[head], ..Asked::default() };
            let others = index::rows(self.connection, &asked, RANKED)?;
            self.add(&others, weight * HEAD_WORTH);
        }
        self.kin(&term.kin, weight)?;
        Ok(weight)
    }

    fn kin(&mut self, kin: &[&str], weight: f32) -> Result<()> {
        for other in kin {
            let asked = Asked { forms: &[other], ..Asked::default() };
            let others = index::rows(self.connection, &asked, RANKED * 4)?;
            self.add(&others, weight * KIN_WORTH);
        }
        Ok(())
    }

    fn join(&mut self, join: &Join) -> Result<f32> {
        let asked = Asked { forms: &[&join.exact], ..Asked::default() };
        let list = index::rows(self.connection, &asked, RANKED)?;
        let weight = self.weight(&list);
        self.add(&list, weight);
        self.kin(&join.kin, weight)?;
        Ok(weight)
    }

    fn add(&mut self, rows: &[i64], weight: f32) {
        for row in rows {
            *self.rows.entry(*row).or_default() += weight;
        }
    }

    /// How much a word says: 1 if nobody has it, towards 0 the more notes do. A list that
    /// was cut short tells by how far it reached.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn weight(&self, list: &[i64]) -> f32 {
        let mut having = list.len() as f32;
        if list.len() >= WALK
            && let Some(last) = list.last()
        {
            having *= self.notes / (self.newest - last + 1) as f32;
        }
        let notes = self.notes.max(having).max(FEWEST);
        let idf = |having: f32| (1.0 + (notes - having + 0.5) / (having + 0.5)).ln();
        idf(having) / idf(0.0)
    }

    /// Where common words meet, however old the note.
    fn meetings_of_common_words(&mut self) -> Result<()> {
        self.common.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.2.cmp(&b.2)));
        let [(_, first, a), (_, second, b), ..] = &self.common[..] else { return Ok(()) };
        let (both, weight) = ([&**a, &**b], first + second);
        let asked = Asked { forms: &both, scopes: &self.scopes, open: false };
        for row in index::rows(self.connection, &asked, WALK)? {
            let known = self.rows.entry(row).or_default();
            *known = known.max(weight);
        }
        Ok(())
    }

    /// The most promising rows. A row that is older than where the walk of a common word
    /// ended may have that word, and is taken to have it.
    fn promising(&self) -> Vec<(f32, i64)> {
        let might = |row: i64| {
            let unseen = self.common.iter().filter(|(last, ..)| row < *last);
            unseen.map(|(_, weight, _)| weight).sum::<f32>()
        };
        let mut all: Vec<(f32, i64)> =
            self.rows.iter().map(|(row, weight)| (weight + might(*row), *row)).collect();
        let order = |a: &(f32, i64), b: &(f32, i64)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
        if all.len() > LOOKED_AT {
            all.select_nth_unstable_by(LOOKED_AT, order);
            all.truncate(LOOKED_AT);
        }
        all.sort_unstable_by(order);
        all
    }

    fn ranked(&self, ranker: &Ranker<'_>) -> Result<Vec<(Hit, Tie)>> {
        let mut hits = Vec::with_capacity(RANKED);
        for (_, row) in self.promising() {
            let Some(tie) = self.admit(row)? else { continue };
            let Some(stored) = index::forms(self.connection, row)? else { continue };
            let answer = ranker.answer(&stored);
            if answer.score > 0.0 {
                hits.push((Hit { row, score: answer.score, fit: answer.fit }, tie));
            }
            if hits.len() == RANKED {
                break;
            }
        }
        Ok(hits)
    }

    /// Whether a note may be returned, and what decides if it is equal to another.
    fn admit(&self, row: i64) -> Result<Option<Tie>> {
        let read = |found: &rusqlite::Row<'_>| {
            let text = |n| found.get_ref(n)?.as_str().map_err(rusqlite::Error::from);
            let admitted = self.query.admits(text(0)?, text(1)?, text(2)?, text(3)?, &self.scopes);
            let tie = (found.get(4)?, found.get(5)?, row);
            Ok(admitted.then_some(tie))
        };
        self.connection
            .prepare_cached(
                "SELECT status, scope, source, kind, evidence, updated FROM notes WHERE row = ?1",
            )
            .and_then(|mut statement| statement.query_row([row], read).optional())
            .map(Option::flatten)
            .map_err(|error| explain(error, "could not read a memory"))
    }
}
