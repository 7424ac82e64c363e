//! Search of notes: finds those that have the words of a query, filters and ranks them.

use std::cmp::Reverse;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row};

use super::postings::{PostingWalk, SearchEffort};
use super::rank::{NoteRanker, NoteScore};
use super::terms::QueryTerms;
use super::{SearchHit, SearchQuery};
use crate::database::fault::from_sqlite;
use crate::error::{Error, Result};

/// Maximum number of notes that are read to find those that are ranked.
const LOOKED_AT: usize = 1_000;

/// Returns all notes that were ranked for a query, best first. Everything is read from one state of
/// the file, which also spares a lock for each row.
pub(super) fn ranked_hits(
    connection: &Connection,
    query: &SearchQuery<'_>,
    effort: SearchEffort,
) -> Result<Vec<SearchHit>> {
    if !connection.is_autocommit() {
        return search_rows(connection, query, effort);
    }
    let transaction = connection
        .unchecked_transaction()
        .map_err(|error| from_sqlite(error, "could not search the memories"))?;
    search_rows(&transaction, query, effort)
}

fn search_rows(
    connection: &Connection,
    query: &SearchQuery<'_>,
    effort: SearchEffort,
) -> Result<Vec<SearchHit>> {
    let terms = QueryTerms::of(query.text);
    if terms.words.is_empty() || query.limit == 0 {
        return Ok(Vec::new());
    }
    let scopes: Vec<String> = query.scopes.iter().map(ToString::to_string).collect();
    let mut walk = PostingWalk::new(connection, &scopes, effort)?;
    let weights = walk.read_all(&terms)?;
    let ranker = NoteRanker::new(&terms, &weights);
    let mut hits = Vec::with_capacity(effort.ranked);
    let mut notes = NoteReader::of(connection, query, &scopes)?;
    for row in walk.best_rows(LOOKED_AT) {
        if let Some((answer, tie)) = notes.score_row(row, &ranker)?.filter(|it| it.0.score > 0.0) {
            hits.push((SearchHit { row, score: answer.score, fit: answer.fit }, tie));
        }
        if hits.len() == effort.ranked {
            break;
        }
    }
    hits.sort_unstable_by_key(|(hit, tie)| (Reverse(rounded_score(hit.score)), Reverse(*tie)));
    Ok(hits.into_iter().map(|(hit, _)| hit).collect())
}

/// Tie-break between notes with equal scores: evidence, then recency, then the row.
type TieBreak = (i64, i64, i64);

/// Rounds a score: smaller differences are a tie.
#[expect(clippy::cast_possible_truncation, reason = "a score is at most 1")]
fn rounded_score(score: f32) -> i32 {
    (score * 1_000.0).round() as i32
}

/// Reader of notes for a query: one statement for all rows, and no copies of their text.
struct NoteReader<'a> {
    statement: CachedStatement<'a>,
    query: &'a SearchQuery<'a>,
    scopes: &'a [String],
}

impl<'a> NoteReader<'a> {
    fn of(
        connection: &'a Connection,
        query: &'a SearchQuery<'a>,
        scopes: &'a [String],
    ) -> Result<Self> {
        let sql = "SELECT status, scope, source, kind, evidence, updated, words_content.c0
                   FROM notes JOIN words_content ON words_content.id = notes.row
                   WHERE notes.row = ?1";
        let statement = connection.prepare_cached(sql).map_err(reading_error)?;
        Ok(Self { statement, query, scopes })
    }

    /// Returns a note's score and its tie-break, or `None` if the query does not admit it.
    fn score_row(
        &mut self,
        row: i64,
        ranker: &NoteRanker<'_>,
    ) -> Result<Option<(NoteScore, TieBreak)>> {
        let (query, scopes) = (self.query, self.scopes);
        let read = |found: &Row<'_>| {
            let text = |n| found.get_ref(n)?.as_str().map_err(rusqlite::Error::from);
            if !query.admits(text(0)?, text(1)?, text(2)?, text(3)?, scopes) {
                return Ok(None);
            }
            let tie = (found.get(4)?, found.get(5)?, row);
            Ok(Some((ranker.score_note(text(6)?), tie)))
        };
        self.statement.query_row([row], read).optional().map(Option::flatten).map_err(reading_error)
    }
}

fn reading_error(error: rusqlite::Error) -> Error {
    from_sqlite(error, "could not read a memory")
}
