//! Full-text search of notes: split for code, stemmed, ranked.
//!
//! Writers of a note call [`index_note`] in the same transaction, after its row is in `notes`, and
//! again when its text, topic or scope changes; on deletion they call [`unindex_note`]. A
//! [`SearchHit`] has two figures: `score` orders the answers to one query, `fit` tells whether a
//! note is about the same thing at all, and compares with `FITS` whatever the query.

mod origins;
mod postings;
mod rank;
mod related;
mod second_list;
mod terms;

use std::cmp::Reverse;

use postings::{PostingWalk, SearchEffort};
use rank::{NoteRanker, NoteScore};
use rusqlite::{Connection, OptionalExtension as _, Row};
use terms::QueryTerms;

use crate::error::Result;
use crate::memory::db::sql::SqlContext as _;
use crate::memory::db::store::Memory;
use crate::memory::db::{index, note_rows};
use crate::memory::model::note::{Note, NoteKind, NoteScope, NoteSource, NoteStatus, NoteTrust};

pub use crate::memory::db::index::{index_note, unindex_note};

const READING_NOTE: &str = "cannot read a memory";

/// Search query, with its filters.
#[derive(Debug, Clone)]
pub struct SearchQuery<'a> {
    /// Text that the user typed: words, a sentence, a whole prompt. Nothing in it is syntax.
    pub text: &'a str,
    /// Scopes to search; all if empty.
    pub scopes: &'a [NoteScope],
    /// Statuses to include; superseded and retired notes are found only if named.
    pub statuses: &'a [NoteStatus],
    /// Kinds to include; all if empty.
    pub kinds: &'a [NoteKind],
    /// Minimum trust.
    pub trust: NoteTrust,
    /// Maximum number of hits.
    pub limit: usize,
}

impl<'a> SearchQuery<'a> {
    /// Creates a query for ten active notes of any kind, in all scopes.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            scopes: &[],
            statuses: &[NoteStatus::Active],
            kinds: &[],
            trust: NoteTrust::Untrusted,
            limit: 10,
        }
    }
}

/// A note that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchHit {
    /// Row in `notes`.
    pub row: i64,
    /// Quality as an answer, 0 to 1.
    pub score: f32,
    /// Confidence that it is about the same thing at all, 0 to 1.
    pub fit: f32,
}

impl Memory {
    /// Notes that match a query, the best first, each with its score.
    pub fn search(&self, query: &SearchQuery<'_>) -> Result<Vec<(Note, f32)>> {
        let found = self.notes_of_hits(|connection| find_notes(connection, query))?;
        Ok(found.into_iter().map(|(note, hit)| (note, hit.score)).collect())
    }

    /// Notes that a search finds, in its order.
    pub(super) fn notes_of_hits(
        &self,
        search: impl Fn(&Connection) -> Result<Vec<SearchHit>>,
    ) -> Result<Vec<(Note, SearchHit)>> {
        self.read(|connection| {
            let note = |hit: SearchHit| {
                let mut found = note_rows::find_notes(connection, "row = ?1", [hit.row])?;
                Ok(found.pop().map(|note| (note, hit)))
            };
            search(connection)?.into_iter().filter_map(|hit| note(hit).transpose()).collect()
        })
    }
}

/// Returns the notes that answer a query, best first.
pub fn find_notes(connection: &Connection, query: &SearchQuery<'_>) -> Result<Vec<SearchHit>> {
    let mut hits = find_by_words(connection, query)?;
    if hits.first().is_none_or(|hit| hit.fit < FITS) {
        second_list::add_similar_notes(connection, query, &mut hits)?;
    }
    hits.truncate(query.limit);
    Ok(hits)
}

/// Returns the notes that have words of a query, best first. Hooks do not look any further.
pub(crate) fn find_by_words(
    connection: &Connection,
    query: &SearchQuery<'_>,
) -> Result<Vec<SearchHit>> {
    let mut hits = ranked_hits(connection, query, SearchEffort::ASKED)?;
    hits.retain(|hit| hit.fit >= FLOOR);
    hits.truncate(query.limit);
    Ok(hits)
}

/// Minimum fit of a note that answers a query.
const FLOOR: f32 = 0.1;

/// Minimum fit of a note that is delivered unasked.
const FITS: f32 = 0.5;

/// Returns the notes that fit the subject of a prompt, best first, if any do. They may go into a
/// context that did not ask for them.
pub fn find_fitting_notes(
    connection: &Connection,
    query: &SearchQuery<'_>,
) -> Result<Vec<SearchHit>> {
    let mut hits = ranked_hits(connection, query, SearchEffort::UNASKED)?;
    hits.retain(|hit| hit.fit >= FITS);
    hits.truncate(query.limit);
    Ok(hits)
}

/// Opens an empty memory that lives as long as its connection, for measuring search alone.
pub fn open_in_memory() -> Result<Connection> {
    let create = || {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(crate::memory::db::schema::TABLES)?;
        connection.execute_batch(crate::memory::db::schema::CHECKS)?;
        connection.execute_batch(index::WORDS)?;
        Ok(connection)
    };
    create().doing("cannot create an in-memory database")
}

/// Maximum number of notes that are read to find those that are ranked.
const LOOKED_AT: usize = 1_000;

/// Returns all notes that were ranked for a query, best first. Everything is read from one state of
/// the file, which also spares a lock for each row.
fn ranked_hits(
    connection: &Connection,
    query: &SearchQuery<'_>,
    effort: SearchEffort,
) -> Result<Vec<SearchHit>> {
    let terms = QueryTerms::of(query.text);
    if terms.words.is_empty() || query.limit == 0 {
        return Ok(Vec::new());
    }
    let begun = connection.is_autocommit().then(|| connection.unchecked_transaction());
    let _one_state = begun.transpose().doing("cannot search the memories")?;
    let scopes: Vec<String> = query.scopes.iter().map(ToString::to_string).collect();
    let mut walk = PostingWalk::new(connection, &scopes, effort)?;
    let weights = walk.read_all(&terms)?;
    let ranker = NoteRanker::new(&terms, &weights);
    let mut found = Vec::with_capacity(effort.ranked);
    let sql = "SELECT status, scope, source, kind, evidence, updated, words_content.c0
               FROM notes JOIN words_content ON words_content.id = notes.row
               WHERE notes.row = ?1";
    let mut statement = connection.prepare_cached(sql).doing(READING_NOTE)?;
    for number in walk.best_rows(LOOKED_AT) {
        // No copies of their text.
        let score = |row: &Row<'_>| {
            let text = |n| row.get_ref(n)?.as_str().map_err(rusqlite::Error::from);
            if !is_admitted(query, &scopes, [text(0)?, text(1)?, text(2)?, text(3)?]) {
                return Ok(None);
            }
            let tie = (row.get(4)?, row.get(5)?, number);
            Ok(Some(RankedNote { row: number, answer: ranker.score_note(text(6)?), tie }))
        };
        let scored = statement.query_row([number], score).optional().doing(READING_NOTE)?;
        found.extend(scored.flatten().filter(|it| it.answer.score > 0.0));
        if found.len() == effort.ranked {
            break;
        }
    }
    // Smaller differences are a tie.
    #[expect(clippy::cast_possible_truncation, reason = "a score is at most 1")]
    let rounded = |score: f32| (score * 1_000.0).round() as i32;
    let order = |it: &RankedNote| (Reverse(rounded(it.answer.score)), Reverse(it.tie));
    found.sort_unstable_by_key(order);
    if effort.is_asked && terms.words.len() > 1 {
        origins::rank_together(connection, &ranker, &mut found)?;
        found.sort_unstable_by_key(order);
    }
    let hit =
        |RankedNote { row, answer, .. }| SearchHit { row, score: answer.score, fit: answer.fit };
    Ok(found.into_iter().map(hit).collect())
}

/// A note that a query admits.
struct RankedNote {
    row: i64,
    answer: NoteScore,
    /// Decides between equal scores: evidence, then recency, then the row.
    tie: (i64, i64, i64),
}

/// True if a query admits a note with this status, scope, source and kind.
fn is_admitted(query: &SearchQuery<'_>, scopes: &[String], note: [&str; 4]) -> bool {
    let [status, scope, source, kind] = note;
    query.statuses.iter().any(|it| it.as_str() == status)
        && (scopes.is_empty() || scopes.iter().any(|it| it == scope))
        && (query.kinds.is_empty() || query.kinds.iter().any(|it| it.as_str() == kind))
        && NoteSource::parse(source).is_ok_and(|source| source.trust() >= query.trust)
}
