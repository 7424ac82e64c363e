//! Disk space: how much of the file a scope's records take, and returning unused pages. Files of
//! this version are vacuumed incrementally; older ones are converted once, when the caller has
//! time.

use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::{marks, schema};
use crate::database::{ConnectionPool, busy, connection, fault, in_transaction};
use crate::error::{Error, ErrorKind, Result};

/// Overhead is counted from this many bytes of records on: below, it is mostly that of an empty
/// file.
const COUNTED_FROM: u64 = 4 << 20;

/// Pages returned in one step. Others may write between two steps.
const STEP: u32 = 1_000;

/// Unused pages that an eviction leaves in the file for the next records.
const SPARE: u64 = 256;

/// Maximum size of a file that is copied to enable incremental vacuum: others wait meanwhile.
const MOST_COPIED: u64 = 256 << 20;

/// Maximum size of a file that is copied to return many pages at once.
const QUICKLY_COPIED: u64 = 16 << 20;

/// How long to wait for readers before the log is emptied.
const FOR_READERS: Duration = Duration::from_millis(250);

/// Pause between two batches: waiting writers retry at this interval.
const TURN: Duration = Duration::from_millis(2);

/// Lets other writers in between two batches.
pub(super) fn let_others_write() {
    thread::sleep(TURN);
}

/// The disk space of records with this many `bytes`: their share of all used pages.
pub(super) fn disk_share(reader: &Connection, bytes: u64) -> Result<u64> {
    let all = record_bytes(reader)?;
    if all < COUNTED_FROM || bytes == 0 {
        return Ok(bytes);
    }
    let taken = u128::from(bytes) * u128::from(used_bytes(reader)?) / u128::from(all);
    Ok(u64::try_from(taken).unwrap_or(u64::MAX).max(bytes))
}

fn used_bytes(reader: &Connection) -> Result<u64> {
    let pages = pragma(reader, "page_count")?;
    let unused = pragma(reader, "freelist_count")?;
    Ok(pages.saturating_sub(unused) * pragma(reader, "page_size")?)
}

/// Batches of a long removal per checkpoint. Each batch changes pages all over the indexes, so that
/// most of them would be written again and again.
const BATCHES_PER_CHECKPOINT: usize = 8;

/// Empties the log after every [`BATCHES_PER_CHECKPOINT`] batches of a long removal.
pub(super) fn checkpoint_each(writer: &Connection, batch: usize) -> Result<()> {
    if batch % BATCHES_PER_CHECKPOINT < BATCHES_PER_CHECKPOINT - 1 {
        return Ok(());
    }
    empty_log(writer)
}

fn empty_log(writer: &Connection) -> Result<()> {
    busy::with_wait_limit(FOR_READERS, || {
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    })
    .map_err(|error| fault::from_sqlite(error, "emptying the log"))
}

/// Stops overwriting freed pages, because they are about to be returned. In a file that cannot
/// shrink they still are overwritten.
pub(super) fn leave_freed_pages(writer: &Connection) -> Result<()> {
    if pragma(writer, "auto_vacuum")? == 0 {
        return Ok(());
    }
    writer.execute_batch("PRAGMA secure_delete = FAST").map_err(measure_error)
}

/// Reverts [`leave_freed_pages`].
pub(super) fn overwrite_freed_pages(writer: &Connection) -> Result<()> {
    writer.execute_batch("PRAGMA secure_delete = ON").map_err(measure_error)
}

/// Returns some pages after an eviction, if much of the file is unused.
pub(super) fn vacuum_some(writer: &Connection) -> Result<()> {
    let unused = pragma(writer, "freelist_count")?;
    if unused > SPARE && unused > pragma(writer, "page_count")? / 4 {
        vacuum_step(writer)?;
    }
    Ok(())
}

/// Returns all unused pages and empties the log, so that removed data is in neither. On a full disk
/// there may be no room for that; the removal still counts.
pub(super) fn vacuum_all(pool: &ConnectionPool) -> Result<()> {
    ignore_full_disk(vacuum_and_empty_log(pool))
}

/// Like [`vacuum_all`], and upgrades an older file so that it can shrink.
pub(super) fn upgrade_and_vacuum(pool: &ConnectionPool) -> Result<()> {
    ignore_full_disk(upgrade_file(pool).and_then(|()| vacuum_and_empty_log(pool)))
}

fn ignore_full_disk(done: Result<()>) -> Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::Full => Ok(()),
        done => done,
    }
}

fn vacuum_and_empty_log(pool: &ConnectionPool) -> Result<()> {
    pool.write_existing(|writer| {
        let unused = pragma(writer, "freelist_count")?;
        // Copying the little that is left is faster than moving so many pages.
        if unused > u64::from(STEP) && used_bytes(writer)? <= QUICKLY_COPIED {
            let _ = writer.execute_batch("VACUUM");
        }
        Ok(())
    })?;
    loop {
        let left = pool.remove(|writer| {
            let before = pragma(writer, "freelist_count")?;
            if before > 0 {
                vacuum_step(writer)?;
            }
            let left = pragma(writer, "freelist_count")?;
            Ok(if left < before { left } else { 0 })
        })?;
        if left == 0 {
            break;
        }
        let_others_write();
    }
    pool.write_existing(|writer| empty_log(writer))
}

/// Upgrades an older file: marks, indexes and incremental vacuum. Stepwise, except for the indexes
/// and, in a small file, the copy.
fn upgrade_file(pool: &ConnectionPool) -> Result<()> {
    let is_complete = pool.read(schema::is_complete)?.unwrap_or(true);
    if !is_complete {
        let mut after = Some(i64::MIN);
        while let Some(row) = after {
            after = pool.write_existing(|writer| marks::mark_batch(writer, row))?;
            let_others_write();
        }
        pool.write_existing(|writer| {
            in_transaction(writer, "indexing the records", schema::add_indexes)
        })?;
    }
    pool.write_existing(|writer| {
        if pragma(writer, "auto_vacuum")? == 0 && used_bytes(writer)? <= MOST_COPIED {
            // Best effort: there may be no room for a copy, or others may be at work.
            let _ = writer.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;");
        }
        Ok(())
    })
}

fn vacuum_step(writer: &Connection) -> Result<()> {
    connection::vacuum_pages(writer, STEP).map_err(measure_error)
}

/// Size of all records, in every scope.
fn record_bytes(reader: &Connection) -> Result<u64> {
    reader
        .prepare_cached("SELECT coalesce(sum(bytes), 0) FROM totals")
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
        .map(|bytes| bytes.max(0).cast_unsigned())
        .map_err(measure_error)
}

fn pragma(reader: &Connection, name: &str) -> Result<u64> {
    let number = connection::pragma_number(reader, name).map_err(measure_error)?;
    Ok(number.max(0).cast_unsigned())
}

fn measure_error(error: rusqlite::Error) -> Error {
    fault::from_sqlite(error, "measuring the file")
}
