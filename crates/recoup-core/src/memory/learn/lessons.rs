//! Failures and what fixed them. One failure is an event; the same in two sessions, or a
//! fix that worked twice, is a lesson.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::command::{hides_its_end, without_passwords};
use super::fix::Fix;
use super::settle;
use crate::base::clock::Timestamp;
use crate::base::digest::Digest;
use crate::base::text::shortened;
use crate::database::fault;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::inject::readable_line;
use crate::memory::rows::Kept;
use crate::memory::turn::{About, Happened, Turn, kept};
use crate::memory::{Note, NoteId, NoteKind, Source, Statement, Status, keep, rows, store};

/// A fix comes within minutes of its failure.
const SOON: i64 = 15 * 60 * 1_000;
/// So many sessions, or so many times that a fix worked, are evidence.
const ENOUGH: i64 = 2;
/// As much of a command, or of an error, as a lesson repeats.
const LONGEST: usize = 160;
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
    fix: Option<Fix>,
    note: Option<String>,
}

impl Turn<'_> {
    /// A command failed, and that line of its output says why.
    pub fn failed(&self, ran: &Ran<'_>, error: Option<&str>) -> Result<Option<Learned>> {
        let of = About { detail: error, ..About::call(ran.kind, ran.call) };
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
        if !self.happened(Happened::Succeeded, About::call(ran.kind, ran.call))? {
            return Ok(None);
        }
        if hides_its_end(ran.command) {
            return Ok(None);
        }
        let Some((lesson, failed_at)) = self.open_failure(ran.kind)? else { return Ok(None) };
        let Some(fix) = self.fix(&lesson, ran, failed_at)? else {
            return self.see(&lesson, "passed", ran.call).map(|()| None);
        };
        self.fix_with(&lesson, &fix)?;
        self.see(&lesson, "fixed", ran.call)?;
        let lesson = Lesson { fix: Some(fix), ..lesson };
        self.weigh(&lesson)
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

    /// What made the difference: another command, or changes to files. None where nothing
    /// is known to have changed.
    fn fix(&self, lesson: &Lesson, ran: &Ran<'_>, since: Timestamp) -> Result<Option<Fix>> {
        let command = shown(ran.command);
        if command != lesson.command {
            let is_fix = is_about_the_same(&lesson.command, &command);
            return Ok(is_fix.then(|| Fix::Command(quoted(&command))));
        }
        let files = self.edited_since(since)?;
        let names: Vec<String> = files.iter().map(|file| quoted(&readable(file))).collect();
        Ok((!names.is_empty()).then(|| Fix::Files(names.join(", "))))
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

    /// Another fix than before has its own evidence to gather.
    fn fix_with(&self, lesson: &Lesson, fix: &Fix) -> Result<()> {
        if lesson.fix.as_ref() == Some(fix) {
            return Ok(());
        }
        let forget_fix = "DELETE FROM sightings WHERE lesson = ?1 AND what = 'fixed'";
        self.connection.execute(forget_fix, [lesson.row]).map_err(learning)?;
        self.connection
            .execute(
                "UPDATE lessons SET fix = ?2, updated = max(updated, ?3) WHERE row = ?1",
                params![lesson.row, fix.to_string(), self.now.as_millis()],
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

    /// Writes a lesson down as far as there is evidence for it.
    fn weigh(&self, lesson: &Lesson) -> Result<Option<Learned>> {
        let promoted = self.is_proven(lesson)?;
        let another_command = matches!(lesson.fix, Some(Fix::Command(_)));
        if !promoted && !another_command && lesson.note.is_none() {
            return Ok(None);
        }
        let Some(before) = self.write_down(lesson)? else { return Ok(None) };
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

    fn is_proven(&self, lesson: &Lesson) -> Result<bool> {
        const SQL: &str = "SELECT
            count(DISTINCT CASE WHEN what = 'failed' THEN session END),
            count(CASE WHEN what = 'fixed' THEN 1 END) FROM sightings WHERE lesson = ?1";
        let (sessions, fixes): (i64, i64) = self
            .connection
            .prepare_cached(SQL)
            .and_then(|mut select| {
                select.query_row([lesson.row], |row| Ok((row.get(0)?, row.get(1)?)))
            })
            .map_err(learning)?;
        Ok(sessions >= ENOUGH || fixes >= ENOUGH)
    }

    /// The note of a lesson, with the words that it has by now. None where it says what
    /// must not be kept.
    fn write_down(&self, lesson: &Lesson) -> Result<Option<Note>> {
        let text = lesson.text();
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
        let statement = Statement { topic, ..self.statement(text) };
        let Some(recorded) = self.try_record(&statement)? else { return Ok(None) };
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

    /// What failed, the error, and what worked.
    fn text(&self) -> String {
        let (command, error) = (quoted(&self.command), quoted(&self.error));
        match &self.fix {
            Some(fix) => format!("{command} fails with {error}; {fix}"),
            None => format!("{command} fails with {error}; no fix is known yet"),
        }
    }
}

fn lesson(row: &Row<'_>) -> rusqlite::Result<Lesson> {
    Ok(Lesson {
        row: row.get(0)?,
        command: row.get(1)?,
        error: row.get(2)?,
        fix: row.get::<_, Option<String>>(3)?.map(|text| Fix::read(&text)),
        note: row.get(4)?,
    })
}

/// Whether a command names everything that the one which failed does, flags aside: what
/// works for something else is no fix.
fn is_about_the_same(failed: &str, worked: &str) -> bool {
    let named = |command: &str| -> Vec<String> {
        let words = command.split_whitespace().filter(|word| !word.starts_with('-'));
        words.map(str::to_owned).collect()
    };
    let worked = named(worked);
    named(failed).iter().all(|word| worked.contains(word))
}

/// A command as it may be shown.
fn shown(command: &str) -> String {
    readable(&kept(&without_passwords(command)))
}

/// On one line, and short.
fn readable(text: &str) -> String {
    shortened(&readable_line(text), LONGEST).into_owned()
}

/// Output of a tool is shown as what it is: it never reads like a sentence of ours.
fn quoted(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// What two sightings of one failure have in common: numbers, addresses and hashes differ
/// from one time to the next.
fn signature(error: &str) -> String {
    let is_varying = |word: &str| {
        word.len() >= 7
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let mut out = String::with_capacity(error.len());
    let mut word = String::new();
    for c in error.to_lowercase().chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        if is_varying(&word) {
            out.push('#');
        } else {
            out.push_str(&without_numbers(&word));
        }
        word.clear();
        if !(c == ' ' && out.ends_with(' ')) {
            out.push(c);
        }
    }
    out.trim().to_owned()
}

fn without_numbers(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
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
