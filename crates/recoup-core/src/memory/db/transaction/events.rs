//! Events that clients report, for as long as they may be kept, and their sessions.

use rusqlite::params;

use crate::base::clock::Timestamp;
use crate::base::text::shorten_text;
use crate::error::Result;
use crate::memory::db::{CachedSql as _, EventOrigin, EventTransaction, Memory};
use crate::memory::guard::private_text::without_private;
use crate::memory::model::NoteScope;
use crate::memory::model::note::words;
use crate::secrets;

const NOTING_EVENTS: &str = "cannot record an event";

/// Maximum characters of a text in an event.
const LONGEST: usize = 300;

/// Tolerance between the two times of a prompt that waits for the agent: when it was typed, and
/// when it was read.
const NEARLY_MS: i64 = 60 * 60 * 1000;

/// Longest time between two reports of one prompt: a client runs its hooks at the same time, and each
/// may have to wait for the database.
const REPORTS_MS: i64 = 5_000;

words! {
    /// Kinds of events. The user's text is never part of one.
    MemoryEventKind: "invalid event" {
        /// A session began, or went on.
        Began = "began",
        /// The user typed something.
        Prompted = "prompted",
        /// The user said that something is still not right.
        Reasked = "re-ask",
        /// A tool call worked.
        Succeeded = "succeeded",
        /// A tool call failed.
        Failed = "failed",
        /// A tool call was turned down before it ran: it was wrong.
        Refused = "refused",
        /// The user did not allow a tool call.
        Denied = "denied",
        /// The agent was stuck, went back, or did the same again and again.
        Trouble = "trouble",
        /// A file was changed.
        Edited = "edited",
        /// A sub-agent or a background task came to its end.
        Task = "task",
        /// A context was compacted.
        Compacted = "compacted",
        /// The agent came to the end of its answer.
        Stopped = "stopped",
        /// A session ended.
        Ended = "ended",
        /// The agent was given a rule that its call would break.
        Reminded = "reminded",
        /// The person was asked about a call that would break a rule.
        Asked = "asked",
        /// A call that would break a rule was refused.
        Blocked = "blocked",
        /// A call broke a rule.
        Broke = "broke",
        /// A call did what a rule wants.
        Kept = "kept",
        /// The user was told that a rule could be enforced more strongly.
        Proposed = "proposed",
    }
}

/// Subject and details of an event.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventDetails<'a> {
    /// Kind of command, tool or file.
    pub subject: Option<&'a str>,
    /// Client's id of the call: no event happens twice to one call.
    pub call: Option<&'a str>,
    /// Further details. Secrets in it are not kept.
    pub detail: Option<&'a str>,
}

impl<'a> EventDetails<'a> {
    /// Creates details with a subject alone.
    pub fn subject(subject: &'a str) -> Self {
        Self { subject: Some(subject), ..Self::default() }
    }

    /// Creates the details of a call.
    pub fn call(subject: &'a str, call: &'a str) -> Self {
        Self { subject: Some(subject), call: Some(call), detail: None }
    }
}

impl Memory {
    /// Returns the scope of a session's latest event.
    pub fn session_scope(&self, session: &str) -> Result<Option<NoteScope>> {
        const SQL: &str = "SELECT scope FROM events WHERE session = ?1 AND scope IS NOT NULL
                           ORDER BY row DESC LIMIT 1";
        self.read(|connection| connection.find_value(SQL, [session], NOTING_EVENTS))
    }
}

impl EventTransaction<'_> {
    /// Records an event; returns false if it was known already.
    pub fn record_event(&self, what: MemoryEventKind, of: EventDetails<'_>) -> Result<bool> {
        const SQL: &str = "INSERT INTO events (at, client, session, context, scope, what, subject,
                           call, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        if self.is_known(what, of.call)? {
            return Ok(false);
        }
        let EventOrigin { client, session, context, scope } = self.occasion;
        let what = what.as_str();
        let (subject, call) = (of.subject.map(storable_text), of.call);
        let detail = of.detail.map(storable_text);
        let values =
            params![self.now, client, session, context, scope, what, subject, call, detail];
        self.connection.write(SQL, values, NOTING_EVENTS)?;
        Ok(true)
    }

    pub(crate) fn is_known(&self, what: MemoryEventKind, call: Option<&str>) -> Result<bool> {
        let Some(call) = call else { return Ok(false) };
        // A fork has the calls of the session that it comes from.
        let values = params![call, what.as_str(), self.occasion.scope];
        let sql = "SELECT 1 FROM events WHERE call = ?1 AND what = ?2 AND scope = ?3";
        self.connection.has_row(sql, values, NOTING_EVENTS)
    }

    /// True if a prompt is known by its `print`, at about that time, in this session or in this
    /// project: a fork has the prompts of the session that it comes from.
    pub fn is_known_prompt(&self, print: &str, at: Option<Timestamp>) -> Result<bool> {
        const SQL: &str = "SELECT 1 FROM events WHERE what = ?1 AND subject = ?2
                           AND (scope = ?3 OR session = ?4)
                           AND (?5 IS NULL OR abs(at - ?5) <= ?6) LIMIT 1";
        let (what, it) = (MemoryEventKind::Prompted.as_str(), self.occasion);
        let values = params![what, print, it.scope, it.session, at, NEARLY_MS];
        self.connection.has_row(SQL, values, NOTING_EVENTS)
    }

    /// True if a prompt of this session with this `print` was recorded a moment ago: another hook has
    /// reported it.
    pub fn is_repeated_prompt(&self, print: &str) -> Result<bool> {
        const SQL: &str = "SELECT 1 FROM events WHERE what = ?1 AND subject = ?2 AND session = ?3
                           AND abs(at - ?4) <= ?5 LIMIT 1";
        let what = MemoryEventKind::Prompted.as_str();
        let values = params![what, print, self.occasion.session, self.now, REPORTS_MS];
        self.connection.has_row(SQL, values, NOTING_EVENTS)
    }

    /// True if a call is known to have run, successfully or not.
    pub fn has_run(&self, call: &str) -> Result<bool> {
        Ok(self.is_known(MemoryEventKind::Succeeded, Some(call))?
            || self.is_known(MemoryEventKind::Failed, Some(call))?)
    }

    /// Begins or continues a session.
    pub fn begin_session(&self, how: &str) -> Result<()> {
        const SQL: &str =
            "INSERT INTO episodes (session, client, scope, began) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (session) DO UPDATE SET ended = NULL, outcome = NULL";
        let it = self.occasion;
        let values = params![it.session, it.client, it.scope, self.now];
        self.connection.write(SQL, values, NOTING_EVENTS)?;
        self.record_event(MemoryEventKind::Began, EventDetails::subject(how)).map(drop)
    }

    /// Ends a session. If its beginning was not reported, it begins now.
    pub fn end_session(&self, how: &str) -> Result<()> {
        const SQL: &str = "INSERT INTO episodes (session, client, scope, began, ended, outcome)
                           VALUES (?1, ?2, ?3, ?4, ?4, ?5)
                           ON CONFLICT (session) DO UPDATE SET ended = ?4, outcome = ?5";
        let it = self.occasion;
        let values = params![it.session, it.client, it.scope, self.now, storable_text(how)];
        self.connection.write(SQL, values, NOTING_EVENTS)?;
        self.record_event(MemoryEventKind::Ended, EventDetails::subject(how)).map(drop)
    }
}

/// Returns a text as it may be stored: shortened, without secrets and private parts.
pub(crate) fn storable_text(text: &str) -> String {
    shorten_text(&secrets::redact(&without_private(text)), LONGEST).into_owned()
}
