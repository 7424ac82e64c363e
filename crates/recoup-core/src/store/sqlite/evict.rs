//! Carrying out an eviction plan. Finding out that nothing is due takes two
//! look-ups in indexes, whatever the size of the store.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::fault;
use super::write::in_transaction;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::store::{Evicted, EvictionPlan};

/// How many records are looked at, or found dead and removed, in one go: a write
/// that comes after a long time must not pay for all of that time.
const BATCH: i64 = 500;

pub(super) fn carry_out(writer: &mut Connection, plan: &EvictionPlan) -> Result<Evicted> {
    if !is_due(writer, plan)? {
        return Ok(Evicted::default());
    }
    in_transaction(writer, "evicting records", |writer| {
        let before = all_bytes(writer)?;
        let expired = remove_dead(writer, plan)?;
        let least_used = remove_least_used(writer, plan)?;
        // The difference, because full results go with their last record.
        let bytes = before.saturating_sub(all_bytes(writer)?);
        Ok(Evicted { expired, least_used, bytes })
    })
}

fn all_bytes(reader: &Connection) -> Result<u64> {
    reader
        .prepare_cached("SELECT coalesce(sum(bytes), 0) FROM totals")
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
        .map(|bytes| bytes.max(0).cast_unsigned())
        .map_err(evicting)
}

fn is_due(reader: &Connection, plan: &EvictionPlan) -> Result<bool> {
    let (entries, bytes) = totals(reader, plan)?;
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
        .map_err(evicting)?;
    let (entries, bytes) = found.unwrap_or((0, 0));
    Ok((entries.max(0).cast_unsigned(), bytes.max(0).cast_unsigned()))
}

fn any_dead(reader: &Connection, plan: &EvictionPlan) -> Result<bool> {
    reader
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM entries WHERE expires <= ?1)")
        .and_then(|mut statement| statement.query_row([plan.now.as_millis()], |row| row.get(0)))
        .map_err(evicting)
}

fn remove_dead(writer: &Connection, plan: &EvictionPlan) -> Result<u64> {
    const SQL: &str = "DELETE FROM entries WHERE rowid IN
                       (SELECT rowid FROM entries WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";
    writer
        .prepare_cached(SQL)
        .and_then(|mut delete| delete.execute(params![plan.now.as_millis(), BATCH]))
        .map(|gone| gone as u64)
        .map_err(evicting)
}

fn remove_least_used(writer: &Connection, plan: &EvictionPlan) -> Result<u64> {
    const SQL: &str = "DELETE FROM entries WHERE rowid = ?1";
    let mut delete = writer.prepare_cached(SQL).map_err(evicting)?;
    let mut removed = 0;
    let (mut entries, mut bytes) = totals(writer, plan)?;
    while !plan.allows(entries, bytes) {
        let candidates = least_used(writer, plan)?;
        if candidates.is_empty() {
            break;
        }
        for Candidate { row, size, has_full } in candidates {
            if plan.allows(entries, bytes) {
                break;
            }
            delete.execute([row]).map_err(evicting)?;
            removed += 1;
            // Whether a full result went too, only the totals know.
            (entries, bytes) = if has_full {
                totals(writer, plan)?
            } else {
                (entries.saturating_sub(1), bytes.saturating_sub(size))
            };
        }
    }
    Ok(removed)
}

struct Candidate {
    row: i64,
    size: u64,
    has_full: bool,
}

fn least_used(reader: &Connection, plan: &EvictionPlan) -> Result<Vec<Candidate>> {
    const SQL: &str = "SELECT rowid, bytes, full IS NOT NULL FROM entries
                       WHERE scope = ?1 AND kind = ?2 AND key IS NOT ?3
                       ORDER BY last_used LIMIT ?4";
    let mut statement = reader.prepare_cached(SQL).map_err(evicting)?;
    let keep = plan.keep.as_ref().map(Key::as_str);
    let values = params![plan.scope.as_str(), plan.kind.as_str(), keep, BATCH];
    let rows = statement.query_map(values, |row| {
        let size = row.get::<_, i64>(1)?.max(0).cast_unsigned();
        Ok(Candidate { row: row.get(0)?, size, has_full: row.get(2)? })
    });
    rows.map_err(evicting)?.collect::<rusqlite::Result<_>>().map_err(evicting)
}

fn evicting(error: rusqlite::Error) -> Error {
    fault::explain(error, "evicting records")
}
