//! Failures and what fixed them. One failure is an event; where another command did what it
//! did not, that is a lesson, if the same fails in two sessions or the fix works twice.
//!
//! What has no fix, comes of the work itself, or goes around a safeguard stays an event.

mod against;
mod fix;
mod orders;
mod safeguard;
mod wording;
mod work;

pub(in crate::memory) use against::give_way;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::command::hides_its_end;
use super::settle;
use crate::base::clock::Timestamp;
use crate::base::digest::Digest;
use crate::database::fault;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::rows::Kept;
use crate::memory::turn::{Happened, Of, Turn, kept};
use crate::memory::{Note, NoteId, NoteKind, Source, Statement, Status, keep, rows, store};
use wording::{is_shown_whole, quoted, readable, shown, signature};

/// A fix comes within minutes of its failure.
const SOON: i64 = 15 * 60 * 1_000;
/// So many sessions, or so many times that a fix worked, are evidence.
const ENOUGH: i64 = 2;
/// As many files as are named as what was changed.
const FILES: i64 = 3;

/// A command that was run.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// Its program and sub-command: what makes two commands the same kind.
    pub kind: &'a str,
    /// All of it.
    pub command: &'a str,
    /// The client's name for this call.
    pub call: &'a str,
}

/// What came out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Learned {
    /// It may be worth knowing: a candidate.
    Candidate(Note),
    /// There is enough evidence for it: it counts from now on.
    Promoted(Note),
}

/// A failure that was seen.
#[derive(Debug)]
struct Lesson {
    row: i64,
    command: String,
    error: String,
    fix: Option<String>,
    note: Option<String>,
}

/// What made a command work that had failed.
#[derive(Debug)]
enum Made {
    /// Another command for the same.
    Command(String),
    /// The same, but something else was done in between: nobody knows which of the two it was.
    Perhaps(String),
    /// What was otherwise, and is not to be taught.
    Otherwise(String),
    /// Nothing is known to have changed.
    Unknown,
}

/// What was seen of a lesson: in how many sessions it failed, how often its fix worked, for
/// certain and perhaps.
struct Evidence {
    sessions: i64,
    fixes: i64,
    maybes: i64,
}

impl Evidence {
    fn has_fix(&self) -> bool {
        self.fixes + self.maybes > 0
    }
}

impl Turn<'_> {
    /// A command failed, and that line of its output says why.
    pub fn failed(&self, ran: &Ran<'_>, error: Option<&str>) -> Result<Option<Learned>> {
        let of = Of { detail: error, ..Of::call(ran.kind, ran.call) };
        if !self.happened(Happened::Failed, of)? {
            return Ok(None);
        }
        // Without a reason there is nothing to recognise it by.
        let Some(error) = error.map(|error| readable(&kept(error))).filter(|it| !it.is_empty())
        else {
            return Ok(None);
        };
        let lesson = self.lesson(ran, &error)?;
        self.see(&lesson, "failed", ran.call)?;
        self.weigh(&lesson)
    }

    /// A command worked. If one of its kind failed here a short while ago, this is how it
    /// works.
    pub fn succeeded(&self, ran: &Ran<'_>) -> Result<Option<Learned>> {
        if !self.happened(Happened::Succeeded, Of::call(ran.kind, ran.call))? {
            return Ok(None);
        }
        if hides_its_end(ran.command) {
            return Ok(None);
        }
        let Some((lesson, failed_at)) = self.open_failure(ran.kind)? else { return Ok(None) };
        match self.made_it_work(&lesson, ran, failed_at)? {
            Made::Command(fix) => {
                self.fix_with(&lesson, &fix)?;
                self.see(&lesson, "fixed", ran.call)?;
                self.weigh(&Lesson { fix: Some(fix), ..lesson })
            }
            Made::Perhaps(fix) if self.evidence(&lesson)?.fixes == 0 => {
                self.fix_with(&lesson, &fix)?;
                self.see(&lesson, "maybe", ran.call)?;
                self.weigh(&Lesson { fix: Some(fix), ..lesson })
            }
            Made::Otherwise(pair) if !self.evidence(&lesson)?.has_fix() => {
                // The failure keeps it, and nobody is told.
                self.fix_with(&lesson, &pair)?;
                self.see(&lesson, "passed", ran.call).map(|()| None)
            }
            // What is known to work stays.
            Made::Perhaps(_) | Made::Otherwise(_) => {
                self.see(&lesson, "passed", ran.call).map(|()| None)
            }
            Made::Unknown => self.see(&lesson, "passed", ran.call).map(|()| None),
        }
    }

    /// The failure of that kind, seen before or not.
    fn lesson(&self, ran: &Ran<'_>, error: &str) -> Result<Lesson> {
        const SQL: &str =
            "INSERT INTO lessons (scope, kind, signature, command, error, created, updated)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
                           ON CONFLICT (scope, kind, signature) DO UPDATE SET updated = max(updated, ?6)
                           RETURNING row, command, error, fix, note";
        let scope = self.occasion.scope.to_string();
        let (command, now) = (shown(ran.command), self.now.as_millis());
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut insert| {
                let values = params![scope, ran.kind, signature(error), command, error, now];
                insert.query_row(values, lesson)
            })
            .map_err(learning)
    }

    /// The latest failure of that kind in this session, if it is recent and nothing of
    /// its kind has worked since.
    fn open_failure(&self, kind: &str) -> Result<Option<(Lesson, Timestamp)>> {
        const SQL: &str = "SELECT lessons.row, command, error, fix, note, at FROM sightings
                           JOIN lessons ON lessons.row = sightings.lesson
                           WHERE session = ?1 AND what = 'failed' AND kind = ?2 AND scope = ?3
                           ORDER BY at DESC LIMIT 1";
        let it = self.occasion;
        let latest = self
            .connection
            .prepare_cached(SQL)
            .and_then(|mut select| {
                let values = params![it.session, kind, it.scope.to_string()];
                select.query_row(values, |row| Ok((lesson(row)?, row.get(5)?))).optional()
            })
            .map_err(learning)?;
        let Some((lesson, at)) = latest else { return Ok(None) };
        let since = self.now.as_millis() - at;
        let open = (0..=SOON).contains(&since) && !self.has_worked_since(&lesson, at)?;
        Ok(open.then_some((lesson, Timestamp::from_millis(at))))
    }

    fn has_worked_since(&self, lesson: &Lesson, at: i64) -> Result<bool> {
        const SQL: &str = "SELECT 1 FROM sightings WHERE lesson = ?1 AND session = ?2
                           AND what <> 'failed' AND at >= ?3";
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut select| {
                let values = params![lesson.row, self.occasion.session, at];
                select.query_row(values, |_| Ok(())).optional()
            })
            .map(|found| found.is_some())
            .map_err(learning)
    }

    /// What made the difference, as far as that can be told.
    fn made_it_work(&self, lesson: &Lesson, ran: &Ran<'_>, since: Timestamp) -> Result<Made> {
        let worked = shown(ran.command);
        let files = self.edited_since(since)?;
        if let Some(command) = fix::other_way(&lesson.command, ran.kind, &worked) {
            let text = format!("{} works", quoted(&command));
            let useful =
                is_shown_whole(ran.command) && fix::is_worth_teaching(&lesson.error, &command);
            return Ok(match useful {
                true if files.is_empty() && !self.did_more_since(ran.kind, since)? => {
                    Made::Command(text)
                }
                true => Made::Perhaps(text),
                false => Made::Otherwise(text),
            });
        }
        if !fix::is_the_same(&lesson.command, ran.kind, &worked) {
            return Ok(Made::Unknown);
        }
        let names: Vec<String> = files.iter().map(|file| quoted(&readable(file))).collect();
        Ok(match names.is_empty() {
            true => Made::Unknown,
            false => Made::Otherwise(format!("it worked after a change to {}", names.join(", "))),
        })
    }

    fn edited_since(&self, since: Timestamp) -> Result<Vec<String>> {
        const SQL: &str = "SELECT DISTINCT subject FROM events WHERE session = ?1
                           AND what = 'edited' AND subject IS NOT NULL AND at >= ?2
                           ORDER BY subject LIMIT ?3";
        let mut select = self.connection.prepare_cached(SQL).map_err(learning)?;
        let values = params![self.occasion.session, since.as_millis(), FILES];
        let files = select.query_map(values, |row| row.get(0)).map_err(learning)?;
        files.map(|file| file.map_err(learning)).collect()
    }

    /// Whether a command of another kind, that does more than look, has worked since then.
    fn did_more_since(&self, kind: &str, since: Timestamp) -> Result<bool> {
        const SQL: &str = "SELECT DISTINCT subject FROM events WHERE session = ?1
                           AND what = 'succeeded' AND subject <> ?2 AND at >= ?3";
        let mut select = self.connection.prepare_cached(SQL).map_err(learning)?;
        let values = params![self.occasion.session, kind, since.as_millis()];
        let done = select.query_map(values, |row| row.get::<_, String>(0)).map_err(learning)?;
        let done: rusqlite::Result<Vec<String>> = done.collect();
        Ok(done.map_err(learning)?.iter().any(|subject| fix::changes_something(subject)))
    }

    /// Another fix than before has its own evidence to gather.
    fn fix_with(&self, lesson: &Lesson, fix: &str) -> Result<()> {
        if lesson.fix.as_deref() == Some(fix) {
            return Ok(());
        }
        let forget_fix = "DELETE FROM sightings WHERE lesson = ?1 AND what IN ('fixed', 'maybe')";
        self.connection.execute(forget_fix, [lesson.row]).map_err(learning)?;
        self.connection
            .execute(
                "UPDATE lessons SET fix = ?2, updated = max(updated, ?3) WHERE row = ?1",
                params![lesson.row, fix, self.now.as_millis()],
            )
            .map(drop)
            .map_err(learning)
    }

    /// Counts each call once.
    fn see(&self, lesson: &Lesson, what: &str, call: &str) -> Result<()> {
        const SQL: &str = "INSERT OR IGNORE INTO sightings (lesson, call, what, session, at)
                           VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![lesson.row, call, what, self.occasion.session, self.now.as_millis()];
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut insert| insert.execute(values))
            .map(drop)
            .map_err(learning)
    }

    /// Writes a lesson down as far as there is evidence for it: not before something is known
    /// to work.
    fn weigh(&self, lesson: &Lesson) -> Result<Option<Learned>> {
        let evidence = self.evidence(lesson)?;
        let Some(fix) = lesson.fix.as_deref().filter(|_| evidence.has_fix()) else {
            return Ok(None);
        };
        if self.is_forbidden(fix)? {
            return Ok(None);
        }
        let often = evidence.sessions >= ENOUGH || evidence.fixes >= ENOUGH;
        let promoted = evidence.fixes > 0 && often;
        let Some(before) = self.write_down(lesson, fix)? else { return Ok(None) };
        match (before.status, promoted) {
            (Status::Candidate, true) => {
                keep::promote(self.connection, &before.id, self.now)?;
                let note = keep::demand(self.connection, &before.id)?.note;
                Ok((note.status == Status::Active).then_some(Learned::Promoted(note)))
            }
            (Status::Candidate, false) => Ok(Some(Learned::Candidate(before))),
            // It had retired by itself, and is met again.
            (Status::Retired, true) if settle::has_expired(self.connection, &before.id)? => {
                keep::promote(self.connection, &before.id, self.now)?;
                Ok(Some(Learned::Promoted(keep::demand(self.connection, &before.id)?.note)))
            }
            _ => Ok(None),
        }
    }

    fn evidence(&self, lesson: &Lesson) -> Result<Evidence> {
        const SQL: &str = "SELECT
            count(DISTINCT CASE WHEN what = 'failed' THEN session END),
            count(CASE WHEN what = 'fixed' THEN 1 END),
            count(CASE WHEN what = 'maybe' THEN 1 END) FROM sightings WHERE lesson = ?1";
        let read = |row: &Row<'_>| {
            Ok(Evidence { sessions: row.get(0)?, fixes: row.get(1)?, maybes: row.get(2)? })
        };
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut select| select.query_row([lesson.row], read))
            .map_err(learning)
    }

    /// The note of a lesson, with the words that it has by now. None where it says what
    /// must not be kept.
    fn write_down(&self, lesson: &Lesson, fix: &str) -> Result<Option<Note>> {
        let text = wording::text(&lesson.command, &lesson.error, fix);
        let known = lesson.note.as_deref().map(NoteId::parse).transpose()?;
        if let Some(known) = known
            && let Some(kept) = rows::by_id(self.connection, &known)?
        {
            if kept.note.source == Source::Extraction && kept.note.text != text {
                self.reword(&kept, text)?;
            }
            return Ok(Some(keep::demand(self.connection, &known)?.note));
        }
        let topic = Some(lesson.topic());
        let recorded = match self.record(&Statement { topic, ..self.statement(text) }) {
            Err(error) if error.kind() == ErrorKind::Invalid => return Ok(None),
            recorded => recorded?,
        };
        let note = recorded.note().clone();
        self.connection
            .execute(
                "UPDATE lessons SET note = ?2 WHERE row = ?1",
                params![lesson.row, note.id.as_str()],
            )
            .map_err(learning)?;
        Ok(Some(note))
    }

    /// Says it with what is known by now, if that may be kept.
    fn reword(&self, kept: &Kept, text: String) -> Result<()> {
        let topic = kept.note.topic.clone();
        let statement = Statement { topic, ..self.statement(text) };
        let reworded = store::checked(&statement)
            .and_then(|statement| store::reword(self.connection, kept, &statement, self.now));
        match reworded {
            // Another lesson says the same by now, or a tool wrote what must not be kept.
            Err(error) if matches!(error.kind(), ErrorKind::Usage | ErrorKind::Invalid) => Ok(()),
            reworded => reworded,
        }
    }

    fn statement(&self, text: String) -> Statement {
        let scope = self.occasion.scope.clone();
        Statement::new(NoteKind::Failure, text, Source::Extraction, scope)
    }
}

impl Lesson {
    /// Its own, wherever it goes: no other lesson is about the same.
    fn topic(&self) -> String {
        let print = Digest::of(format!("{}\n{}", self.command, signature(&self.error)).as_bytes());
        format!("failure {}", &print.to_hex()[..12])
    }
}

fn lesson(row: &Row<'_>) -> rusqlite::Result<Lesson> {
    Ok(Lesson {
        row: row.get(0)?,
        command: row.get(1)?,
        error: row.get(2)?,
        fix: row.get(3)?,
        note: row.get(4)?,
    })
}

/// The lessons that nobody saw again for too long go; what was made of them stays.
pub(super) fn drop_older_than(connection: &Connection, then: Timestamp) -> Result<usize> {
    connection
        .execute(
            "DELETE FROM lessons WHERE updated < ?1 AND (note IS NULL
             OR note NOT IN (SELECT id FROM notes WHERE status = 'active'))",
            [then.as_millis()],
        )
        .map_err(learning)
}

fn learning(error: rusqlite::Error) -> Error {
    fault::explain(error, "learning from a failure")
}
