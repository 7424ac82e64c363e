//! Links citations by agents and repetitions by the user to the rules that were meant; and calls that
//! the user denies: a second denial of one kind may be a preference.

use rusqlite::params;

use crate::base::digest::Sha256Digest;
use crate::error::Result;
use crate::memory::capture::transcript::bound_text;
use crate::memory::db::{
    CachedSql as _, EventDetails, EventTransaction, MemoryEventKind, NoteFilter, RecordOutcome,
    StoredNote, deliveries, note_rows, recording,
};
use crate::memory::lang::escape::one_line;
use crate::memory::learn::citation::is_cited;
use crate::memory::learn::lessons::{CompletedCommand, LearnedNote};
use crate::memory::model::{Note, NoteKind, NoteSource, Statement};
use crate::memory::recall::search::{self, SearchQuery};

const NOTING_USE: &str = "cannot record the use of a rule";

/// Maximum number of notes that are searched for the one that was meant.
const LOOKED_AT: usize = 16;

/// Number of denials that make a candidate.
const ENOUGH: i64 = 2;

impl EventTransaction<'_> {
    /// Records that the user says something is still not right. Returns the delivered rule that
    /// this repeats, if any: it has failed.
    pub fn record_reask(&self, prompt: &str) -> Result<Option<Note>> {
        self.record_event(MemoryEventKind::Reasked, EventDetails::default())?;
        let id = self.now.as_millis().to_string();
        let given = self.delivered_notes()?;
        if given.is_empty() {
            return Ok(None);
        }
        let scopes = NoteFilter::active_in(&self.occasion.scope).scopes;
        let query = SearchQuery { scopes: &scopes, limit: LOOKED_AT, ..SearchQuery::new(prompt) };
        for hit in search::find_fitting_notes(self.connection, &query)? {
            let kept = note_rows::find_one(self.connection, "row = ?1", [hit.row])?;
            if let Some(kept) = kept.filter(|kept| given.contains(&kept.note.id)) {
                self.add_evidence_once(&kept, "repeated", &id)?;
                return Ok(Some(kept.note));
            }
        }
        Ok(None)
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
        let contexts = [&*self.occasion.context, &*self.occasion.session];
        let mut known = 0;
        for note in deliveries::ever_delivered(self.connection, &contexts)? {
            let Some(kept) = note_rows::by_id(self.connection, &note)? else { continue };
            if rules.iter().any(|rule| is_cited(rule, &one_line(&kept.note.text)))
                && self.add_evidence_once(&kept, "cited", &id)?
            {
                // A used note is not idle.
                let sql = "UPDATE notes SET evidence = evidence + 1, idle = 0 WHERE row = ?1";
                self.connection.write(sql, [kept.row], NOTING_USE)?;
                known += 1;
            }
        }
        Ok(known)
    }

    fn add_evidence_once(&self, kept: &StoredNote, what: &str, detail: &str) -> Result<bool> {
        let session = Some(self.occasion.session.as_str());
        recording::record_evidence_once(self.connection, kept, what, session, detail, self.now)
    }

    /// Records that the user denied a call. A second denial of its kind becomes a candidate.
    pub fn record_denial(&self, ran: &CompletedCommand<'_>) -> Result<Option<LearnedNote>> {
        const COUNT: &str = "SELECT count(*) FROM events
                             WHERE scope = ?1 AND what = 'denied' AND subject = ?2";
        if !self.record_event(MemoryEventKind::Denied, EventDetails::call(ran.kind, ran.call))? {
            return Ok(None);
        }
        let values = params![self.occasion.scope, ran.kind];
        let doing = "cannot count the denied commands";
        let denied: Option<i64> = self.connection.find_value(COUNT, values, doing)?;
        if denied.unwrap_or(0) < ENOUGH {
            return Ok(None);
        }
        let text = format!("don't run `{}` without asking", ran.kind.replace('`', "'"));
        let scope = self.occasion.scope.clone();
        let statement = Statement::new(NoteKind::Preference, text, NoteSource::Extraction, scope);
        Ok(match self.try_record(&statement)? {
            Some(RecordOutcome::Stored { note, .. }) => Some(LearnedNote::Candidate(note)),
            Some(RecordOutcome::Confirmed { .. }) | None => None,
        })
    }
}
