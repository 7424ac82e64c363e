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
mod postings;
mod rank;
mod stop_words;
mod synonyms;
mod terms;
mod tokenizer;

use rusqlite::Connection;

use postings::SearchEffort;

use super::note::{NoteKind, NoteScope, NoteSource, NoteStatus, NoteTrust};
use crate::database::fault::from_sqlite;
use crate::error::Result;

pub(in crate::memory) use index::{WORDS, merge_segments};
pub use index::{index_note, unindex_note};
pub(in crate::memory) use tokenizer::WordSort;

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
            && NoteSource::parse(source).is_ok_and(|source| source.trust() >= self.trust)
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

/// Returns the notes that answer a query, best first.
pub fn find_notes(connection: &Connection, query: &SearchQuery<'_>) -> Result<Vec<SearchHit>> {
    let mut hits = find::ranked_hits(connection, query, SearchEffort::ASKED)?;
    hits.truncate(query.limit);
    Ok(hits)
}

/// Minimum fit of a note that is delivered unasked.
pub const FITS: f32 = 0.5;

/// Returns the notes that fit the subject of a prompt, best first, if any do. They may go into a
/// context that did not ask for them.
pub fn find_fitting_notes(
    connection: &Connection,
    query: &SearchQuery<'_>,
) -> Result<Vec<SearchHit>> {
    let mut hits = find::ranked_hits(connection, query, SearchEffort::UNASKED)?;
    hits.retain(|hit| hit.fit >= FITS);
    hits.truncate(query.limit);
    Ok(hits)
}

/// A word as search knows it, for comparing texts.
#[derive(Debug)]
pub(in crate::memory) struct SearchWord {
    /// Folded text.
    pub(in crate::memory) exact: String,
    /// Stem, if it has one.
    pub(in crate::memory) stem: Option<String>,
    pub(in crate::memory) sort: WordSort,
    /// True for a stop word.
    pub(in crate::memory) is_small: bool,
}

/// Returns the words of a text, in order.
pub(in crate::memory) fn split_words(text: &str) -> Vec<SearchWord> {
    let forms = forms::WordStemmer::default();
    let mut words = Vec::new();
    tokenizer::tokenize(text, |word, sort| {
        let stem = forms.stem(word, sort).map(std::borrow::Cow::into_owned);
        words.push(SearchWord {
            exact: word.to_owned(),
            stem,
            sort,
            is_small: stop_words::is_stop_word(word),
        });
    });
    words
}

/// Opens an empty memory that lives as long as its connection, for measuring search alone.
pub fn open_in_memory() -> Result<Connection> {
    let create = || {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(super::schema::TABLES)?;
        connection.execute_batch(WORDS)?;
        Ok(connection)
    };
    create().map_err(|error| from_sqlite(error, "could not make a memory"))
}
