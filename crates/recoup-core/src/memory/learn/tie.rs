//! Links citations by agents and repetitions by the user to the rules that were meant.

use rusqlite::params;

use super::citation::is_cited;
use crate::base::digest::Digest;
use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::givings;
use crate::memory::inject::one_line;
use crate::memory::rows::{self, Kept};
use crate::memory::search::{self, Query};
use crate::memory::transcript::bounded;
use crate::memory::turn::{About, Happened, Turn};
use crate::memory::{Note, Wanted};

/// Maximum number of notes that are searched for the one that was meant.
const LOOKED_AT: usize = 16;

impl Turn<'_> {
    /// Records that the user says something is still not right. Returns the delivered rule that
    /// this repeats, if any: it has failed.
    pub fn reasked(&self, prompt: &str) -> Result<Option<Note>> {
        self.happened(Happened::Reasked, About::default())?;
        let id = self.now.as_millis().to_string();
        let Some(kept) = self.given_that_fits(prompt)? else { return Ok(None) };
        self.testify_once(&kept, "repeated", &id)?;
        Ok(Some(kept.note))
    }

    /// Records that the user repeated a rule that this context had received.
    pub fn repeated(&self, note: &Note) -> Result<bool> {
        let Some(kept) = rows::by_id(self.connection, &note.id)? else { return Ok(false) };
        if !self.given()?.contains(&note.id) {
            return Ok(false);
        }
        self.testify_once(&kept, "repeated", &self.now.as_millis().to_string())
    }

    /// Records the rules that an answer cites, each once for one answer. Returns how many were
    /// known.
    pub fn cited(&self, answer: &str, rules: &[String]) -> Result<usize> {
        if rules.is_empty() {
            return Ok(0);
        }
        // A transcript has the answer trimmed, and its middle cut out if it is long.
        let id = Digest::of(bounded(answer.trim()).as_bytes()).to_string();
        let mut known = 0;
        for kept in self.holding_here()? {
            if rules.iter().any(|rule| is_cited(rule, &one_line(&kept.note.text)))
                && self.testify_once(&kept, "cited", &id)?
            {
                self.count(&kept)?;
                known += 1;
            }
        }
        Ok(known)
    }

    /// Returns a note that this context has received and that a prompt is about.
    fn given_that_fits(&self, prompt: &str) -> Result<Option<Kept>> {
        let given = self.given()?;
        if given.is_empty() {
            return Ok(None);
        }
        let scopes = Wanted::active_in(&self.occasion.scope).scopes;
        let query = Query { scopes: &scopes, limit: LOOKED_AT, ..Query::new(prompt) };
        for hit in search::fitting(self.connection, &query)? {
            let kept = rows::one(self.connection, "row = ?1", [hit.row])?;
            if let Some(kept) = kept.filter(|kept| given.contains(&kept.note.id)) {
                return Ok(Some(kept));
            }
        }
        Ok(None)
    }

    /// Returns the notes that this session's contexts have received.
    fn holding_here(&self) -> Result<Vec<Kept>> {
        let contexts = [&*self.occasion.context, &*self.occasion.session];
        let mut holding = Vec::new();
        for id in givings::ever_to(self.connection, &contexts)? {
            holding.extend(rows::by_id(self.connection, &id)?);
        }
        Ok(holding)
    }

    fn testify_once(&self, kept: &Kept, what: &str, detail: &str) -> Result<bool> {
        const SQL: &str = "INSERT OR IGNORE INTO evidence (note, at, session, what, detail)
                           VALUES (?1, ?2, ?3, ?4, ?5)";
        let (now, session) = (self.now.as_millis(), &self.occasion.session);
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut insert| insert.execute(params![kept.row, now, session, what, detail]))
            .map(|rows| rows > 0)
            .map_err(tying)
    }

    /// Counts a use as evidence; a used note is not idle.
    fn count(&self, kept: &Kept) -> Result<()> {
        self.connection
            .prepare_cached("UPDATE notes SET evidence = evidence + 1, idle = 0 WHERE row = ?1")
            .and_then(|mut update| update.execute([kept.row]))
            .map(drop)
            .map_err(tying)
    }
}

fn tying(error: rusqlite::Error) -> Error {
    fault::explain(error, "noting which rule was meant")
}
