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
use crate::memory::db::index;
use crate::memory::db::sql::{CachedSql as _, SqlContext as _};
use crate::memory::db::{ends, note_rows, pauses};
use crate::memory::model::estimate;
use crate::memory::model::note::{
    Note, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus, NoteTrust,
};
use crate::memory::model::statement::{Statement, normalize_for_comparison};

/// Format version that this code writes. Newer ones are refused.
const VERSION: u32 = 2;

/// Format version of an export in which no note has an end: older versions read it.
const WITHOUT_ENDS: u32 = 1;

/// Fewer lines than this are not worth a thread.
const FEW_LINES: usize = 500;

/// Most evidence that is imported, so that the count can still grow.
const MOST_EVIDENCE: u64 = 1_000_000;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportHeader {
    recoup: String,
    version: u32,
}

/// A note as a line of an export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportedNote {
    id: String,
    kind: NoteKind,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quote: Option<String>,
    source: NoteSource,
    scope: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paths: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    status: NoteStatus,
    evidence: u64,
    tokens: u32,
    created: Timestamp,
    updated: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
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
    let lines = notes.into_iter().map(|note| to_json(&ExportedNote::of(note)));
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
        let read = serde_json::from_str::<ExportedNote>(line);
        let note = read.map_err(|error| error.to_string());
        let note = note.and_then(|line| line.into_note().map_err(|error| error.to_string()));
        note.map_err(|why| SkippedLine { line: at + 1, why })
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

/// Imports the notes that are not known, within the caller's transaction.
pub(crate) fn import(
    connection: &Connection,
    notes: &[Note],
    now: Timestamp,
) -> Result<NoteImportReport> {
    // An active note here that has the topic of an imported one supersedes it.
    const YIELD: &str = "UPDATE notes SET status = 'superseded', superseded_by =
            (SELECT id FROM notes AS ours WHERE ours.scope = ?2 AND ours.paths = ?3
             AND ours.topic = ?4 AND ours.status = 'active' AND ours.id <> ?1)
         WHERE id = ?1 AND status = 'active' AND EXISTS
            (SELECT 1 FROM notes AS ours WHERE ours.scope = ?2 AND ours.paths = ?3
             AND ours.topic = ?4 AND ours.status = 'active' AND ours.id <> ?1)";
    let mut imported = NoteImportReport::default();
    let mut rows: Option<(i64, i64)> = None;
    for note in notes {
        let (scope, paths) = (note.scope.to_string(), note.paths.clone().unwrap_or_default());
        let known = note_rows::find_one(
            connection,
            "id = ?1 OR (scope = ?2 AND paths = ?3 AND said = ?4) LIMIT 1",
            params![note.id.as_str(), scope, paths, normalize_for_comparison(&note.text)],
        )?;
        if known.is_some() {
            imported.known += 1;
            continue;
        }
        insert(connection, note).doing("cannot import memories")?;
        let row = connection.last_insert_rowid();
        if note.until.is_some() {
            ends::set_end(connection, row, note.until.as_deref(), note.updated)?;
        }
        index::index_note(connection, row, &note.text, note.topic.as_deref())?;
        connection
            .execute_cached(YIELD, params![note.id.as_str(), scope, paths, note.topic])
            .doing("cannot import memories")?;
        imported.added += 1;
        rows = Some(rows.map_or((row, row), |(first, last)| (first.min(row), last.max(row))));
    }
    if let Some((first, last)) = rows {
        record_import(connection, ImportBatch { at: now, first, last })?;
    }
    Ok(imported)
}

fn insert(connection: &Connection, note: &Note) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO notes (id, kind, text, quote, source, scope, paths, topic, status, said,
             evidence, tokens, created, updated, superseded_by)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .execute(params![
            note.id.as_str(),
            note.kind.as_str(),
            note.text,
            note.quote,
            note.source.as_str(),
            note.scope.to_string(),
            note.paths.clone().unwrap_or_default(),
            note.topic,
            note.status.as_str(),
            normalize_for_comparison(&note.text),
            note.evidence.cast_signed(),
            note.tokens,
            note.created.as_millis(),
            note.updated.as_millis(),
            note.superseded_by.as_ref().map(NoteId::as_str),
        ])
        .map(drop)
}

impl ExportedNote {
    fn of(note: &Note) -> Self {
        let note = note.clone();
        Self {
            id: note.id.to_string(),
            kind: note.kind,
            text: note.text,
            quote: note.quote,
            source: note.source,
            scope: note.scope.to_string(),
            paths: note.paths,
            topic: note.topic,
            until: note.until,
            status: note.status,
            evidence: note.evidence,
            tokens: note.tokens,
            created: note.created,
            updated: note.updated,
            superseded_by: note.superseded_by.map(|id| id.to_string()),
        }
    }

    fn into_note(self) -> Result<Note> {
        let scope = NoteScope::parse(&self.scope)?;
        let statement = Statement {
            quote: self.quote,
            paths: self.paths,
            topic: self.topic,
            until: self.until,
            ..Statement::new(self.kind, self.text, self.source, scope)
        };
        let statement = statement.validated()?;
        let Statement { kind, text, quote, source, scope, paths, topic, until, .. } =
            Statement::clone(&statement);
        // Output of a tool is never a rule, whatever the export says.
        let counts = source.trust() > NoteTrust::Untrusted;
        let status = if counts || self.status != NoteStatus::Active {
            self.status
        } else {
            NoteStatus::Candidate
        };
        Ok(Note {
            id: NoteId::parse(&self.id)?,
            kind,
            quote,
            source,
            scope,
            paths,
            topic,
            until,
            ends: None,
            status,
            evidence: self.evidence.clamp(1, MOST_EVIDENCE),
            tokens: estimate(&text),
            text,
            created: self.created,
            updated: self.updated,
            superseded_by: self.superseded_by.as_deref().map(NoteId::parse).transpose()?,
            idle: false,
        })
    }
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
