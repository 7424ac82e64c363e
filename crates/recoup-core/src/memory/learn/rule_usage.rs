//! Links citations by agents and repetitions by the user to the rules that were meant; and calls that
//! the user denies: a second denial of one kind may be a preference.

use rusqlite::params;

use super::citation::is_cited;
use super::lessons::{CompletedCommand, LearnedNote};
use crate::base::digest::Sha256Digest;
use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::inject::one_line;
use crate::memory::note_rows::{self, StoredNote};
use crate::memory::search::{self, SearchQuery};
use crate::memory::transaction::{EventDetails, EventTransaction, MemoryEventKind};
use crate::memory::transcript::bound_text;
use crate::memory::{
    Note, NoteFilter, NoteKind, NoteSource, NoteStatement, RecordOutcome, deliveries,
};

/// Maximum number of notes that are searched for the one that was meant.
const LOOKED_AT: usize = 16;

impl EventTransaction<'_> {
    /// Records that the user says something is still not right. Returns the delivered rule that
    /// this repeats, if any: it has failed.
    pub fn record_reask(&self, prompt: &str) -> Result<Option<Note>> {
        self.record_event(MemoryEventKind::Reasked, EventDetails::default())?;
        let id = self.now.as_millis().to_string();
        let Some(kept) = self.find_delivered_note(prompt)? else { return Ok(None) };
        self.add_evidence_once(&kept, "repeated", &id)?;
        Ok(Some(kept.note))
    }

    /// Records that the user repeated a rule that this context had received.
    pub fn record_repetition(&self, note: &Note) -> Result<bool> {
        let Some(kept) = note_rows::by_id(self.connection, &note.id)? else { return Ok(false) };
        if !self.delivered_notes()?.contains(&note.id) {
            return Ok(false);
        }
        self.add_evidence_once(&kept, "repeated", &self.now.as_millis().to_string())
    }

    /// Records the rules that an answer cites, each once for one answer. Returns how many were
    /// known.
    pub fn record_citations(&self, answer: &str, rules: &[String]) -> Result<usize> {
        if rules.is_empty() {
            return Ok(0);
        }
        // A transcript has the answer trimmed, and its middle cut out if it is long.
        let id = Sha256Digest::of(bound_text(answer.trim()).as_bytes()).to_string();
        let mut known = 0;
        for kept in self.notes_in_session()? {
            if rules.iter().any(|rule| is_cited(rule, &one_line(&kept.note.text)))
                && self.add_evidence_once(&kept, "cited", &id)?
            {
                self.count_use(&kept)?;
                known += 1;
            }
        }
        Ok(known)
    }

    /// Returns a note that this context has received and that a prompt is about.
    fn find_delivered_note(&self, prompt: &str) -> Result<Option<StoredNote>> {
        let given = self.delivered_notes()?;
        if given.is_empty() {
            return Ok(None);
        }
        let scopes = NoteFilter::active_in(&self.occasion.scope).scopes;
        let query = SearchQuery { scopes: &scopes, limit: LOOKED_AT, ..SearchQuery::new(prompt) };
        for hit in search::find_fitting_notes(self.connection, &query)? {
            let kept = note_rows::find_one(self.connection, "row = ?1", [hit.row])?;
            if let Some(kept) = kept.filter(|kept| given.contains(&kept.note.id)) {
                return Ok(Some(kept));
            }
        }
        Ok(None)
    }

    /// Returns the notes that this session's contexts have received.
    fn notes_in_session(&self) -> Result<Vec<StoredNote>> {
        let contexts = [&*self.occasion.context, &*self.occasion.session];
        let mut holding = Vec::new();
        for id in deliveries::ever_delivered(self.connection, &contexts)? {
            holding.extend(note_rows::by_id(self.connection, &id)?);
        }
        Ok(holding)
    }

    fn add_evidence_once(&self, kept: &StoredNote, what: &str, detail: &str) -> Result<bool> {
        const SQL: &str = "INSERT OR IGNORE INTO evidence (note, at, session, what, detail)
                           VALUES (?1, ?2, ?3, ?4, ?5)";
        let (now, session) = (self.now.as_millis(), &self.occasion.session);
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut insert| insert.execute(params![kept.row, now, session, what, detail]))
            .map(|rows| rows > 0)
            .map_err(evidence_error)
    }

    /// Counts a use as evidence; a used note is not idle.
    fn count_use(&self, kept: &StoredNote) -> Result<()> {
        self.connection
            .prepare_cached("UPDATE notes SET evidence = evidence + 1, idle = 0 WHERE row = ?1")
            .and_then(|mut update| update.execute([kept.row]))
            .map(drop)
            .map_err(evidence_error)
    }
}

fn evidence_error(error: rusqlite::Error) -> Error {
    fault::from_sqlite(error, "noting which rule was meant")
}

/// Number of denials that make a candidate.
const ENOUGH: i64 = 2;

impl EventTransaction<'_> {
    /// Records that the user denied a call. A second denial of its kind becomes a candidate.
    pub fn record_denial(&self, ran: &CompletedCommand<'_>) -> Result<Option<LearnedNote>> {
        if !self.record_event(MemoryEventKind::Denied, EventDetails::call(ran.kind, ran.call))? {
            return Ok(None);
        }
        if self.times_denied(ran.kind)? < ENOUGH {
            return Ok(None);
        }
        let text = format!("don't run `{}` without asking", ran.kind.replace('`', "'"));
        let scope = self.occasion.scope.clone();
        let statement =
            NoteStatement::new(NoteKind::Preference, text, NoteSource::Extraction, scope);
        Ok(match self.try_record(&statement)? {
            Some(RecordOutcome::Stored { note, .. }) => Some(LearnedNote::Candidate(note)),
            Some(RecordOutcome::Confirmed { .. }) | None => None,
        })
    }

    fn times_denied(&self, kind: &str) -> Result<i64> {
        const SQL: &str = "SELECT count(*) FROM events
                           WHERE scope = ?1 AND what = 'denied' AND subject = ?2";
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut select| {
                select.query_row(params![self.occasion.scope.to_string(), kind], |row| row.get(0))
            })
            .map_err(|error| fault::from_sqlite(error, "counting what was denied"))
    }
}
