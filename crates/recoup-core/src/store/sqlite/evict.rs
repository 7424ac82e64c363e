//! Execution of an eviction plan, and disk space. Finding that nothing is due takes two index
//! look-ups, whatever the size of the store.
//!
//! Files of this version are vacuumed incrementally; older ones are converted once, when the caller
//! has time.

use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{schema, write};
use crate::database::{ConnectionPool, SqlContext as _, busy, connection, in_transaction};
use crate::error::{ErrorKind, Result};
use crate::key::{EntryId, Key, Kind, Scope};
use crate::store::{EvictionCause, EvictionPlan, EvictionReport};

const EVICTING: &str = "cannot evict entries";
const MEASURING: &str = "cannot measure the database file";

/// Maximum number of records examined or removed in one transaction: one write must not pay for a
/// long backlog while others wait.
const BATCH: i64 = 500;
/// Maximum number of batches per eviction, unless it is thorough. The next one does the rest.
const ROUNDS: usize = 4;
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
/// Batches of a long removal per checkpoint. Each batch changes pages all over the indexes, so that
/// most of them would be written again and again.
const BATCHES_PER_CHECKPOINT: usize = 8;

pub(super) fn carry_out(pool: &ConnectionPool, plan: &EvictionPlan) -> Result<EvictionReport> {
    let mut all = EvictionReport::default();
    for round in 1.. {
        let (evicted, is_more_due) = pool.remove(|writer| evict_batch(writer, plan))?;
        let is_empty = evicted.expired + evicted.least_used == 0;
        all.add(evicted);
        if !is_more_due || is_empty || !plan.thorough && round == ROUNDS {
            break;
        }
        let_others_write();
    }
    Ok(all)
}

/// Evicts one batch. Returns true if more can be evicted at once.
fn evict_batch(writer: &mut Connection, plan: &EvictionPlan) -> Result<(EvictionReport, bool)> {
    let (entries, bytes) = totals(writer, plan)?;
    let bytes = if plan.max_bytes.is_some() { disk_share(writer, bytes)? } else { bytes };
    if plan.allows(entries, bytes) && !any_dead(writer, plan)? {
        return Ok((EvictionReport::default(), false));
    }
    let done = in_transaction(writer, "cannot evict entries", |writer| {
        let mut evicted = EvictionReport::default();
        let before = all_bytes(writer).doing(EVICTING)?;
        remove_dead(writer, plan, &mut evicted)?;
        let is_over = remove_least_used(writer, plan, &mut evicted)?;
        // By difference, because full results are removed with their last record.
        let left = all_bytes(writer).doing(EVICTING)?;
        evicted.bytes = before.saturating_sub(left);
        Ok((evicted, is_over || plan.thorough && any_dead(writer, plan)?))
    })?;
    // Returns some pages, if much of the file is unused.
    let unused = pragma(writer, "freelist_count")?;
    if unused > SPARE && unused > pragma(writer, "page_count")? / 4 {
        vacuum_step(writer)?;
    }
    Ok(done)
}

/// Size of all records, in every scope.
fn all_bytes(reader: &Connection) -> rusqlite::Result<u64> {
    let mut statement = reader.prepare_cached("SELECT coalesce(sum(bytes), 0) FROM totals")?;
    let bytes: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(bytes.max(0).cast_unsigned())
}

fn totals(reader: &Connection, plan: &EvictionPlan) -> Result<(u64, u64)> {
    const SQL: &str = "SELECT entries, bytes FROM totals WHERE scope = ?1 AND kind = ?2";
    let found = reader
        .prepare_cached(SQL)
        .and_then(|mut statement| {
            statement
                .query_row(params![plan.scope.as_str(), plan.kind.as_str()], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
                })
                .optional()
        })
        .doing(EVICTING)?;
    let (entries, bytes) = found.unwrap_or((0, 0));
    Ok((entries.max(0).cast_unsigned(), bytes.max(0).cast_unsigned()))
}

fn any_dead(reader: &Connection, plan: &EvictionPlan) -> Result<bool> {
    reader
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM entries WHERE expires <= ?1)")
        .and_then(|mut statement| statement.query_row([plan.now.as_millis()], |row| row.get(0)))
        .doing(EVICTING)
}

fn remove_dead(
    writer: &Connection,
    plan: &EvictionPlan,
    evicted: &mut EvictionReport,
) -> Result<()> {
    const SQL: &str = "DELETE FROM entries WHERE rowid IN
                       (SELECT rowid FROM entries WHERE expires <= ?1 ORDER BY expires LIMIT ?2)
                       RETURNING scope, key, kind";
    let mut delete = writer.prepare_cached(SQL).doing(EVICTING)?;
    let rows = delete.query_map(params![plan.now.as_millis(), BATCH], |row| {
        let (scope, key) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
        let id = Scope::parse(scope).ok().zip(Key::parse(key).ok());
        Ok(id.zip(Kind::from_name(row.get_ref(2)?.as_str()?)))
    });
    for removed in rows.doing(EVICTING)? {
        evicted.count_entry(EvictionCause::Dead);
        // Those of a later version are only counted.
        if let Some(((scope, key), kind)) = removed.doing(EVICTING)? {
            evicted.list_entry(EntryId::new(scope, key), kind, EvictionCause::Dead);
        }
    }
    Ok(())
}

/// Removes the least used records. Returns true if the limits are still exceeded.
fn remove_least_used(
    writer: &Connection,
    plan: &EvictionPlan,
    evicted: &mut EvictionReport,
) -> Result<bool> {
    const SQL: &str = "DELETE FROM entries WHERE rowid = ?1";
    let mut delete = writer.prepare_cached(SQL).doing(EVICTING)?;
    let (mut entries, mut bytes) = totals(writer, plan)?;
    // Measured once: pages freed in this transaction still count.
    let on_disk = disk_share(writer, bytes)?;
    let scaled = |bytes: u64, whole: u64| match u128::from(bytes) * u128::from(on_disk) {
        taken if whole > 0 => u64::try_from(taken / u128::from(whole)).unwrap_or(u64::MAX),
        _ => bytes,
    };
    let whole = bytes;
    if plan.allows(entries, scaled(bytes, whole)) {
        return Ok(false);
    }
    for EvictionCandidate { row, key, size, has_full } in least_used(writer, plan)? {
        let Some(limit) = plan.exceeded_limit(entries, scaled(bytes, whole)) else {
            return Ok(false);
        };
        delete.execute([row]).doing(EVICTING)?;
        evicted.count_entry(EvictionCause::Over(limit));
        if let Some(key) = key {
            evicted.list_entry(
                EntryId::new(plan.scope.clone(), key),
                plan.kind,
                EvictionCause::Over(limit),
            );
        }
        // Only the totals show whether a full result was removed too.
        (entries, bytes) = if has_full {
            totals(writer, plan)?
        } else {
            (entries.saturating_sub(1), bytes.saturating_sub(size))
        };
    }
    Ok(!plan.allows(entries, scaled(bytes, whole)))
}

struct EvictionCandidate {
    row: i64,
    /// `None` if it is not a valid key.
    key: Option<Key>,
    size: u64,
    has_full: bool,
}

fn least_used(reader: &Connection, plan: &EvictionPlan) -> Result<Vec<EvictionCandidate>> {
    const SQL: &str = "SELECT rowid, bytes, full IS NOT NULL, key FROM entries
                       WHERE scope = ?1 AND kind = ?2 AND key IS NOT ?3
                       ORDER BY last_used LIMIT ?4";
    let mut statement = reader.prepare_cached(SQL).doing(EVICTING)?;
    let keep = plan.keep.as_ref().map(Key::as_str);
    let values = params![plan.scope.as_str(), plan.kind.as_str(), keep, BATCH];
    let rows = statement.query_map(values, |row| {
        let size = row.get::<_, i64>(1)?.max(0).cast_unsigned();
        let key = Key::parse(row.get_ref(3)?.as_str()?).ok();
        Ok(EvictionCandidate { row: row.get(0)?, key, size, has_full: row.get(2)? })
    });
    rows.doing(EVICTING)?.collect::<rusqlite::Result<_>>().doing(EVICTING)
}

/// Lets other writers in between two batches.
pub(super) fn let_others_write() {
    thread::sleep(TURN);
}

/// The disk space of records with this many `bytes`: their share of all used pages.
pub(super) fn disk_share(reader: &Connection, bytes: u64) -> Result<u64> {
    let all = all_bytes(reader).doing(MEASURING)?;
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
    .doing("cannot truncate the log")
}

/// Stops overwriting freed pages, because they are about to be returned. In a file that cannot
/// shrink they still are overwritten.
pub(super) fn leave_freed_pages(writer: &Connection) -> Result<()> {
    if pragma(writer, "auto_vacuum")? == 0 {
        return Ok(());
    }
    writer.execute_batch("PRAGMA secure_delete = FAST").doing(MEASURING)
}

/// Reverts [`leave_freed_pages`].
pub(super) fn overwrite_freed_pages(writer: &Connection) -> Result<()> {
    writer.execute_batch("PRAGMA secure_delete = ON").doing(MEASURING)
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
            after = pool.write_existing(|writer| write::mark_batch(writer, row))?;
            let_others_write();
        }
        pool.write_existing(|writer| {
            in_transaction(writer, "cannot index the entries", schema::add_indexes)
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
    connection::vacuum_pages(writer, STEP).doing(MEASURING)
}

fn pragma(reader: &Connection, name: &str) -> Result<u64> {
    let number = connection::pragma_number(reader, name).doing(MEASURING)?;
    Ok(number.max(0).cast_unsigned())
}
