//! Folding of event batches, each once: the batch's name and all its effects are written in one
//! transaction.

use rusqlite::{Connection, ToSql, params};

use super::schema;
use crate::database::{SqlContext as _, in_transaction, schema_version};
use crate::entry::{CostSavings, EntryEventKind, EventBatch, EventTally};
use crate::error::Result;
use crate::key::{Kind, Scope};
use crate::store::tallies::{
    BatchSums, MAX_NAMES, OTHER_NAMES, REMEMBERED_BATCHES, TallyAmount, TallyKey,
};

const FOLDING: &str = "cannot update the counts";

/// Upper bound of counts, so that the sum of two does not overflow.
const MOST: i64 = i64::MAX / 2;

pub(super) fn fold(writer: &mut Connection, batch: &EventBatch) -> Result<()> {
    let sums = BatchSums::of(batch);
    in_transaction(writer, "cannot update the counts", |writer| {
        let is_new = writer
            .prepare_cached("INSERT INTO folded (batch) VALUES (?1) ON CONFLICT DO NOTHING")
            .and_then(|mut insert| insert.execute([batch.name.as_str()]))
            .doing(FOLDING)?;
        if is_new == 0 {
            return Ok(());
        }
        write_sums(&sums, writer)?;
        // Names sort by time.
        let sql = "DELETE FROM folded WHERE batch <
                   (SELECT batch FROM folded ORDER BY batch DESC LIMIT 1 OFFSET ?1)";
        run(writer, sql, &[&i64::try_from(REMEMBERED_BATCHES).unwrap_or(i64::MAX)])
    })
}

fn write_sums(sums: &BatchSums<'_>, writer: &Connection) -> Result<()> {
    // Beyond the maximum number of names, events are counted as others.
    const COUNT: &str = "
        INSERT INTO tallies (scope, kind, day, what, by, count,
                             millis, input_tokens, output_tokens, micro_dollars)
        VALUES (?1, ?2, ?3, ?4,
                CASE WHEN ?5 = ''
                     OR EXISTS (SELECT 1 FROM tallies WHERE scope = ?1 AND kind = ?2 AND day = ?3
                                AND what = ?4 AND by = ?5)
                     OR (SELECT count(*) FROM tallies WHERE scope = ?1 AND kind = ?2 AND day = ?3
                         AND what = ?4) < ?11
                THEN ?5 ELSE ?12 END,
                ?6, ?7, ?8, ?9, ?10)
        ON CONFLICT DO UPDATE SET count = min(count + excluded.count, ?13),
            millis = min(millis + excluded.millis, ?13),
            input_tokens = min(input_tokens + excluded.input_tokens, ?13),
            output_tokens = min(output_tokens + excluded.output_tokens, ?13),
            micro_dollars = min(micro_dollars + excluded.micro_dollars, ?13)";
    const OLD: &str = "DELETE FROM tallies WHERE scope = ?1 AND kind = ?2 AND day < ?3";
    const SERVED: &str = "UPDATE entries SET hits = hits + ?3, last_used = max(last_used, ?4)
                              WHERE scope = ?1 AND key = ?2";
    // A record that was stored later is not the damaged one.
    const DAMAGED: &str = "DELETE FROM entries WHERE scope = ?1 AND key = ?2 AND stored_at <= ?3";
    let most_names = i64::try_from(MAX_NAMES).unwrap_or(i64::MAX);
    for (TallyKey { scope, kind, day, what, by }, TallyAmount { count, saved }) in &sums.counts {
        let (scope, kind, what) = (scope.as_str(), kind.as_str(), what.as_str());
        let [millis, input, output, dollars] = saved.to_array().map(clamp_count);
        let count = clamp_count(*count);
        let amounts: [&dyn ToSql; 5] = [&count, &millis, &input, &output, &dollars];
        let mut values: Vec<&dyn ToSql> = vec![&scope, &kind, day, &what, by];
        values.extend(amounts);
        values.extend([&most_names as &dyn ToSql, &OTHER_NAMES, &MOST]);
        run(writer, COUNT, &values)?;
        run(writer, OLD, &[&scope, &kind, &sums.first_day()])?;
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

fn clamp_count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(MOST).min(MOST)
}

fn run(writer: &Connection, sql: &str, values: &[&dyn ToSql]) -> Result<()> {
    writer
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(values))
        .map(drop)
        .doing(FOLDING)
}

pub(super) fn tallies(reader: &Connection, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
    let sql = match schema_version(reader)? {
        // Not written to since an earlier version.
        schema::WITHOUT_SKETCHES => {
            "SELECT scope, kind, day, what, '', count, 0, 0, 0, 0 FROM tallies
             WHERE ?1 IS NULL OR scope = ?1"
        }
        _ => {
            "SELECT scope, kind, day, what, by, count, millis, input_tokens, output_tokens,
                    micro_dollars
             FROM tallies WHERE ?1 IS NULL OR scope = ?1"
        }
    };
    let counting = "cannot read the counts";
    let mut statement = reader.prepare_cached(sql).doing(counting)?;
    let rows = statement.query_map(params![scope.map(Scope::as_str)], |row| {
        let number = |at| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)?.max(0).cast_unsigned());
        let scope = Scope::parse(row.get_ref(0)?.as_str()?).ok();
        let kind = Kind::from_name(row.get_ref(1)?.as_str()?);
        let what = EntryEventKind::from_name(row.get_ref(3)?.as_str()?);
        let (day, by, count) = (row.get(2)?, row.get(4)?, number(5)?);
        let saved = CostSavings::from_array([number(6)?, number(7)?, number(8)?, number(9)?]);
        // Kinds and events of a later version are left out.
        Ok(scope.zip(kind).zip(what).map(|((scope, kind), what)| EventTally {
            scope,
            kind,
            day,
            what,
            by,
            count,
            saved,
        }))
    });
    let all = rows.doing(counting)?.collect::<rusqlite::Result<Vec<_>>>().doing(counting)?;
    Ok(all.into_iter().flatten().collect())
}
