//! Recovery of a damaged memory: a fresh one is filled with every row that can still be read,
//! page by page, and with the notes that only the newest sound snapshot has.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::base::clock::{Clock as _, SystemClock};
use crate::database::DamagedPages;
use crate::error::Result;
use crate::memory::db::transaction::insert_notice;
use crate::memory::db::{CachedSql as _, SqlContext as _, index, log_mark, note_rows, snapshot};
use crate::memory::model::NoteScope;

const SALVAGING: &str = "cannot recover the readable memories";

/// Tables that are worth recovering.
const TABLES: [&str; 14] = [
    "notes", "note_ends", "checks", "evidence", "episodes", "lessons", "sightings", "checkpoints",
    "sweeps", "notices", "pauses", "settings", "events", "givings",
];

/// Columns that hold milliseconds since 1970. A smaller number is none: an index has a row number
/// in that place.
const TIMES: [&str; 5] = ["at", "created", "updated", "began", "ended"];
const EARLIEST: i64 = 100_000_000_000;

/// Fills `fresh` with what can be read of the memory at `damaged`, which goes to `place`, and
/// leaves a notice for the user. Returns how many rows the damaged file still had.
pub(crate) fn salvage(damaged: &Path, fresh: &Connection, place: &Path) -> Result<u64> {
    // Rows come in the order of their pages: a note may come after what refers to it.
    fresh.execute_batch("PRAGMA foreign_keys = OFF; BEGIN").doing(SALVAGING)?;
    let in_file = copy_rows(damaged, fresh)?;
    let mut nonsense = 0;
    for row in fresh.list_values::<i64>("SELECT row FROM notes", [], SALVAGING)? {
        if note_rows::find_one(fresh, "row = ?1", [row]).is_err() {
            let sql = "DELETE FROM notes WHERE row = ?1";
            nonsense += fresh.write(sql, [row], SALVAGING)? as u64;
        }
    }
    let in_file = in_file.saturating_sub(nonsense);
    let from_snapshot = snapshot::fill_from_newest(damaged, fresh);
    fresh
        .execute_batch(
            "DELETE FROM evidence WHERE note NOT IN (SELECT row FROM notes);
             DELETE FROM note_ends WHERE note NOT IN (SELECT row FROM notes);
             DELETE FROM checks WHERE note NOT IN (SELECT row FROM notes);
             DELETE FROM sightings WHERE lesson NOT IN (SELECT row FROM lessons);",
        )
        .doing(SALVAGING)?;
    log_mark::reset_count(fresh)?;
    // Search is rebuilt: it has nothing that the notes do not have.
    for kept in note_rows::find_many(fresh, "1", [])? {
        index::index_note(fresh, kept.row, &kept.note.text, kept.note.topic.as_deref())?;
    }
    leave_notice(fresh, place, from_snapshot.as_ref())?;
    fresh.execute_batch("COMMIT; PRAGMA foreign_keys = ON").doing(SALVAGING)?;
    Ok(in_file)
}

/// A table's columns in the order in which a row of it is stored.
struct TableShape {
    insert: String,
    /// The number of the row is inserted in front of the others.
    has_number: bool,
    columns: Vec<ColumnShape>,
}

struct ColumnShape {
    kind: ColumnKind,
    may_be_null: bool,
}

/// The type of a column's values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Text,
    Integer,
    /// Milliseconds since 1970.
    Time,
    /// The row's number, which stands in front of the record.
    RowNumber,
}

impl TableShape {
    fn of(fresh: &Connection, table: &str) -> rusqlite::Result<Self> {
        let has_number = fresh.query_row(
            "SELECT NOT wr FROM pragma_table_list WHERE name = ?1",
            [table],
            |row| row.get::<_, bool>(0),
        )?;
        // A table WITHOUT ROWID begins with its key.
        let order = if has_number { "cid" } else { "pk = 0, pk, cid" };
        let sql = format!(
            "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1) ORDER BY {order}"
        );
        let mut select = fresh.prepare(&sql)?;
        let mut inserted: Vec<String> =
            has_number.then(|| "rowid".to_owned()).into_iter().collect();
        let columns = select.query_map([table], |row| {
            let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
            let (not_null, key): (bool, i64) = (row.get(2)?, row.get(3)?);
            let kind = match kind.as_str() {
                "TEXT" => ColumnKind::Text,
                _ if has_number && key > 0 => ColumnKind::RowNumber,
                _ if TIMES.contains(&name.as_str()) => ColumnKind::Time,
                _ => ColumnKind::Integer,
            };
            // The number has been named already.
            if kind != ColumnKind::RowNumber {
                inserted.push(name);
            }
            Ok(ColumnShape { kind, may_be_null: !not_null && key == 0 })
        })?;
        let columns = columns.collect::<rusqlite::Result<Vec<_>>>()?;
        let places = vec!["?"; inserted.len()].join(", ");
        let names = inserted.join(", ");
        let insert = format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})");
        Ok(Self { insert, has_number, columns })
    }

    fn fits(&self, number: Option<i64>, values: &[Value]) -> bool {
        let fits = |(column, value): (&ColumnShape, &Value)| match (column.kind, value) {
            (ColumnKind::RowNumber, value) => *value == Value::Null,
            (_, Value::Null) => column.may_be_null,
            (ColumnKind::Text, Value::Text(_)) | (ColumnKind::Integer, Value::Integer(_)) => true,
            (ColumnKind::Time, Value::Integer(time)) => *time >= EARLIEST,
            _ => false,
        };
        number.is_some() == self.has_number
            && self.columns.len() == values.len()
            && self.columns.iter().zip(values).all(fits)
    }
}

/// Copies the readable rows and returns how many. Skips a row that is there already, or that
/// breaks a constraint of its table.
fn copy_rows(damaged: &Path, fresh: &Connection) -> Result<u64> {
    let shapes = TABLES.iter().map(|table| TableShape::of(fresh, table));
    let shapes = shapes.collect::<rusqlite::Result<Vec<_>>>().doing(SALVAGING)?;
    let mut by_width: HashMap<usize, Vec<&TableShape>> = HashMap::new();
    for shape in &shapes {
        by_width.entry(shape.columns.len()).or_default().push(shape);
    }
    let mut copied = 0;
    // A file that can't be read at all yields an empty memory.
    let Ok(pages) = DamagedPages::read(damaged) else { return Ok(0) };
    pages.each_row(&mut |row| {
        let candidates = by_width.get(&row.values.len()).into_iter().flatten();
        let mut fitting = candidates.filter(|shape| shape.fits(row.number, &row.values));
        let Some(shape) = fitting.next() else { return };
        let columns = shape.columns.iter().zip(row.values);
        let stored =
            columns.filter(|(it, _)| it.kind != ColumnKind::RowNumber).map(|(_, value)| value);
        let values = row.number.map(Value::Integer).into_iter().chain(stored);
        let inserted = fresh.execute_cached(&shape.insert, params_from_iter(values));
        copied += inserted.unwrap_or(0) as u64;
    });
    Ok(copied)
}

/// Leaves a notice for the user, which the next session in any project shows.
fn leave_notice(
    fresh: &Connection,
    place: &Path,
    from_snapshot: Option<&snapshot::SnapshotRestore>,
) -> Result<()> {
    let saved = match note_rows::count(fresh, "1", &[])? {
        0 => "no memory could be recovered".to_owned(),
        1 => "1 memory was recovered".to_owned(),
        notes => format!("{notes} memories were recovered"),
    };
    let whence = from_snapshot.filter(|it| it.notes > 0).map_or(String::new(), |it| {
        format!(", {} of them from the snapshot of {}", it.notes, it.date)
    });
    let text = format!(
        "memory.db was damaged: {saved}{whence}; the damaged file is in {}",
        place.display()
    );
    insert_notice(fresh, &NoteScope::Universal, &text, SystemClock.now())
}
