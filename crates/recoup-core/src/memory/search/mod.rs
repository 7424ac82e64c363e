//! Full-text search of notes: split for code, stemmed, ranked.
//!
//! Writers of a note call [`index_note`] in the same transaction, after its row is in `notes`, and
//! again when its text, topic or scope changes; on deletion they call [`unindex_note`]. A
//! [`SearchHit`] has two figures: `score` orders the answers to one query, `fit` tells whether a
//! note is about the same thing at all, and compares with [`FITS`] whatever the query.

mod find;
mod fold;
mod forms;
mod index;
mod kin;
mod rank;
mod split;
mod stop;
mod terms;
mod walk;

use rusqlite::Connection;

use walk::Effort;

use super::note::{NoteKind, NoteScope, Source, Status, Trust};
use crate::database::fault::explain;
use crate::error::Result;

pub(in crate::memory) use index::{WORDS, tidy};
pub use index::{put, remove};
pub(in crate::memory) use split::Sort;

/// Search query, with its filters.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// Text that the user typed: words, a sentence, a whole prompt. Nothing in it is syntax.
    pub text: &'a str,
    /// Scopes to search; all if empty.
    pub scopes: &'a [NoteScope],
    /// Statuses to include; superseded and retired notes are found only if named.
    pub statuses: &'a [Status],
    /// Kinds to include; all if empty.
    pub kinds: &'a [NoteKind],
    /// Minimum trust.
    pub trust: Trust,
    /// Maximum number of hits.
    pub limit: usize,
}

impl<'a> Query<'a> {
    /// Creates a query for ten active notes of any kind, in all scopes.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            scopes: &[],
            statuses: &[Status::Active],
            kinds: &[],
            trust: Trust::Untrusted,
            limit: 10,
        }
    }

    fn admits(
        &self,
        status: &str,
        scope: &str,
        source: &str,
        kind: &str,
        scopes: &[String],
    ) -> bool {
        self.statuses.iter().any(|it| it.as_str() == status)
            && (scopes.is_empty() || scopes.iter().any(|it| it == scope))
            && (self.kinds.is_empty() || self.kinds.iter().any(|it| it.as_str() == kind))
            && Source::parse(source).is_ok_and(|source| source.trust() >= self.trust)
    }
}

/// A note that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Row in `notes`.
    pub row: i64,
    /// Quality as an answer, 0 to 1.
    pub score: f32,
    /// Confidence that it is about the same thing at all, 0 to 1.
    pub fit: f32,
}

/// Returns the notes that answer a query, best first.
pub fn find(connection: &Connection, query: &Query<'_>) -> Result<Vec<Hit>> {
    let mut hits = find::ranked(connection, query, Effort::ASKED)?;
    hits.truncate(query.limit);
    Ok(hits)
}

/// Minimum fit of a note that is delivered unasked.
pub const FITS: f32 = 0.5;

/// Returns the notes that fit the subject of a prompt, best first, if any do. They may go into a
/// context that did not ask for them.
pub fn fitting(connection: &Connection, query: &Query<'_>) -> Result<Vec<Hit>> {
    let mut hits = find::ranked(connection, query, Effort::UNASKED)?;
    hits.retain(|hit| hit.fit >= FITS);
    hits.truncate(query.limit);
    Ok(hits)
}

/// A word as search knows it, for comparing texts.
#[derive(Debug)]
pub(in crate::memory) struct Word {
    /// Folded text.
    pub(in crate::memory) exact: String,
    /// Stem, if it has one.
    pub(in crate::memory) stem: Option<String>,
    pub(in crate::memory) sort: Sort,
    /// True for a stop word.
    pub(in crate::memory) is_small: bool,
}

/// Returns the words of a text, in order.
pub(in crate::memory) fn words(text: &str) -> Vec<Word> {
    let forms = forms::Forms::default();
    let mut words = Vec::new();
    split::split(text, |word, sort| {
        let stem = forms.stem(word, sort).map(std::borrow::Cow::into_owned);
        words.push(Word { exact: word.to_owned(), stem, sort, is_small: stop::is_stop(word) });
    });
    words
}

/// Opens an empty memory that lives as long as its connection, for measuring search alone.
pub fn in_memory() -> Result<Connection> {
    let create = || {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(super::schema::TABLES)?;
        connection.execute_batch(WORDS)?;
        Ok(connection)
    };
    create().map_err(|error| explain(error, "could not make a memory"))
}
