//! Room on the disk: how much of the file a scope's records take, and giving back what is no
//! longer used. Files of this version are vacuumed in steps; an older one is made such a file
//! once, when somebody has the time.

use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::{marks, schema};
use crate::database::{Pool, busy, connection, fault, in_transaction};
use crate::error::{Error, ErrorKind, Result};

/// Overhead is counted from so many bytes of records on: below, it is mostly that of an empty
/// file.
const COUNTED_FROM: u64 = 4 << 20;

/// Pages that one step gives back. Others may write between two steps.
const STEP: u32 = 1_000;

/// Unused pages that an eviction leaves in the file for the next records.
const SPARE: u64 = 256;

/// The most that is copied to make an older file one that shrinks: others wait for so long.
const MOST_COPIED: u64 = 256 << 20;

/// The most that is copied to give back many pages at once.
const QUICKLY_COPIED: u64 = 16 << 20;

/// How long it is waited for readers, so that the log can be emptied.
const FOR_READERS: Duration = Duration::from_millis(250);

/// Between two batches: whoever waits for the lock looks for it in steps of this length.
const TURN: Duration = Duration::from_millis(2);

/// Lets others write who have been waiting for the last batch to end.
pub(super) fn let_others_write() {
    thread::sleep(TURN);
}

/// Returns the room on the disk of records of so many `bytes`: their share of all pages in use.
pub(super) fn on_disk(reader: &Connection, bytes: u64) -> Result<u64> {
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

/// Batches of a long removal whose pages are written to the file together. Each batch changes
/// pages all over the indexes, so that most of them would be written again and again.
const BATCHES_PER_CHECKPOINT: usize = 8;

/// Empties the log after some of the batches of a long removal.
pub(super) fn checkpoint_each(writer: &Connection, batch: usize) -> Result<()> {
    if batch % BATCHES_PER_CHECKPOINT < BATCHES_PER_CHECKPOINT - 1 {
        return Ok(());
    }
    empty_log(writer)
}

fn empty_log(writer: &Connection) -> Result<()> {
    busy::within(FOR_READERS, || {
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    })
    .map_err(|error| fault::explain(error, "emptying the log"))
}

/// From now on, pages that become unused are not overwritten: they are about to be given back.
/// In a file that can't shrink they still are.
pub(super) fn leave_freed_pages(writer: &Connection) -> Result<()> {
    if pragma(writer, "auto_vacuum")? == 0 {
        return Ok(());
    }
    writer.execute_batch("PRAGMA secure_delete = FAST").map_err(counting)
}

/// Takes that back.
pub(super) fn overwrite_freed_pages(writer: &Connection) -> Result<()> {
    writer.execute_batch("PRAGMA secure_delete = ON").map_err(counting)
}

/// Gives back a little of what an eviction has left unused, if that is much of the file.
pub(super) fn give_some_back(writer: &Connection) -> Result<()> {
    let unused = pragma(writer, "freelist_count")?;
    if unused > SPARE && unused > pragma(writer, "page_count")? / 4 {
        vacuum_step(writer)?;
    }
    Ok(())
}

/// Gives back everything that is unused, and empties the log: what was removed is then in
/// neither. On a full disk there may be no room to do so, and what was removed is removed all
/// the same.
pub(super) fn give_all_back(pool: &Pool) -> Result<()> {
    unless_full(give_back(pool))
}

/// The same, and makes an older file one that shrinks.
pub(super) fn give_back_thoroughly(pool: &Pool) -> Result<()> {
    unless_full(complete(pool).and_then(|()| give_back(pool)))
}

fn unless_full(done: Result<()>) -> Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::Full => Ok(()),
        done => done,
    }
}

fn give_back(pool: &Pool) -> Result<()> {
    pool.write_existing(|writer| {
        let unused = pragma(writer, "freelist_count")?;
        // A copy of the little that is left is written faster than so many pages are moved.
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

/// Makes an older file like one of this version: marks, indexes, and pages that can be given
/// back. Stepwise, except for the indexes and, in a small file, the copy.
fn complete(pool: &Pool) -> Result<()> {
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
            // It stays as it is where there is no room for a copy, or others are at work.
            let _ = writer.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;");
        }
        Ok(())
    })
}

fn vacuum_step(writer: &Connection) -> Result<()> {
    connection::vacuum_pages(writer, STEP).map_err(counting)
}

/// Returns the bytes of all records, in every scope.
fn record_bytes(reader: &Connection) -> Result<u64> {
    reader
        .prepare_cached("SELECT coalesce(sum(bytes), 0) FROM totals")
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
        .map(|bytes| bytes.max(0).cast_unsigned())
        .map_err(counting)
}

fn pragma(reader: &Connection, name: &str) -> Result<u64> {
    let number = connection::pragma_number(reader, name).map_err(counting)?;
    Ok(number.max(0).cast_unsigned())
}

fn counting(error: rusqlite::Error) -> Error {
    fault::explain(error, "measuring the file")
}
