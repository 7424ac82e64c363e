//! From a query to notes: of those who have its words, who may be returned, and
//! in which order.

use std::cmp::Reverse;

use rusqlite::{Connection, OptionalExtension as _};

use super::index;
use super::rank::Ranker;
use super::terms::Terms;
use super::walk::{Effort, Walk};
use super::{Hit, Query};
use crate::database::fault::explain;
use crate::error::Result;

/// How many notes are looked at to find those that are ranked.
const LOOKED_AT: usize = 1_000;

/// All notes that were ranked for a query, best first. Everything is read from one state of
/// the file, which also spares a lock for each row.
pub(super) fn ranked(
    connection: &Connection,
    query: &Query<'_>,
    effort: Effort,
) -> Result<Vec<Hit>> {
    if !connection.is_autocommit() {
        return search(connection, query, effort);
    }
    let transaction = connection
        .unchecked_transaction()
        .map_err(|error| explain(error, "could not search the memories"))?;
    search(&transaction, query, effort)
}

fn search(connection: &Connection, query: &Query<'_>, effort: Effort) -> Result<Vec<Hit>> {
    let terms = Terms::of(query.text);
    if terms.words.is_empty() || query.limit == 0 {
        return Ok(Vec::new());
    }
    let scopes: Vec<String> = query.scopes.iter().map(ToString::to_string).collect();
    let mut walk = Walk::new(connection, &scopes, effort)?;
    let weights = walk.all(&terms)?;
    let ranker = Ranker::new(&terms, &weights);
    let mut hits = Vec::with_capacity(effort.ranked);
    for row in walk.promising(LOOKED_AT) {
        let Some(tie) = admit(connection, query, &scopes, row)? else { continue };
        let Some(stored) = index::forms(connection, row)? else { continue };
        let answer = ranker.answer(&stored);
        if answer.score > 0.0 {
            hits.push((Hit { row, score: answer.score, fit: answer.fit }, tie));
        }
        if hits.len() == effort.ranked {
            break;
        }
    }
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

/// Whether a note may be returned, and what decides if it is equal to another.
fn admit(
    connection: &Connection,
    query: &Query<'_>,
    scopes: &[String],
    row: i64,
) -> Result<Option<Tie>> {
    let read = |found: &rusqlite::Row<'_>| {
        let text = |n| found.get_ref(n)?.as_str().map_err(rusqlite::Error::from);
        let admitted = query.admits(text(0)?, text(1)?, text(2)?, text(3)?, scopes);
        let tie = (found.get(4)?, found.get(5)?, row);
        Ok(admitted.then_some(tie))
    };
    connection
        .prepare_cached(
            "SELECT status, scope, source, kind, evidence, updated FROM notes WHERE row = ?1",
        )
        .and_then(|mut statement| statement.query_row([row], read).optional())
        .map(Option::flatten)
        .map_err(|error| explain(error, "could not read a memory"))
}
