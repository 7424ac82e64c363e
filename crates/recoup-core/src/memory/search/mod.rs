//! Finding notes by their words: split for code, stemmed, ranked.
//!
//! Whoever writes a note calls [`put`] in the same transaction, after its row is in `notes`, and again
//! when its text, topic or scope changes; whoever deletes one calls [`remove`]. A [`Hit`] has
//! two figures: `score` orders the answers to one query, `fit` says whether a note is
//! about the same thing at all, and can be held against [`FITS`] whatever the query.

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

/// What is looked for, and where.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// What the user typed: words, a sentence, a whole prompt. Nothing in it is syntax.
    pub text: &'a str,
    /// Where to look; everywhere where there are none.
    pub scopes: &'a [NoteScope],
    /// Which statuses count; what is superseded or retired is found only by name.
    pub statuses: &'a [Status],
    /// Which kinds; all where there are none.
    pub kinds: &'a [NoteKind],
    /// The least trust.
    pub trust: Trust,
    /// How many are wanted at most.
    pub limit: usize,
}

impl<'a> Query<'a> {
    /// Ten active notes of any kind, from everywhere.
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
    /// Its row in `notes`.
    pub row: i64,
    /// How good an answer it is, 0 to 1; best first.
    pub score: f32,
    /// How sure it is that it is about the same thing at all, 0 to 1.
    pub fit: f32,
}

/// The notes that answer a query, best first.
pub fn find(connection: &Connection, query: &Query<'_>) -> Result<Vec<Hit>> {
    let mut hits = find::ranked(connection, query, Effort::ASKED)?;
    hits.truncate(query.limit);
    Ok(hits)
}

/// A note whose fit is at least this much may be given unasked.
pub const FITS: f32 = 0.5;

/// The notes that fit what a prompt is about, best first: none where none does. This is what may
/// go into a context that did not ask for it.
pub fn fitting(connection: &Connection, query: &Query<'_>) -> Result<Vec<Hit>> {
    let mut hits = find::ranked(connection, query, Effort::UNASKED)?;
    hits.retain(|hit| hit.fit >= FITS);
    hits.truncate(query.limit);
    Ok(hits)
}

/// A word as search knows it, for those who compare what two texts say.
#[derive(Debug)]
pub(in crate::memory) struct Word {
    /// Folded.
    pub(in crate::memory) exact: String,
    /// Where it can have one.
    pub(in crate::memory) stem: Option<String>,
    pub(in crate::memory) sort: Sort,
    /// Whether every sentence has it.
    pub(in crate::memory) is_small: bool,
}

/// The words of a text, in order.
pub(in crate::memory) fn words(text: &str) -> Vec<Word> {
    let forms = forms::Forms::default();
    let mut words = Vec::new();
    split::split(text, |word, sort| {
        let stem = forms.stem(word, sort).map(std::borrow::Cow::into_owned);
        words.push(Word { exact: word.to_owned(), stem, sort, is_small: stop::is_stop(word) });
    });
    words
}

/// An empty memory that lives as long as its connection, for measuring search alone.
pub fn in_memory() -> Result<Connection> {
    let create = || {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(super::schema::TABLES)?;
        connection.execute_batch(WORDS)?;
        Ok(connection)
    };
    create().map_err(|error| explain(error, "could not make a memory"))
}
