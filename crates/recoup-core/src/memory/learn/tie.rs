//! Which rule was meant: cited by an agent, or repeated by the user.

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

/// How many notes are looked at for the one that was meant.
const LOOKED_AT: usize = 16;

impl Turn<'_> {
    /// The user says that something is still not right. The rule that this repeats, where
    /// this context was given one, has failed: it is returned.
    pub fn reasked(&self, prompt: &str) -> Result<Option<Note>> {
        self.happened(Happened::Reasked, About::default())?;
        let id = self.now.as_millis().to_string();
        let Some(kept) = self.given_that_fits(prompt)? else { return Ok(None) };
        self.testify_once(&kept, "repeated", &id)?;
        Ok(Some(kept.note))
    }

    /// The user said a rule again that this context had been given.
    pub fn repeated(&self, note: &Note) -> Result<bool> {
        let Some(kept) = rows::by_id(self.connection, &note.id)? else { return Ok(false) };
        if !self.given()?.contains(&note.id) {
            return Ok(false);
        }
        self.testify_once(&kept, "repeated", &self.now.as_millis().to_string())
    }

    /// An agent says which rules it applied. Each counts once for one answer; says how many
    /// were known.
    pub fn cited(&self, answer: &str, rules: &[String]) -> Result<usize> {
        if rules.is_empty() {
            return Ok(0);
        }
        // A transcript has it without the spaces around it, and its middle cut out if it is long.
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

    /// What this context was given and a prompt is about.
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

    /// The notes that this session's contexts were given.
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

    /// A use is evidence, and whatever was used is not idle.
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
