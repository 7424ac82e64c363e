//! Recording of statements, and changes of mind: a repeated statement is a confirmation, and of two
//! on one topic the newer counts.

use rusqlite::{Connection, params};

use super::inject::estimate;
use super::rows::{self, Kept};
use super::search;
use super::statement::{Statement, said};
use super::topic::{around, overturns, topic};
use super::{Note, NoteId, Status, Trust, givings, learn};
use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, ErrorKind, Result};

/// Outcome of recording a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
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

impl Recorded {
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

/// Attributes that are stored with a statement, beside its own fields.
#[derive(Debug)]
pub(super) struct Details {
    pub(super) topic: Option<String>,
    pub(super) tokens: u32,
    pub(super) now: Timestamp,
    /// True if the statement is reported late: what was said since then is newer.
    pub(super) late: bool,
}

impl Details {
    pub(super) fn of(statement: &Statement, now: Timestamp) -> Self {
        let (topic, tokens) = (statement.topic.clone(), estimate(&statement.text));
        Self { topic, tokens, now, late: false }
    }
}

/// Records a statement that has passed the checks, within the caller's transaction.
pub(super) fn record(
    connection: &Connection,
    statement: &Statement,
    details: &Details,
) -> Result<Recorded> {
    let place = Place::of(statement);
    let known = rows::one(
        connection,
        "scope = ?1 AND paths = ?2 AND said = ?3",
        params![place.scope, place.paths, said(&statement.text)],
    )?;
    match known {
        None => insert(connection, statement, details),
        Some(known) => confirm(connection, &known, statement, details),
    }
}

/// Scope and paths of a note: notes compete only if both are equal.
struct Place {
    scope: String,
    paths: String,
}

impl Place {
    fn of(statement: &Statement) -> Self {
        Self {
            scope: statement.scope.to_string(),
            paths: statement.paths.clone().unwrap_or_default(),
        }
    }

    fn of_note(note: &Note) -> Self {
        Self { scope: note.scope.to_string(), paths: note.paths.clone().unwrap_or_default() }
    }
}

fn insert(connection: &Connection, statement: &Statement, details: &Details) -> Result<Recorded> {
    const SQL: &str = "INSERT INTO notes (id, kind, text, quote, source, scope, paths, topic,
                       status, said, tokens, created, updated)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)";
    let place = Place::of(statement);
    let (id, now) = (unused(connection)?, details.now.as_millis());
    connection
        .prepare_cached(SQL)
        .and_then(|mut insert| {
            insert.execute(params![
                id.as_str(),
                statement.kind.as_str(),
                statement.text,
                statement.quote,
                statement.source.as_str(),
                place.scope,
                place.paths,
                details.topic,
                statement.first_status().as_str(),
                said(&statement.text),
                details.tokens,
                now,
            ])
        })
        .map_err(keeping)?;
    let kept = demand(connection, &id)?;
    search::put(connection, kept.row, &kept.note.text, kept.note.topic.as_deref())?;
    testify(connection, &kept, heard_as(statement), statement.session.as_deref(), details.now)?;
    let mut instead_of = take_its_topic(connection, &kept, details)?;
    instead_of.extend(learn::give_way(connection, &kept, details.now)?);
    Ok(Recorded::Stored { note: demand(connection, &id)?.note, instead_of })
}

/// Adds evidence to a known note. A statement that was only inferred reactivates nothing.
fn confirm(
    connection: &Connection,
    known: &Kept,
    statement: &Statement,
    details: &Details,
) -> Result<Recorded> {
    const SQL: &str = "UPDATE notes SET evidence = evidence + 1, updated = ?2, status = ?3,
                       source = ?4, quote = ?5, superseded_by = CASE WHEN ?3 = 'active'
                       THEN NULL ELSE superseded_by END WHERE row = ?1";
    // A less trusted source reactivates nothing that a more trusted one gave up.
    let counts =
        statement.first_status() == Status::Active || is_said_again(connection, known, statement)?;
    let revived = counts && statement.source.trust() >= known.note.trust();
    let status = if revived { Status::Active } else { known.note.status };
    let more_trusted = !statement.tentative && statement.source.trust() > known.note.trust();
    let (source, quote) = if more_trusted {
        (statement.source, statement.quote.as_ref().or(known.note.quote.as_ref()))
    } else {
        (known.note.source, known.note.quote.as_ref())
    };
    let now = details.now.as_millis();
    connection
        .prepare_cached(SQL)
        .and_then(|mut update| {
            update.execute(params![known.row, now, status.as_str(), source.as_str(), quote])
        })
        .map_err(keeping)?;
    testify(connection, known, heard_as(statement), statement.session.as_deref(), details.now)?;
    let kept = demand(connection, &known.note.id)?;
    let mut instead_of = take_its_topic(connection, &kept, details)?;
    instead_of.extend(learn::give_way(connection, &kept, details.now)?);
    if revived {
        give_again(connection, known, &instead_of)?;
    }
    let revived = revived && known.note.status != Status::Active;
    Ok(Recorded::Confirmed { note: demand(connection, &known.note.id)?.note, instead_of, revived })
}

/// Evidence label of a statement: only what a person said confirms what a person said.
fn heard_as(statement: &Statement) -> &'static str {
    if statement.tentative { "unattended" } else { "said" }
}

/// True if a person repeats a candidate that a person said in another session.
fn is_said_again(connection: &Connection, known: &Kept, statement: &Statement) -> Result<bool> {
    if statement.tentative || known.note.status != Status::Candidate {
        return Ok(false);
    }
    connection
        .prepare_cached(
            "SELECT 1 FROM evidence WHERE note = ?1 AND what = 'said' AND session <> ?2",
        )
        .and_then(|mut select| select.exists(params![known.row, statement.session]))
        .map_err(keeping)
}

/// Lets an active note take its topic: other notes there are superseded, unless they are more
/// trusted; then the note itself is.
pub(super) fn take_the_topic(
    connection: &Connection,
    kept: &Kept,
    now: Timestamp,
) -> Result<Vec<Note>> {
    let trusted_more = |other: &Note| other.trust() > kept.note.trust();
    take_unless(connection, kept, now, &trusted_more)
}

/// Lets a recorded statement take its topic. One that is reported late also yields to what was said
/// since.
fn take_its_topic(connection: &Connection, kept: &Kept, details: &Details) -> Result<Vec<Note>> {
    let stronger = |other: &Note| {
        other.trust() > kept.note.trust() || (details.late && other.updated > details.now)
    };
    take_unless(connection, kept, details.now, &stronger)
}

fn take_unless(
    connection: &Connection,
    kept: &Kept,
    now: Timestamp,
    stronger: &dyn Fn(&Note) -> bool,
) -> Result<Vec<Note>> {
    if kept.note.status != Status::Active {
        return Ok(Vec::new());
    }
    let others = rivals(connection, kept)?;
    let stronger = |other: &&Kept| stronger(&other.note);
    if let Some(stronger) = others.iter().find(stronger) {
        supersede(connection, kept, &stronger.note.id, now)?;
        return Ok(Vec::new());
    }
    for other in &others {
        supersede(connection, other, &kept.note.id, now)?;
    }
    Ok(others.into_iter().map(|other| other.note).collect())
}

/// Active notes that contradict a note: on the same topic, or its very opposite if both topics were
/// derived from the text.
pub(super) fn rivals(connection: &Connection, kept: &Kept) -> Result<Vec<Kept>> {
    let place = Place::of_note(&kept.note);
    let said = by_its_words(&kept.note);
    let topics =
        if said { around(&kept.note.text) } else { kept.note.topic.iter().cloned().collect() };
    let mut rivals = Vec::new();
    for topic in topics {
        let there = rows::many(
            connection,
            "scope = ?1 AND paths = ?2 AND topic = ?3 AND status = 'active' AND row <> ?4",
            params![place.scope, place.paths, topic, kept.row],
        )?;
        let same_topic = kept.note.topic == Some(topic);
        rivals.extend(there.into_iter().filter(|other| {
            same_topic
                || (by_its_words(&other.note) && overturns(&kept.note.text, &other.note.text))
        }));
    }
    Ok(rivals)
}

/// True if the topic was derived from the text, not given explicitly.
pub(super) fn by_its_words(note: &Note) -> bool {
    note.topic == topic(&note.text)
}

pub(super) fn supersede(
    connection: &Connection,
    kept: &Kept,
    by: &NoteId,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE notes SET status = 'superseded', superseded_by = ?2, updated = ?3
             WHERE row = ?1",
        )
        .and_then(|mut update| update.execute(params![kept.row, by.as_str(), now.as_millis()]))
        .map(drop)
        .map_err(keeping)
}

/// Sets the status of a note on the user's word; returns it and the notes that it replaced.
pub(super) fn set_status(
    connection: &Connection,
    id: &NoteId,
    status: Status,
    what: &str,
    now: Timestamp,
) -> Result<(Note, Vec<Note>)> {
    let kept = demand(connection, id)?;
    if status == Status::Active && kept.note.trust() == Trust::Untrusted {
        return Err(Error::usage(format!(
            "{id} came out of a tool, and never becomes a rule; if it is right, say so yourself: recoup memory add"
        )));
    }
    connection
        .prepare_cached(
            "UPDATE notes SET status = ?2, superseded_by = NULL, updated = ?3 WHERE row = ?1",
        )
        .and_then(|mut update| update.execute(params![kept.row, status.as_str(), now.as_millis()]))
        .map_err(keeping)?;
    testify(connection, &kept, what, None, now)?;
    let instead_of = match status {
        Status::Active => {
            let instead_of = give_way(connection, &demand(connection, id)?, now)?;
            give_again(connection, &kept, &instead_of)?;
            instead_of
        }
        _ => Vec::new(),
    };
    Ok((demand(connection, id)?.note, instead_of))
}

/// Activates a note on evidence, unless a more trusted one has its topic.
pub(super) fn promote(connection: &Connection, id: &NoteId, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached("UPDATE notes SET status = 'active', updated = ?2 WHERE id = ?1")
        .and_then(|mut update| update.execute(params![id.as_str(), now.as_millis()]))
        .map_err(keeping)?;
    let kept = demand(connection, id)?;
    testify(connection, &kept, "promoted", None, now)?;
    take_the_topic(connection, &kept, now).map(drop)
}

/// Supersedes all rivals of a note that the user brings back, however trusted.
fn give_way(connection: &Connection, kept: &Kept, now: Timestamp) -> Result<Vec<Note>> {
    let others = rivals(connection, kept)?;
    for other in &others {
        supersede(connection, other, &kept.note.id, now)?;
    }
    Ok(others.into_iter().map(|other| other.note).collect())
}

/// Makes a reactivated note new to contexts that were given its replacement.
fn give_again(connection: &Connection, before: &Kept, instead_of: &[Note]) -> Result<()> {
    if before.note.status == Status::Active {
        return Ok(());
    }
    let rivals = instead_of.iter().map(|note| note.id.clone());
    let rivals: Vec<NoteId> = rivals.chain(before.note.superseded_by.clone()).collect();
    givings::regain(connection, &before.note.id, &rivals)
}

/// Adds an event to the history of a note.
pub(super) fn testify(
    connection: &Connection,
    kept: &Kept,
    what: &str,
    session: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO evidence (note, at, session, what) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut insert| insert.execute(params![kept.row, now.as_millis(), session, what]))
        .map(drop)
        .map_err(keeping)
}

/// Loads the note with this id, or fails.
pub(super) fn demand(connection: &Connection, id: &NoteId) -> Result<Kept> {
    rows::by_id(connection, id)?.ok_or_else(|| absent(id))
}

pub(super) fn absent(id: &NoteId) -> Error {
    Error::new(
        ErrorKind::Absent,
        format!("there is no memory {id}; `recoup memory list --all` shows them"),
    )
}

fn unused(connection: &Connection) -> Result<NoteId> {
    loop {
        let id = NoteId::fresh();
        if rows::by_id(connection, &id)?.is_none() {
            return Ok(id);
        }
    }
}

pub(super) fn keeping(error: rusqlite::Error) -> Error {
    fault::explain(error, "keeping a memory")
}
