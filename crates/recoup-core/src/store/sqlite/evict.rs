//! Execution of an eviction plan. Finding that nothing is due takes two index look-ups, whatever
//! the size of the store.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::space;
use crate::database::{ConnectionPool, fault, in_transaction};
use crate::error::{Error, Result};
use crate::key::{EntryId, Key, Kind, Scope};
use crate::store::{EvictedEntry, EvictionCause, EvictionPlan, EvictionReport};

/// Maximum number of records examined or removed in one transaction: one write must not pay for a
/// long backlog while others wait.
const BATCH: i64 = 500;

/// Maximum number of batches per eviction, unless it is thorough. The next one does the rest.
const ROUNDS: usize = 4;

pub(super) fn carry_out(pool: &ConnectionPool, plan: &EvictionPlan) -> Result<EvictionReport> {
    let mut all = EvictionReport::default();
    for round in 1.. {
        let (evicted, is_more_due) = pool.remove(|writer| evict_batch(writer, plan))?;
        let EvictionReport { expired, least_used, bytes, gone, lost_all: _ } = evicted;
        all.expired += expired;
        all.least_used += least_used;
        all.bytes += bytes;
        for EvictedEntry { id, kind, cause } in gone {
            all.list_entry(id, kind, cause);
        }
        if !is_more_due || expired + least_used == 0 || !plan.thorough && round == ROUNDS {
            break;
        }
        space::let_others_write();
    }
    Ok(all)
}

/// Evicts one batch. Returns true if more can be evicted at once.
fn evict_batch(writer: &mut Connection, plan: &EvictionPlan) -> Result<(EvictionReport, bool)> {
    if !is_due(writer, plan)? {
        return Ok((EvictionReport::default(), false));
    }
    let done = in_transaction(writer, "evicting records", |writer| {
        let mut evicted = EvictionReport::default();
        let before = all_bytes(writer)?;
        remove_dead(writer, plan, &mut evicted)?;
        let is_over = remove_least_used(writer, plan, &mut evicted)?;
        // By difference, because full results are removed with their last record.
        evicted.bytes = before.saturating_sub(all_bytes(writer)?);
        Ok((evicted, is_over || plan.thorough && any_dead(writer, plan)?))
    })?;
    space::vacuum_some(writer)?;
    Ok(done)
}

fn all_bytes(reader: &Connection) -> Result<u64> {
    reader
        .prepare_cached("SELECT coalesce(sum(bytes), 0) FROM totals")
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
        .map(|bytes| bytes.max(0).cast_unsigned())
        .map_err(evict_error)
}

fn is_due(reader: &Connection, plan: &EvictionPlan) -> Result<bool> {
    let (entries, bytes) = totals(reader, plan)?;
    let bytes = if plan.max_bytes.is_some() { space::disk_share(reader, bytes)? } else { bytes };
    Ok(!plan.allows(entries, bytes) || any_dead(reader, plan)?)
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
        .map_err(evict_error)?;
    let (entries, bytes) = found.unwrap_or((0, 0));
    Ok((entries.max(0).cast_unsigned(), bytes.max(0).cast_unsigned()))
}

fn any_dead(reader: &Connection, plan: &EvictionPlan) -> Result<bool> {
    reader
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM entries WHERE expires <= ?1)")
        .and_then(|mut statement| statement.query_row([plan.now.as_millis()], |row| row.get(0)))
        .map_err(evict_error)
}

fn remove_dead(
    writer: &Connection,
    plan: &EvictionPlan,
    evicted: &mut EvictionReport,
) -> Result<()> {
    const SQL: &str = "DELETE FROM entries WHERE rowid IN
                       (SELECT rowid FROM entries WHERE expires <= ?1 ORDER BY expires LIMIT ?2)
                       RETURNING scope, key, kind";
    let mut delete = writer.prepare_cached(SQL).map_err(evict_error)?;
    let mut rows = delete.query(params![plan.now.as_millis(), BATCH]).map_err(evict_error)?;
    while let Some(row) = rows.next().map_err(evict_error)? {
        evicted.count_entry(EvictionCause::Dead);
        if let Some((id, kind)) = entry_from_row(row).map_err(evict_error)? {
            evicted.list_entry(id, kind, EvictionCause::Dead);
        }
    }
    Ok(())
}

/// Id and kind of a removed row; `None` for those of a later version.
fn entry_from_row(row: &Row<'_>) -> rusqlite::Result<Option<(EntryId, Kind)>> {
    let (scope, key) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
    let id = Scope::parse(scope).ok().zip(Key::parse(key).ok());
    let kind = Kind::from_name(row.get_ref(2)?.as_str()?);
    Ok(id.zip(kind).map(|((scope, key), kind)| (EntryId::new(scope, key), kind)))
}

/// Removes the least used records. Returns true if the limits are still exceeded.
fn remove_least_used(
    writer: &Connection,
    plan: &EvictionPlan,
    evicted: &mut EvictionReport,
) -> Result<bool> {
    const SQL: &str = "DELETE FROM entries WHERE rowid = ?1";
    let mut delete = writer.prepare_cached(SQL).map_err(evict_error)?;
    let (mut entries, mut bytes) = totals(writer, plan)?;
    // Measured once: pages freed in this transaction still count.
    let on_disk = space::disk_share(writer, bytes)?;
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
        delete.execute([row]).map_err(evict_error)?;
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
    let mut statement = reader.prepare_cached(SQL).map_err(evict_error)?;
    let keep = plan.keep.as_ref().map(Key::as_str);
    let values = params![plan.scope.as_str(), plan.kind.as_str(), keep, BATCH];
    let rows = statement.query_map(values, |row| {
        let size = row.get::<_, i64>(1)?.max(0).cast_unsigned();
        let key = Key::parse(row.get_ref(3)?.as_str()?).ok();
        Ok(EvictionCandidate { row: row.get(0)?, key, size, has_full: row.get(2)? })
    });
    rows.map_err(evict_error)?.collect::<rusqlite::Result<_>>().map_err(evict_error)
}

fn evict_error(error: rusqlite::Error) -> Error {
    fault::from_sqlite(error, "evicting records")
}
