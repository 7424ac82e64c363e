//! Export and import of notes as lines of JSON: a header, then one line per note.
//!
//! An import keeps the notes' own times, so a query for notes newer than some time would miss them.
//! The batches in which notes were imported are therefore recorded, with their rows.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::db::facets::derive_topic;
use crate::memory::db::{CachedSql as _, Memory, StoredNote, ends, index, note_rows, pauses};
use crate::memory::model::{
    Note, NoteId, NoteScope, NoteStatus, NoteTrust, Statement, estimate, normalize_for_comparison,
};

const IMPORTING: &str = "cannot import memories";

/// Format version that this code writes. Newer ones are refused.
const VERSION: u32 = 2;

/// Format version of an export in which no note has an end: older versions read it.
const WITHOUT_ENDS: u32 = 1;

/// Fewer lines than this are not worth a thread.
const FEW_LINES: usize = 500;

/// Notes that are imported in one transaction.
const AT_ONCE: usize = 1_000;

/// Most evidence that is imported, so that the count can still grow.
const MOST_EVIDENCE: u64 = 1_000_000;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportHeader {
    recoup: String,
    version: u32,
}

/// Outcome of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoteImportReport {
    /// Notes that are new here.
    pub added: usize,
    /// Notes that were known; they stay as they are.
    pub known: usize,
}

/// Notes as lines of JSON.
pub fn export_notes(notes: &[Note]) -> String {
    let has_ends = notes.iter().any(|note| note.until.is_some());
    let version = if has_ends { VERSION } else { WITHOUT_ENDS };
    let opening = ExportHeader { recoup: "memory".to_owned(), version };
    let mut notes: Vec<&Note> = notes.iter().collect();
    notes.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    let lines = notes.into_iter().map(to_json);
    std::iter::once(to_json(&opening)).chain(lines).collect()
}

fn to_json(line: &impl Serialize) -> String {
    let mut line = serde_json::to_string(line).expect("strings and numbers always serialize");
    line.push('\n');
    line
}

/// Notes of an export, and the lines that were skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedExport {
    /// Notes that may be imported.
    pub notes: Vec<Note>,
    /// Lines that are no note, or whose note must not be kept.
    pub skipped: Vec<SkippedLine>,
}

/// A line of an export that is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedLine {
    /// Number of the line, from 1.
    pub line: usize,
    /// Reason.
    pub why: String,
}

/// Parses an export. A line that can't be used is skipped and named; an error is about the whole
/// file.
pub fn parse_export(text: &str) -> Result<ParsedExport> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let invalid =
        |at: usize, why: String| Error::new(ErrorKind::Invalid, format!("line {}: {why}", at + 1));
    let opening = lines.next().map(|(_, line)| serde_json::from_str::<ExportHeader>(line));
    match opening {
        Some(Ok(ExportHeader { recoup, version })) if recoup == "memory" && version <= VERSION => {}
        Some(Ok(ExportHeader { recoup, version })) if recoup == "memory" => {
            let message = format!("exported by a newer version of recoup (format {version})");
            return Err(Error::new(ErrorKind::TooNew, message));
        }
        _ => return Err(invalid(0, "not an export of `recoup memory export`".to_owned())),
    }
    let note = |(at, line): &(usize, &str)| {
        let note = serde_json::from_str::<Note>(line).map_err(|error| error.to_string());
        note.and_then(|note| checked(note).map_err(|error| error.to_string()))
            .map_err(|why| SkippedLine { line: at + 1, why })
    };
    let lines: Vec<(usize, &str)> = lines.collect();
    // Checking whether each may be kept dominates: the work is split among all cores.
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = lines.len().div_ceil(threads).max(FEW_LINES);
    let read: Vec<Result<Note, SkippedLine>> = thread::scope(|scope| {
        let parts: Vec<_> = lines
            .chunks(share)
            .map(|some| scope.spawn(|| some.iter().map(note).collect::<Vec<_>>()))
            .collect();
        let joined = parts.into_iter().map(thread::ScopedJoinHandle::join);
        joined.flat_map(|part| part.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let mut parsed = ParsedExport::default();
    for line in read {
        match line {
            Ok(note) => parsed.notes.push(note),
            Err(skipped) => parsed.skipped.push(skipped),
        }
    }
    Ok(parsed)
}

/// Makes a note of what another program keeps; an error says why it must not be kept here. The same
/// statement always gets the same id, so that an import knows it again, even if it was edited since.
pub fn note_from_elsewhere(statement: Statement, made: Timestamp) -> Result<Note> {
    let status = statement.first_status();
    let Statement { kind, text, quote, source, scope, paths, topic, until, .. } = statement;
    let said = normalize_for_comparison(&text);
    let place = paths.as_deref().unwrap_or_default();
    let id = NoteId::of_text(&format!("{scope}\n{place}\n{said}"));
    let topic = topic.or_else(|| derive_topic(&text));
    let (created, updated) = (made, made);
    checked(Note {
        id,
        kind,
        text,
        quote,
        source,
        scope,
        paths,
        topic,
        until,
        ends: None,
        status,
        evidence: 1,
        tokens: 0,
        created,
        updated,
        superseded_by: None,
        idle: false,
    })
}

/// Returns a note of an export as it may be kept; an error says why it must not be.
fn checked(note: Note) -> Result<Note> {
    let statement = Statement {
        quote: note.quote,
        paths: note.paths,
        topic: note.topic,
        until: note.until,
        ..Statement::new(note.kind, note.text, note.source, note.scope)
    };
    let Statement { text, quote, scope, paths, topic, until, .. } =
        Statement::clone(&*statement.validated()?);
    // Output of a tool is never a rule, whatever the export says.
    let counts = note.source.trust() > NoteTrust::Untrusted;
    let status = match note.status {
        NoteStatus::Active if !counts => NoteStatus::Candidate,
        status => status,
    };
    let (tokens, evidence) = (estimate(&text), note.evidence.clamp(1, MOST_EVIDENCE));
    Ok(Note { text, quote, scope, paths, topic, until, status, evidence, tokens, ..note })
}

impl Memory {
    /// Says for each note if an import would skip it, because it is known.
    pub fn known_notes(&self, notes: &[Note]) -> Result<Vec<bool>> {
        let known = self.read(|connection| {
            notes.iter().map(|note| Ok(find_known(connection, note)?.is_some())).collect()
        })?;
        // A memory that does not exist yet knows none.
        Ok(if notes.len() == Vec::len(&known) { known } else { vec![false; notes.len()] })
    }

    /// Imports the notes of an export that are not known here.
    pub fn import(&self, notes: &[Note]) -> Result<NoteImportReport> {
        let now = self.now();
        let mut imported = NoteImportReport::default();
        // In chunks, so that hooks can write meanwhile. An interrupted import can be repeated: what
        // it added is known then.
        for some in notes.chunks(AT_ONCE) {
            let added = self.change_durably(IMPORTING, |connection| {
                // A pause covers imports, whatever their scope.
                pauses::check_not_paused(connection, &NoteScope::Universal, now)?;
                import_unknown(connection, some, now)
            })?;
            imported.added += added;
            imported.known += some.len() - added;
        }
        if imported.added > 0 {
            self.change(IMPORTING, index::merge_segments)?;
        }
        Ok(imported)
    }
}

/// Imports the notes that are not known, within the caller's transaction; returns their number.
fn import_unknown(connection: &Connection, notes: &[Note], now: Timestamp) -> Result<usize> {
    // An active note here that has the topic of an imported one supersedes it.
    const YIELD: &str = "UPDATE notes SET status = 'superseded', superseded_by = ours.id
         FROM notes AS ours WHERE notes.id = ?1 AND notes.status = 'active' AND ours.scope = ?2
         AND ours.paths = ?3 AND ours.topic = ?4 AND ours.status = 'active' AND ours.id <> ?1";
    let mut rows = Vec::new();
    for note in notes {
        let paths = note.paths.as_deref().unwrap_or_default();
        if find_known(connection, note)?.is_some() {
            continue;
        }
        insert(connection, note)?;
        let row = connection.last_insert_rowid();
        if note.until.is_some() {
            ends::set_end(connection, row, note.until.as_deref(), note.updated)?;
        }
        index::index_note(connection, row, &note.text, note.topic.as_deref())?;
        connection.write(YIELD, params![note.id, note.scope, paths, note.topic], IMPORTING)?;
        rows.push(row);
    }
    if let (Some(first), Some(last)) = (rows.iter().min(), rows.iter().max()) {
        record_import(connection, ImportBatch { at: now, first: *first, last: *last })?;
    }
    Ok(rows.len())
}

fn find_known(connection: &Connection, note: &Note) -> Result<Option<StoredNote>> {
    let paths = note.paths.as_deref().unwrap_or_default();
    note_rows::find_one(
        connection,
        "id = ?1 OR (scope = ?2 AND paths = ?3 AND said = ?4) LIMIT 1",
        params![note.id, note.scope, paths, normalize_for_comparison(&note.text)],
    )
}

fn insert(connection: &Connection, note: &Note) -> Result<()> {
    const SQL: &str =
        "INSERT INTO notes (id, kind, text, quote, source, scope, paths, topic, status, said,
         evidence, tokens, created, updated, superseded_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let Note { id, kind, text, quote, source, scope, topic, status, tokens, .. } = note;
    let Note { created, updated, superseded_by: successor, .. } = note;
    let paths = note.paths.as_deref().unwrap_or_default();
    let (said, evidence) = (normalize_for_comparison(text), note.evidence.cast_signed());
    let values = params![
        id, kind, text, quote, source, scope, paths, topic, status, said, evidence, tokens,
        created, updated, successor
    ];
    connection.write(SQL, values, IMPORTING).map(drop)
}

/// Setting that holds the batches, as JSON.
const IMPORT_BATCHES: &str = "arrivals";
/// Most batches that are kept; older ones are merged into the oldest of these.
const MOST_BATCHES: usize = 16;

/// A batch of notes that were imported together, in the rows `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ImportBatch {
    pub(crate) at: Timestamp,
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// Records a batch, within the caller's transaction.
fn record_import(connection: &Connection, batch: ImportBatch) -> Result<()> {
    let mut all = import_batches(connection)?;
    all.push(batch);
    let surplus = all.len().saturating_sub(MOST_BATCHES);
    if surplus > 0 {
        // The surplus is merged into the oldest batch that is kept.
        let (old, kept) = all.split_at_mut(surplus);
        for old in old {
            kept[0].first = kept[0].first.min(old.first);
        }
        all.drain(..surplus);
    }
    let json = serde_json::to_string(&all).expect("numbers always serialize");
    pauses::set(connection, IMPORT_BATCHES, &json)
}

/// Batches that were imported after `then`.
pub(crate) fn imported_since(connection: &Connection, then: Timestamp) -> Result<Vec<ImportBatch>> {
    Ok(import_batches(connection)?.into_iter().filter(|batch| batch.at > then).collect())
}

fn import_batches(connection: &Connection) -> Result<Vec<ImportBatch>> {
    let json = pauses::get(connection, IMPORT_BATCHES)?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}
