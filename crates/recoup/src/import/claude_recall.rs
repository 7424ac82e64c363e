//! claude-recall: its database and its JSON exports.
//!
//! Most of what it holds was picked out of prompts by patterns that may lose the negation, or was
//! written by an agent or a model, and its rows do not tell which. So only what was typed at its
//! command line comes in as the user's; the rest waits for them.

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::{NoteKind, NoteSource, Statement, WorkCheckpoint};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::{Map, Value};

use super::foreign_database::{ForeignDatabase, ForeignRow};
use super::sink::{ImportSink, ItemKind, moment};

/// Columns without which a table `memories` is another program's.
pub(super) const COLUMNS: [&str; 4] = ["key", "value", "type", "timestamp"];
/// Columns of the table of checkpoints, whose name has changed.
const CHECKPOINT_COLUMNS: [&str; 3] = ["project_id", "completed", "remaining"];

/// Texts that its own tests left in the database of their user.
const TEST_ROWS: [&str; 4] = [
    "test preference ", "session test preference ", "memory with complex metadata",
    "test memory content",
];
/// Advice that it adds to everything.
const BOILERPLATE: [&str; 4] = [
    "check inputs and prerequisites", "verify inputs are correct", "check preconditions",
    "promoted from ",
];
/// Put before texts that were found before a compaction.
const COMPACTION_MARK: &str = "[PreCompact] ";

/// A row, from the database or from an export.
struct RecallRow {
    key: String,
    kind: String,
    value: Option<Value>,
    project: Option<String>,
    made: Timestamp,
    is_active: bool,
    is_superseded: bool,
    scope: Option<String>,
}

pub(super) fn read_database(database: &ForeignDatabase, sink: &mut ImportSink<'_>) -> Result<()> {
    database.each_row("memories", "timestamp", &mut |row| {
        take(&RecallRow::of_database(row), sink);
        Ok(())
    })?;
    for table in database.tables()? {
        if database.has_columns(&table, &CHECKPOINT_COLUMNS)? {
            database.each_row(&table, "project_id", &mut |row| take_checkpoint(row, sink))?;
        }
    }
    Ok(())
}

/// The rows of an export; none if the JSON is something else.
pub(super) fn parse_export(json: &[u8]) -> Result<Option<Vec<Value>>> {
    let parsed: Value = serde_json::from_slice(json).map_err(|error| {
        Error::new(ErrorKind::Invalid, "the JSON can't be read").with_source(error)
    })?;
    match parsed {
        Value::Object(mut fields) => Ok(match fields.remove("memories") {
            Some(Value::Array(rows)) => Some(rows),
            _ => None,
        }),
        _ => Ok(None),
    }
}

pub(super) fn read_export(mut rows: Vec<Value>, sink: &mut ImportSink<'_>) {
    rows.sort_by_key(|row| row["timestamp"].as_i64());
    for row in rows {
        match row {
            Value::Object(fields) => take(&RecallRow::of_export(fields), sink),
            other => sink.leave_out(ItemKind::Memory, &other.to_string(), "it is no memory"),
        }
    }
}

impl RecallRow {
    fn of_database(row: &ForeignRow<'_>) -> Self {
        Self {
            key: row.text("key").unwrap_or_default(),
            kind: row.text("type").unwrap_or_default(),
            value: row.bytes("value").and_then(|json| serde_json::from_slice(json).ok()),
            project: row.text("project_id"),
            made: moment(row.integer("timestamp")),
            is_active: row.integer("is_active") != Some(0),
            is_superseded: row.text("superseded_by").is_some_and(|by| !by.is_empty()),
            scope: row.text("scope"),
        }
    }

    fn of_export(mut fields: Map<String, Value>) -> Self {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            key: text("key").unwrap_or_default(),
            kind: text("type").unwrap_or_default(),
            project: text("project_id"),
            made: moment(fields.get("timestamp").and_then(Value::as_i64)),
            is_active: !matches!(fields.get("is_active"), Some(Value::Bool(false))),
            is_superseded: text("superseded_by").is_some_and(|by| !by.is_empty()),
            scope: text("scope"),
            value: fields.remove("value"),
        }
    }

    /// The statement. A sentence that was taken over as it is counts more than a value that was
    /// made of it.
    fn text(&self) -> Option<String> {
        let said = match self.value.as_ref()? {
            Value::String(text) => text,
            Value::Object(fields) => ["raw", "content", "value", "title"]
                .into_iter()
                .find_map(|name| fields.get(name).and_then(Value::as_str))?,
            _ => return None,
        };
        let said = said.strip_prefix(COMPACTION_MARK).unwrap_or(said).trim();
        (!said.is_empty()).then(|| said.to_owned())
    }

    /// True if a person typed it at the command line of claude-recall.
    fn is_typed(&self) -> bool {
        let source = self.value.as_ref().and_then(|value| value.get("source"));
        self.key.starts_with("cli_") && source.and_then(Value::as_str) == Some("cli")
    }
}

/// Kind of the rows that are statements; the reason for the others.
fn kind_of(kind: &str) -> Result<NoteKind, String> {
    match kind {
        "preference" => Ok(NoteKind::Preference),
        "correction" => Ok(NoteKind::Correction),
        "devops" => Ok(NoteKind::Devops),
        "project-knowledge" => Ok(NoteKind::ProjectKnowledge),
        "failure" => Err("made of a tool's output: failures are learned anew".to_owned()),
        kind => Err(format!("a record of the kind {kind:?}, not a statement")),
    }
}

fn take(row: &RecallRow, sink: &mut ImportSink<'_>) {
    let Some(text) = row.text() else {
        let why = if row.value.is_some() { "it has no text" } else { "its value is not JSON" };
        return sink.leave_out(ItemKind::Memory, &row.key, why);
    };
    let begins = |texts: &[&str]| {
        let folded = text.to_lowercase();
        texts.iter().any(|start| folded.starts_with(start))
    };
    let scope = match (row.scope.as_deref(), row.project.as_deref()) {
        (Some("universal"), _) => Ok(sink.universal()),
        (_, project) => sink.scope_of_project(project),
    };
    let wanted = match (kind_of(&row.kind), scope) {
        _ if row.is_superseded => Err("superseded there".to_owned()),
        _ if !row.is_active => Err("no longer active there".to_owned()),
        _ if begins(&TEST_ROWS) => Err("a row that its tests left".to_owned()),
        _ if begins(&BOILERPLATE) => Err("advice that says nothing".to_owned()),
        (Err(why), _) | (_, Err(why)) => Err(why),
        (Ok(kind), Ok(scope)) => Ok((kind, scope)),
    };
    match wanted {
        Err(why) => sink.leave_out(ItemKind::Memory, &text, &why),
        Ok((kind, scope)) => {
            let source = if row.is_typed() { NoteSource::User } else { NoteSource::Import };
            sink.add_note(Statement::new(kind, text, source, scope), row.made);
        }
    }
}

fn take_checkpoint(row: &ForeignRow<'_>, sink: &mut ImportSink<'_>) -> Result<()> {
    let list = |column: &str| {
        let text = row.text(column).unwrap_or_default();
        let text = text.trim();
        if text.is_empty() || text == "none" { Vec::new() } else { vec![text.to_owned()] }
    };
    let (completed, remaining, blockers) = (list("completed"), list("remaining"), list("blockers"));
    let notes = list("notes").pop();
    let made = row.integer("updated_at").or_else(|| {
        row.text("updated_at").and_then(|at| Timestamp::parse(&at)).map(Timestamp::as_millis)
    });
    let checkpoint = WorkCheckpoint { completed, remaining, blockers, notes };
    sink.add_checkpoint(row.text("project_id").as_deref(), &checkpoint, moment(made))
}
