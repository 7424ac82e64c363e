//! Taking in batches of events, each once: the batch's name and everything that
//! follows from it are written in one transaction.

use rusqlite::{Connection, Row};

use crate::database::{fault, in_transaction};
use crate::entry::{Batch, Happening, Tally};
use crate::error::{Error, Result};
use crate::key::{Kind, Scope};
use crate::store::sums::Sums;

/// How many names of batches are remembered. A batch is told again only right
/// after a crash, so the newest suffice; names sort by time.
const REMEMBERED: i64 = 1_000;

pub(super) fn fold(writer: &mut Connection, batch: &Batch) -> Result<()> {
    let sums = Sums::of(batch);
    in_transaction(writer, "folding in what happened", |writer| {
        if is_news(writer, batch)? {
            write(&sums, writer)?;
            forget_old(writer)?;
        }
        Ok(())
    })
}

fn write(sums: &Sums<'_>, writer: &Connection) -> Result<()> {
    const COUNT: &str = "INSERT INTO tallies (scope, kind, day, what, count)
                             VALUES (?1, ?2, ?3, ?4, ?5)
                             ON CONFLICT DO UPDATE SET count = count + excluded.count";
    const SERVED: &str = "UPDATE entries SET hits = hits + ?3, last_used = max(last_used, ?4)
                              WHERE scope = ?1 AND key = ?2";
    // What was stored anew since is another record.
    const DAMAGED: &str = "DELETE FROM entries WHERE scope = ?1 AND key = ?2 AND stored_at <= ?3";
    for ((scope, kind, day, what), count) in &sums.counts {
        let (scope, kind, what) = (scope.as_str(), kind.as_str(), what.as_str());
        run(writer, COUNT, &[&scope, &kind, day, &what, &count.cast_signed()])?;
    }
    for (id, (hits, last)) in &sums.served {
        let (scope, key) = (id.scope.as_str(), id.key.as_str());
        run(writer, SERVED, &[&scope, &key, &hits.cast_signed(), &last.as_millis()])?;
    }
    for (id, at) in &sums.damaged {
        run(writer, DAMAGED, &[&id.scope.as_str(), &id.key.as_str(), &at.as_millis()])?;
    }
    Ok(())
}

fn is_news(writer: &Connection, batch: &Batch) -> Result<bool> {
    writer
        .prepare_cached("INSERT INTO folded (batch) VALUES (?1) ON CONFLICT DO NOTHING")
        .and_then(|mut insert| insert.execute([batch.name.as_str()]))
        .map(|inserted| inserted > 0)
        .map_err(folding)
}

fn forget_old(writer: &Connection) -> Result<()> {
    const SQL: &str = "DELETE FROM folded WHERE batch <
                       (SELECT batch FROM folded ORDER BY batch DESC LIMIT 1 OFFSET ?1)";
    run(writer, SQL, &[&REMEMBERED])
}

fn run(writer: &Connection, sql: &str, values: &[&dyn rusqlite::ToSql]) -> Result<()> {
    writer
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(values))
        .map(drop)
        .map_err(folding)
}

fn folding(error: rusqlite::Error) -> Error {
    fault::explain(error, "folding in what happened")
}

pub(super) fn tallies(reader: &Connection, scope: &Scope) -> Result<Vec<Tally>> {
    const SQL: &str = "SELECT kind, what, day, count FROM tallies WHERE scope = ?1";
    let counting = |error| fault::explain(error, "reading the counts");
    let mut statement = reader.prepare_cached(SQL).map_err(counting)?;
    let rows = statement.query_map([scope.as_str()], |row| tally(scope, row)).map_err(counting)?;
    let all: Vec<Option<Tally>> = rows.collect::<rusqlite::Result<_>>().map_err(counting)?;
    Ok(all.into_iter().flatten().collect())
}

/// `None` for the kinds and words of a later version, which are its to show.
fn tally(scope: &Scope, row: &Row<'_>) -> rusqlite::Result<Option<Tally>> {
    let kind = Kind::from_name(row.get_ref(0)?.as_str()?);
    let what = Happening::from_name(row.get_ref(1)?.as_str()?);
    let (day, count) = (row.get(2)?, row.get::<_, i64>(3)?.max(0).cast_unsigned());
    let known = kind.zip(what);
    Ok(known.map(|(kind, what)| Tally { scope: scope.clone(), kind, day, what, count }))
}
