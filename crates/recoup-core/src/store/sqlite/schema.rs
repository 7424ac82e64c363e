//! The tables, and the version that says which code may use them.
//!
//! ```text
//! entries   one row for each record: what is searched and counted in columns,
//!           the header as JSON, the body inline unless it is large
//! fulls     full results, each once for the entries of a scope and kind that
//!           share it; it goes with the last of them
//! chunks    the frames of large bodies, by the random number in `frames`
//! totals    entries and bytes for each scope and kind, kept by triggers, so
//!           that a write need not count
//! tallies   what happened, for each scope, kind, day and name, and what it saved
//! folded    the batches of events that are counted in tallies
//! mark_sets what entries can be selected by, each once for those that have it in common
//! ```

use rusqlite::{Connection, params};

use super::write;
use crate::database::{DatabaseLayout, SqlContext as _};
use crate::entry::Header;
use crate::error::Result;
use crate::store::nearest::PartSketch;

const MIGRATING: &str = "cannot migrate the cache";

/// Schema version. A file with a newer one is refused.
pub const VERSION: i64 = 3;

/// The version without marks and incremental vacuum. The first writer adds what takes no time; in a
/// large file `clear` and `cleanup` do the rest.
const WITHOUT_MARKS: i64 = 2;

/// Files with more entries than this are upgraded stepwise.
const MAX_ENTRIES_AT_ONCE: i64 = 20_000;

/// The version without sketches and without names and savings in the tallies. Such a file is read
/// as it is, and upgraded by its first writer.
pub(super) const WITHOUT_SKETCHES: i64 = 1;

/// "Rcop": identifies the file as ours.
const APPLICATION_ID: u32 = 0x5263_6f70;

/// `expires` is when a record may be deleted (TTL and grace), null for never. `bytes` is the size
/// of body and header as stored. `sketch` is a [`PartSketch`] of the key's parts, null if a version-1
/// writer stored the record. `mark_set` refers to the record's marks and `marked_at` is the
/// `stored_at` they belong to, so that a write by an older version, which leaves them stale, is
/// noticed.
const TABLES: &str = "
CREATE TABLE entries (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    expires INTEGER,
    stored_at INTEGER NOT NULL,
    last_used INTEGER NOT NULL,
    hits INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL,
    header BLOB NOT NULL,
    body BLOB,
    frames INTEGER,
    full TEXT,
    sketch BLOB,
    mark_set INTEGER,
    marked_at INTEGER
) STRICT;
CREATE INDEX entries_sketch ON entries (scope, kind, sketch, stored_at);
CREATE UNIQUE INDEX entries_id ON entries (scope, key);
CREATE INDEX entries_expiry ON entries (expires) WHERE expires IS NOT NULL;
CREATE INDEX entries_use ON entries (scope, kind, last_used);

CREATE INDEX entries_full ON entries (scope, kind, full) WHERE full IS NOT NULL;

CREATE TABLE fulls (
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    body BLOB,
    frames INTEGER
) STRICT;
CREATE UNIQUE INDEX fulls_id ON fulls (scope, kind, sha256);

CREATE TABLE chunks (
    frames INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (frames, seq)
) STRICT;

CREATE TABLE totals (
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (scope, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE folded (batch TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TRIGGER entries_in AFTER INSERT ON entries BEGIN
    INSERT INTO totals VALUES (new.scope, new.kind, 1, new.bytes)
    ON CONFLICT DO UPDATE SET entries = entries + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER entries_out AFTER DELETE ON entries BEGIN
    UPDATE totals SET entries = entries - 1, bytes = bytes - old.bytes
    WHERE scope = old.scope AND kind = old.kind;
END;
CREATE TRIGGER entries_out_more AFTER DELETE ON entries
WHEN old.frames IS NOT NULL OR old.full IS NOT NULL BEGIN
    DELETE FROM chunks WHERE frames = old.frames;
    DELETE FROM fulls WHERE scope = old.scope AND kind = old.kind AND sha256 = old.full
    AND NOT EXISTS (SELECT 1 FROM entries WHERE scope = old.scope AND kind = old.kind AND full = old.full);
END;
CREATE TRIGGER entries_replaced AFTER UPDATE OF header ON entries BEGIN
    UPDATE totals SET entries = entries - 1, bytes = bytes - old.bytes
    WHERE scope = old.scope AND kind = old.kind;
    INSERT INTO totals VALUES (new.scope, new.kind, 1, new.bytes)
    ON CONFLICT DO UPDATE SET entries = entries + 1, bytes = bytes + excluded.bytes;
    DELETE FROM chunks WHERE frames = old.frames;
    DELETE FROM fulls WHERE scope = old.scope AND kind = old.kind AND sha256 = old.full
    AND NOT EXISTS (SELECT 1 FROM entries WHERE scope = old.scope AND kind = old.kind AND full = old.full);
END;
CREATE TRIGGER fulls_in AFTER INSERT ON fulls BEGIN
    INSERT INTO totals VALUES (new.scope, new.kind, 0, new.bytes)
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER fulls_replaced AFTER UPDATE ON fulls BEGIN
    UPDATE totals SET bytes = bytes - old.bytes + new.bytes
    WHERE scope = new.scope AND kind = new.kind;
    DELETE FROM chunks WHERE frames = old.frames;
END;
CREATE TRIGGER fulls_out AFTER DELETE ON fulls BEGIN
    UPDATE totals SET bytes = bytes - old.bytes WHERE scope = old.scope AND kind = old.kind;
    DELETE FROM chunks WHERE frames = old.frames;
END;
";

/// Event counts, and what the events saved. A running writer of the previous version leaves the new
/// columns out.
const TALLIES: &str = "
CREATE TABLE tallies (
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    day INTEGER NOT NULL,
    what TEXT NOT NULL,
    by TEXT NOT NULL DEFAULT '',
    count INTEGER NOT NULL,
    millis INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    micro_dollars INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, kind, day, what, by)
) STRICT, WITHOUT ROWID;
";

/// The part of the marks schema that can be added at once to a file of any size.
const MARKS: &str = "
CREATE TABLE mark_sets (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    digest BLOB NOT NULL,
    marks TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX mark_sets_id ON mark_sets (scope, digest);
CREATE TRIGGER entries_unmarked AFTER UPDATE OF header ON entries
WHEN new.mark_set IS NOT NULL AND new.marked_at IS NOT new.stored_at BEGIN
    UPDATE entries SET mark_set = NULL WHERE rowid = new.rowid;
END;
";

/// Indexes over all entries, and the triggers that need them. A large file of an earlier version
/// gets them with the next `clear` or `cleanup`.
const INDEXES: &str = "
CREATE INDEX IF NOT EXISTS entries_recent ON entries (scope, stored_at);
CREATE INDEX IF NOT EXISTS entries_served ON entries (scope) WHERE hits > 0;
CREATE INDEX IF NOT EXISTS entries_marks ON entries (mark_set) WHERE mark_set > 0;
CREATE INDEX IF NOT EXISTS entries_without_marks ON entries (scope) WHERE mark_set IS NULL;
CREATE TRIGGER IF NOT EXISTS marks_out AFTER DELETE ON entries WHEN old.mark_set > 0 BEGIN
    DELETE FROM mark_sets WHERE id = old.mark_set
    AND NOT EXISTS (SELECT 1 FROM entries WHERE mark_set = old.mark_set AND mark_set > 0);
END;
CREATE TRIGGER IF NOT EXISTS marks_replaced AFTER UPDATE OF mark_set ON entries
WHEN old.mark_set > 0 AND new.mark_set IS NOT old.mark_set BEGIN
    DELETE FROM mark_sets WHERE id = old.mark_set
    AND NOT EXISTS (SELECT 1 FROM entries WHERE mark_set = old.mark_set AND mark_set > 0);
END;
";

/// Description of the cache database.
pub(super) static LAYOUT: DatabaseLayout = DatabaseLayout {
    name: "cache",
    elsewhere: "choose another place with --store sqlite:PATH",
    application_id: APPLICATION_ID,
    version: VERSION,
    first: WITHOUT_SKETCHES,
    oldest: WITHOUT_SKETCHES,
    pragmas: "",
    creation_pragmas: "PRAGMA auto_vacuum = INCREMENTAL;",
    cache: 64 << 10,
    backs_up: false,
    tables: &[TABLES, TALLIES, MARKS],
    deferred: INDEXES,
    migrate,
    rescue: None,
};

fn migrate(connection: &Connection, from: i64) -> Result<()> {
    if from <= WITHOUT_SKETCHES {
        add_sketches(connection)?;
        let script = format!(
            "ALTER TABLE tallies RENAME TO earlier;
             {TALLIES}
             INSERT INTO tallies (scope, kind, day, what, count)
             SELECT scope, kind, day, what, count FROM earlier;
             DROP TABLE earlier;"
        );
        connection.execute_batch(&script).doing(MIGRATING)?;
    }
    if from <= WITHOUT_MARKS {
        let script = format!(
            "ALTER TABLE entries ADD COLUMN mark_set INTEGER;
             ALTER TABLE entries ADD COLUMN marked_at INTEGER;
             {MARKS}"
        );
        connection.execute_batch(&script).doing(MIGRATING)?;
        let entries: i64 = connection
            .query_row("SELECT coalesce(sum(entries), 0) FROM totals", [], |row| row.get(0))
            .doing(MIGRATING)?;
        if entries <= MAX_ENTRIES_AT_ONCE {
            write::mark_all(connection)?;
            add_indexes(connection)?;
        }
    }
    Ok(())
}

/// Adds the indexes that a large file of an earlier version still lacks.
pub(super) fn add_indexes(connection: &Connection) -> Result<()> {
    if is_complete(connection)? {
        return Ok(());
    }
    connection.execute_batch(INDEXES).doing(MIGRATING)
}

/// True if the file has all indexes of this version.
pub(super) fn is_complete(connection: &Connection) -> Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'marks_replaced')")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .doing("cannot read the schema")
}

fn add_sketches(connection: &Connection) -> Result<()> {
    connection.execute_batch("ALTER TABLE entries ADD COLUMN sketch BLOB;").doing(MIGRATING)?;
    let mut all = connection.prepare("SELECT rowid, header FROM entries").doing(MIGRATING)?;
    let mut set =
        connection.prepare("UPDATE entries SET sketch = ?2 WHERE rowid = ?1").doing(MIGRATING)?;
    let mut rows = all.query([]).doing(MIGRATING)?;
    while let Some(row) = rows.next().doing(MIGRATING)? {
        let (id, header): (i64, Vec<u8>) =
            (row.get(0).doing(MIGRATING)?, row.get(1).doing(MIGRATING)?);
        // An unreadable record has no sketch.
        let Ok(header) = Header::from_json(&header) else { continue };
        set.execute(params![id, PartSketch::of(&header.parts).as_bytes()]).doing(MIGRATING)?;
    }
    connection
        .execute_batch("CREATE INDEX entries_sketch ON entries (scope, kind, sketch, stored_at);")
        .doing(MIGRATING)
}
