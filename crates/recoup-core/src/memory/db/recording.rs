//! Recording of statements, and changes of mind: a repeated statement is a confirmation, and of two
//! on one topic the newer counts.

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::db::deliveries;
use crate::memory::db::ends;
use crate::memory::db::facets::{
    Facet, WordBeginnings, derive_topic, forbids, restates, topic_by_words,
};
use crate::memory::db::index;
use crate::memory::db::note_rows;
use crate::memory::db::note_rows::StoredNote;
use crate::memory::db::sql::{CachedSql as _, SqlContext as _};
use crate::memory::guard::gate::ValidStatement;
use crate::memory::model::estimate;
use crate::memory::model::note::{Note, NoteId, NoteScope, NoteSource, NoteStatus, NoteTrust};
use crate::memory::model::statement::{Statement, normalize_for_comparison};

pub(crate) const KEEPING: &str = "cannot store a memory";

/// Outcome of recording a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordOutcome {
    /// Stored as a new note.
    Stored {
        /// The note as stored.
        note: Note,
        /// Notes on its topic that it replaced.
        instead_of: Vec<Note>,
    },
    /// Known before: more evidence, no second row. It may become active again, and then replaces
    /// other notes.
    Confirmed {
        /// The known note, as stored now.
        note: Note,
        /// Notes on its topic that it replaced.
        instead_of: Vec<Note>,
        /// True if it was inactive before, and is active now.
        revived: bool,
    },
}

impl RecordOutcome {
    /// Returns the recorded note.
    pub fn note(&self) -> &Note {
        match self {
            Self::Stored { note, .. } | Self::Confirmed { note, .. } => note,
        }
    }

    /// Returns the notes that it replaced.
    pub fn instead_of(&self) -> &[Note] {
        match self {
            Self::Stored { instead_of, .. } | Self::Confirmed { instead_of, .. } => instead_of,
        }
    }
}

/// Time of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordTime {
    pub(crate) now: Timestamp,
    /// True if the statement is reported late: what was said since then is newer.
    pub(crate) late: bool,
}

impl RecordTime {
    pub(crate) fn at(now: Timestamp) -> Self {
        Self { now, late: false }
    }
}

/// Records a statement that has passed the checks, within the caller's transaction.
pub(crate) fn record(
    connection: &Connection,
    statement: &ValidStatement,
    time: RecordTime,
) -> Result<RecordOutcome> {
    let Statement { scope, paths, text, .. } = &**statement;
    if let Some(known) = note_rows::find_same(connection, scope, paths.as_deref(), text)? {
        return confirm(connection, &known, statement, time);
    }
    let candidate = find_restated_candidate(connection, statement)?;
    match candidate {
        Some(known) if statement.first_status() == NoteStatus::Candidate => {
            confirm(connection, &known, statement, time)
        }
        Some(known) => {
            let recorded = insert(connection, statement, time)?;
            supersede(connection, &known, &recorded.note().id, time.now)?;
            Ok(recorded)
        }
        None => insert(connection, statement, time),
    }
}

/// Candidate of the user that says the same as a statement of a person, in other words.
fn find_restated_candidate(
    connection: &Connection,
    statement: &ValidStatement,
) -> Result<Option<StoredNote>> {
    let is_user = matches!(statement.source, NoteSource::User | NoteSource::Manual);
    let derived = derive_topic(&statement.text);
    let Some(topic) = derived.filter(|_| is_user && !statement.tentative) else { return Ok(None) };
    let there = note_rows::find_many(
        connection,
        "scope = ?1 AND paths = ?2 AND topic = ?3 AND status = 'candidate' AND source = 'user'",
        params![statement.scope.to_string(), statement.paths.as_deref().unwrap_or_default(), topic],
    )?;
    Ok(there.into_iter().find(|kept| restates(&statement.text, &kept.note.text)))
}

fn insert(
    connection: &Connection,
    statement: &ValidStatement,
    time: RecordTime,
) -> Result<RecordOutcome> {
    const SQL: &str = "INSERT INTO notes (id, kind, text, quote, source, scope, paths, topic,
                       status, said, tokens, created, updated)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)";
    let mut id = NoteId::fresh();
    while note_rows::by_id(connection, &id)?.is_some() {
        id = NoteId::fresh();
    }
    let now = time.now.as_millis();
    connection
        .execute_cached(
            SQL,
            params![
                id.as_str(),
                statement.kind.as_str(),
                statement.text,
                statement.quote,
                statement.source.as_str(),
                statement.scope.to_string(),
                statement.paths.as_deref().unwrap_or_default(),
                statement.topic.clone().or_else(|| derive_topic(&statement.text)),
                statement.first_status().as_str(),
                normalize_for_comparison(&statement.text),
                estimate(&statement.text),
                now,
            ],
        )
        .doing(KEEPING)?;
    let kept = require_note(connection, &id)?;
    if statement.until.is_some() {
        ends::set_end(connection, kept.row, statement.until.as_deref(), time.now)?;
    }
    index::index_note(connection, kept.row, &kept.note.text, kept.note.topic.as_deref())?;
    record_evidence(
        connection,
        &kept,
        evidence_label(statement),
        statement.session.as_deref(),
        time.now,
    )?;
    let mut instead_of = take_topic_of_statement(connection, &kept, time)?;
    instead_of.extend(supersede_forbidden_lessons(connection, &kept, time.now)?);
    Ok(RecordOutcome::Stored { note: require_note(connection, &id)?.note, instead_of })
}

/// Adds evidence to a known note. A statement that was only inferred reactivates nothing.
fn confirm(
    connection: &Connection,
    known: &StoredNote,
    statement: &ValidStatement,
    time: RecordTime,
) -> Result<RecordOutcome> {
    const SQL: &str = "UPDATE notes SET evidence = evidence + 1, updated = ?2, status = ?3,
                       source = ?4, quote = ?5, superseded_by = CASE WHEN ?3 = 'active'
                       THEN NULL ELSE superseded_by END WHERE row = ?1";
    // A less trusted source reactivates nothing that a more trusted one gave up.
    let counts = statement.first_status() == NoteStatus::Active
        || is_repeated_in_new_session(connection, known, statement)?;
    let revived = counts && statement.source.trust() >= known.note.trust();
    let status = if revived { NoteStatus::Active } else { known.note.status };
    let more_trusted = !statement.tentative && statement.source.trust() > known.note.trust();
    let (source, quote) = if more_trusted {
        (statement.source, statement.quote.as_ref().or(known.note.quote.as_ref()))
    } else {
        (known.note.source, known.note.quote.as_ref())
    };
    let now = time.now.as_millis();
    connection
        .execute_cached(SQL, params![known.row, now, status.as_str(), source.as_str(), quote])
        .doing(KEEPING)?;
    // Said again without an end, it has none.
    if counts {
        ends::set_end(connection, known.row, statement.until.as_deref(), time.now)?;
    }
    record_evidence(
        connection,
        known,
        evidence_label(statement),
        statement.session.as_deref(),
        time.now,
    )?;
    let kept = require_note(connection, &known.note.id)?;
    let mut instead_of = take_topic_of_statement(connection, &kept, time)?;
    instead_of.extend(supersede_forbidden_lessons(connection, &kept, time.now)?);
    if revived {
        allow_redelivery_to_contexts(connection, known, &instead_of)?;
    }
    let revived = revived && known.note.status != NoteStatus::Active;
    Ok(RecordOutcome::Confirmed {
        note: require_note(connection, &known.note.id)?.note,
        instead_of,
        revived,
    })
}

/// Evidence label of a statement: only what a person said confirms what a person said.
fn evidence_label(statement: &Statement) -> &'static str {
    if statement.tentative { "unattended" } else { "said" }
}

/// True if a person repeats a candidate that a person said in another session.
fn is_repeated_in_new_session(
    connection: &Connection,
    known: &StoredNote,
    statement: &ValidStatement,
) -> Result<bool> {
    if statement.tentative || known.note.status != NoteStatus::Candidate {
        return Ok(false);
    }
    connection
        .prepare_cached(
            "SELECT 1 FROM evidence WHERE note = ?1 AND what = 'said' AND session <> ?2",
        )
        .and_then(|mut select| select.exists(params![known.row, statement.session]))
        .doing(KEEPING)
}

/// Lets an active note take its topic: other notes there are superseded, unless they are more
/// trusted; then the note itself is.
pub(crate) fn take_topic(
    connection: &Connection,
    kept: &StoredNote,
    now: Timestamp,
) -> Result<Vec<Note>> {
    let trusted_more = |other: &Note| other.trust() > kept.note.trust();
    take_topic_unless(connection, kept, now, &trusted_more)
}

/// Lets a recorded statement take its topic. One that is reported late also yields to what was said
/// since.
fn take_topic_of_statement(
    connection: &Connection,
    kept: &StoredNote,
    time: RecordTime,
) -> Result<Vec<Note>> {
    let stronger =
        |other: &Note| other.trust() > kept.note.trust() || (time.late && other.updated > time.now);
    take_topic_unless(connection, kept, time.now, &stronger)
}

fn take_topic_unless(
    connection: &Connection,
    kept: &StoredNote,
    now: Timestamp,
    stronger: &dyn Fn(&Note) -> bool,
) -> Result<Vec<Note>> {
    if kept.note.status != NoteStatus::Active {
        return Ok(Vec::new());
    }
    let others = rivals(connection, kept)?;
    let stronger = |other: &&StoredNote| stronger(&other.note);
    if let Some(stronger) = others.iter().find(stronger) {
        supersede(connection, kept, &stronger.note.id, now)?;
        return Ok(Vec::new());
    }
    supersede_all(connection, others, &kept.note.id, now)
}

/// Most active notes of a place that a new one is compared with, the latest first.
const MOST_COMPARED: usize = 500;

/// Active notes that contradict a note: on the same topic, its very opposite if both topics were
/// derived from the text, or another value for the same facet.
pub(crate) fn rivals(connection: &Connection, kept: &StoredNote) -> Result<Vec<StoredNote>> {
    const HERE: &str = "scope = ?1 AND paths = ?2 AND status = 'active' AND row <> ?3";
    let (scope, paths) = (kept.note.scope.to_string(), kept.note.paths.as_deref());
    let paths = paths.unwrap_or_default();
    let said = has_derived_topic(&kept.note);
    let facet = Facet::of(&kept.note.text);
    let mut rivals = note_rows::find_many(
        connection,
        &format!("{HERE} AND topic = ?4"),
        params![scope, paths, kept.row, kept.note.topic],
    )?;
    if !said && !facet.says_change() {
        return Ok(rivals);
    }
    // The same words, asked for or ruled out: "never use yarn", "use yarn".
    let words = topic_by_words(&kept.note.text).filter(|_| said);
    let is_opposite = |text: &str| words.is_some() && topic_by_words(text) == words;
    let beginnings = WordBeginnings::of(&facet);
    let sql = format!(
        "SELECT row, text FROM notes WHERE {HERE} ORDER BY updated DESC LIMIT {MOST_COMPARED}"
    );
    let values = params![scope, paths, kept.row];
    let there: Vec<(i64, String)> = connection
        .list_cached(&sql, values, |row| Ok((row.get(0)?, row.get(1).unwrap_or_default())))
        .doing(KEEPING)?;
    for (row, text) in there {
        let is_known = rivals.iter().any(|it| it.row == row);
        let is_rival = |text: &str| facet.ends(&Facet::of(text)) || is_opposite(text);
        if !is_known && beginnings.are_in(&text) && is_rival(&text) {
            let other = note_rows::find_many(connection, "row = ?1", [row])?.into_iter();
            rivals.extend(other.filter(|it| has_derived_topic(&it.note)));
        }
    }
    Ok(rivals)
}

/// Supersedes the lessons that a new rule forbids.
fn supersede_forbidden_lessons(
    connection: &Connection,
    rule: &StoredNote,
    now: Timestamp,
) -> Result<Vec<Note>> {
    const SQL: &str = "SELECT fix FROM lessons WHERE note = ?1 AND fix IS NOT NULL";
    if rule.note.status != NoteStatus::Active || rule.note.trust() < NoteTrust::Agreed {
        return Ok(Vec::new());
    }
    let everywhere = rule.note.scope == NoteScope::Universal;
    let lessons = note_rows::find_many(
        connection,
        "id IN (SELECT note FROM lessons WHERE note IS NOT NULL) AND status = 'active'
         AND source = 'extraction' AND (?1 OR scope = ?2)",
        params![everywhere, rule.note.scope.to_string()],
    )?;
    let mut forbidden = Vec::new();
    for lesson in lessons {
        let fix: Option<String> = connection.find_value(SQL, [&lesson.note.id], KEEPING)?;
        if forbids(&rule.note.text, fix.as_ref().unwrap_or(&lesson.note.text)) {
            forbidden.push(lesson);
        }
    }
    supersede_all(connection, forbidden, &rule.note.id, now)
}

/// True if the topic was derived from the text, not given explicitly.
pub(crate) fn has_derived_topic(note: &Note) -> bool {
    note.topic == derive_topic(&note.text)
}

pub(crate) fn supersede(
    connection: &Connection,
    kept: &StoredNote,
    by: &NoteId,
    now: Timestamp,
) -> Result<()> {
    connection
        .execute_cached(
            "UPDATE notes SET status = 'superseded', superseded_by = ?2, updated = ?3
             WHERE row = ?1",
            params![kept.row, by.as_str(), now.as_millis()],
        )
        .map(drop)
        .doing(KEEPING)
}

/// Supersedes several notes, and returns them as they were.
pub(crate) fn supersede_all(
    connection: &Connection,
    notes: Vec<StoredNote>,
    by: &NoteId,
    now: Timestamp,
) -> Result<Vec<Note>> {
    for note in &notes {
        supersede(connection, note, by, now)?;
    }
    Ok(notes.into_iter().map(|kept| kept.note).collect())
}

/// Sets the status of a note on the user's word; returns it and the notes that it replaced.
pub(crate) fn set_status(
    connection: &Connection,
    id: &NoteId,
    status: NoteStatus,
    what: &str,
    now: Timestamp,
) -> Result<(Note, Vec<Note>)> {
    let kept = require_note(connection, id)?;
    if status == NoteStatus::Active && kept.note.trust() == NoteTrust::Untrusted {
        return Err(Error::usage(format!(
            "{id} comes from a tool's output and cannot become a rule; if it is right, record it yourself: recoup memory add"
        )));
    }
    connection
        .execute_cached(
            "UPDATE notes SET status = ?2, superseded_by = NULL, updated = ?3 WHERE row = ?1",
            params![kept.row, status.as_str(), now.as_millis()],
        )
        .doing(KEEPING)?;
    record_evidence(connection, &kept, what, None, now)?;
    let instead_of = match status {
        NoteStatus::Active => {
            // All of them, however trusted: the user brings the note back.
            let others = rivals(connection, &require_note(connection, id)?)?;
            let instead_of = supersede_all(connection, others, id, now)?;
            allow_redelivery_to_contexts(connection, &kept, &instead_of)?;
            instead_of
        }
        _ => Vec::new(),
    };
    Ok((require_note(connection, id)?.note, instead_of))
}

/// Activates a note on evidence, unless a more trusted one has its topic.
pub(crate) fn promote(connection: &Connection, id: &NoteId, now: Timestamp) -> Result<()> {
    connection
        .execute_cached(
            "UPDATE notes SET status = 'active', updated = ?2 WHERE id = ?1",
            params![id.as_str(), now.as_millis()],
        )
        .doing(KEEPING)?;
    let kept = require_note(connection, id)?;
    record_evidence(connection, &kept, "promoted", None, now)?;
    take_topic(connection, &kept, now).map(drop)
}

/// Makes a reactivated note new to contexts that were given its replacement.
fn allow_redelivery_to_contexts(
    connection: &Connection,
    before: &StoredNote,
    instead_of: &[Note],
) -> Result<()> {
    if before.note.status == NoteStatus::Active {
        return Ok(());
    }
    let rivals = instead_of.iter().map(|note| note.id.clone());
    let rivals: Vec<NoteId> = rivals.chain(before.note.superseded_by.clone()).collect();
    deliveries::allow_redelivery(connection, &before.note.id, &rivals)
}

/// Adds an event to the history of a note.
pub(crate) fn record_evidence(
    connection: &Connection,
    kept: &StoredNote,
    what: &str,
    session: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    connection
        .execute_cached(
            "INSERT INTO evidence (note, at, session, what) VALUES (?1, ?2, ?3, ?4)",
            params![kept.row, now.as_millis(), session, what],
        )
        .map(drop)
        .doing(KEEPING)
}

/// Adds evidence that counts once for each session and detail; true if it is new.
pub(crate) fn record_evidence_once(
    connection: &Connection,
    kept: &StoredNote,
    what: &str,
    session: Option<&str>,
    detail: &str,
    now: Timestamp,
) -> Result<bool> {
    const SQL: &str = "INSERT OR IGNORE INTO evidence (note, at, session, what, detail)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![kept.row, now.as_millis(), session, what, detail];
    connection.execute_cached(SQL, values).map(|added| added > 0).doing(KEEPING)
}

/// Loads the note with this id, or fails.
pub(crate) fn require_note(connection: &Connection, id: &NoteId) -> Result<StoredNote> {
    note_rows::by_id(connection, id)?.ok_or_else(|| no_such_note_error(id))
}

pub(crate) fn no_such_note_error(id: &NoteId) -> Error {
    Error::new(
        ErrorKind::Absent,
        format!("no such memory: {id}; `recoup memory list --all` shows all ids"),
    )
}
