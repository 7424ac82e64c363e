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
//! ```

use rusqlite::Connection;

use super::fault;
use super::write::in_transaction;
use crate::error::{Error, ErrorKind, Result};

/// The version of these tables. A newer one is refused.
pub const VERSION: i64 = 2;

/// The version before counts had names and savings. Such a file is read as it is,
/// and changed by its first writer.
pub(super) const WITHOUT_NAMES: i64 = 1;

/// "Rcop": says that the file is ours.
pub(super) const APPLICATION_ID: u32 = 0x5263_6f70;

/// `expires` is when a record may be deleted (TTL and grace), null for never.
/// `bytes` is the body and the header as stored.
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
    full TEXT
) STRICT;
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

/// What happened, how often, and what that saved. A writer of the version before
/// that is still running leaves the new columns out.
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

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing in it yet.
    Empty,
    /// Our tables, in our version or the one before.
    Ready,
}

/// Looks at the version. The first thing that touches the file.
pub(super) fn check(connection: &Connection) -> Result<Found> {
    let mut version = pragma(connection, "user_version")?;
    if version == 0 {
        if is_empty(connection)? {
            return Ok(Found::Empty);
        }
        // Somebody may have made the tables between the two looks.
        version = pragma(connection, "user_version")?;
    }
    if pragma(connection, "application_id")? != i64::from(APPLICATION_ID) {
        return Err(Error::new(ErrorKind::Io, "the database belongs to another program"));
    }
    match version {
        WITHOUT_NAMES..=VERSION => Ok(Found::Ready),
        other if other < VERSION => {
            Err(Error::new(ErrorKind::Io, format!("its schema has the unknown version {other}")))
        }
        newer => Err(Error::new(
            ErrorKind::TooNew,
            format!(
                "it was made by a newer version of recoup (its schema is {newer}, this version knows {VERSION})"
            ),
        )),
    }
}

/// The version that the file has now.
pub(super) fn version(connection: &Connection) -> Result<i64> {
    pragma(connection, "user_version")
}

/// Brings the tables to our version, if they are not: all of it or nothing, and of
/// all who find them so, one does it.
pub(super) fn migrate(connection: &mut Connection) -> Result<()> {
    if version(connection)? >= VERSION {
        return Ok(());
    }
    in_transaction(connection, "bringing the cache to this version", |connection| {
        if version(connection)? >= VERSION {
            return Ok(());
        }
        let script = format!(
            "ALTER TABLE tallies RENAME TO earlier;
             {TALLIES}
             INSERT INTO tallies (scope, kind, day, what, count)
             SELECT scope, kind, day, what, count FROM earlier;
             DROP TABLE earlier;
             PRAGMA user_version = {VERSION};"
        );
        connection
            .execute_batch(&script)
            .map_err(|error| fault::explain(error, "bringing the cache to this version"))
    })
}

fn pragma(connection: &Connection, name: &str) -> Result<i64> {
    connection
        .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
        .map_err(|error| fault::explain(error, "reading the schema's version"))
}

fn is_empty(connection: &Connection) -> Result<bool> {
    connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
        .map(|tables| tables == 0)
        .map_err(|error| fault::explain(error, "reading the schema"))
}

/// Makes the tables in an empty file that nobody else knows yet. All of it is
/// in that file afterwards: the log begins with the first write.
pub(super) fn create(connection: &Connection) -> Result<()> {
    let script = format!(
        "PRAGMA journal_mode = MEMORY;
         BEGIN IMMEDIATE;
         {TABLES}
         {TALLIES}
         PRAGMA application_id = {APPLICATION_ID};
         PRAGMA user_version = {VERSION};
         COMMIT;
         PRAGMA journal_mode = WAL;"
    );
    connection
        .execute_batch(&script)
        .map_err(|error| fault::explain(error, "creating the cache's tables"))
}
