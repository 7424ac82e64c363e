//! Deliveries of notes to contexts: one row per delivery, which lists the notes. A session begins
//! with very many at once, and a row for each note would be most of what its hook costs.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, params};

use super::NoteId;
use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, Result};

/// Separator of the ids in a list.
const BETWEEN: &str = " ";

/// Notes that one context has been given.
#[derive(Debug, Default)]
pub struct ContextDeliveries {
    /// Notes that it still has.
    pub notes: HashSet<NoteId>,
    /// Last time that it was given all that it lacked, unless that is lost.
    pub last_whole: Option<Timestamp>,
    /// Number of deliveries, lost or not.
    times: i64,
}

/// One delivery of notes to a context.
#[derive(Debug)]
pub(super) struct DeliveryRecord {
    pub(super) context: String,
    pub(super) at: Timestamp,
    pub(super) notes: Vec<NoteId>,
}

impl ContextDeliveries {
    pub(super) fn load(connection: &Connection, context: &str) -> Result<Self> {
        const SQL: &str = "SELECT nth, at, notes, whole, lost FROM givings WHERE context = ?1";
        let mut select = connection.prepare_cached(SQL).map_err(delivery_error)?;
        let mut rows = select.query([context]).map_err(delivery_error)?;
        let mut given = Self::default();
        while let Some(row) = rows.next().map_err(delivery_error)? {
            given.take(row).map_err(delivery_error)?;
        }
        Ok(given)
    }

    fn take(&mut self, row: &rusqlite::Row<'_>) -> rusqlite::Result<()> {
        self.times = self.times.max(row.get(0)?);
        let (whole, lost): (bool, bool) = (row.get(3)?, row.get(4)?);
        if lost {
            return Ok(());
        }
        if whole {
            let at = Timestamp::from_millis(row.get(1)?);
            self.last_whole = self.last_whole.max(Some(at));
        }
        self.notes.extend(parse_ids(row.get_ref(2)?.as_str()?));
        Ok(())
    }

    /// Records the delivery of those notes that are new to the context, and returns their number.
    /// `whole`: with them it has all there are.
    pub(super) fn record_delivery<'n>(
        self,
        connection: &Connection,
        context: &str,
        at: Timestamp,
        notes: impl IntoIterator<Item = &'n NoteId>,
        whole: bool,
    ) -> Result<usize> {
        const SQL: &str =
            "INSERT INTO givings (context, nth, at, notes, whole) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut known = self.notes;
        let new: Vec<&str> = notes
            .into_iter()
            .filter(|id| known.insert((*id).clone()))
            .map(NoteId::as_str)
            .collect();
        if new.is_empty() && !whole {
            return Ok(0);
        }
        let values = params![context, self.times + 1, at.as_millis(), new.join(BETWEEN), whole];
        connection
            .prepare_cached(SQL)
            .and_then(|mut insert| insert.execute(values))
            .map_err(delivery_error)?;
        Ok(new.len())
    }
}

/// Marks the deliveries to a context as lost; they stay on record.
pub(super) fn mark_lost(connection: &Connection, context: &str) -> Result<()> {
    connection
        .prepare_cached("UPDATE givings SET lost = 1 WHERE context = ?1")
        .and_then(|mut update| update.execute([context]))
        .map(drop)
        .map_err(delivery_error)
}

/// Notes that contexts were ever given, lost or not.
pub(super) fn ever_delivered(
    connection: &Connection,
    contexts: &[&str],
) -> Result<HashSet<NoteId>> {
    const SQL: &str = "SELECT notes FROM givings WHERE context = ?1";
    let mut notes = HashSet::new();
    let mut select = connection.prepare_cached(SQL).map_err(delivery_error)?;
    for context in contexts {
        let mut rows = select.query([context]).map_err(delivery_error)?;
        while let Some(row) = rows.next().map_err(delivery_error)? {
            notes.extend(parse_ids(&row.get::<_, String>(0).map_err(delivery_error)?));
        }
    }
    Ok(notes)
}

/// Removes a note from all deliveries: it is gone, or its text has changed.
pub(super) fn forget(connection: &Connection, note: &NoteId) -> Result<()> {
    const SQL: &str = "UPDATE givings
                       SET notes = trim(replace(' ' || notes || ' ', ' ' || ?1 || ' ', ' '))
                       WHERE instr(notes, ?1) > 0";
    connection
        .prepare_cached(SQL)
        .and_then(|mut update| update.execute([note.as_str()]))
        .map(drop)
        .map_err(delivery_error)
}

/// Lets a reactivated note be delivered again to contexts that were given one of its `rivals`
/// since. The earlier delivery stays on record.
pub(super) fn allow_redelivery(
    connection: &Connection,
    note: &NoteId,
    rivals: &[NoteId],
) -> Result<()> {
    const SQL: &str = "SELECT context, nth FROM givings WHERE lost = 0 AND instr(notes, ?1) > 0";
    let mut select = connection.prepare_cached(SQL).map_err(delivery_error)?;
    let rows = select.query_map([note.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows: rusqlite::Result<Vec<(String, i64)>> = rows.map_err(delivery_error)?.collect();
    for (context, nth) in rows.map_err(delivery_error)? {
        if was_delivered_since(connection, &context, nth, rivals)? {
            mark_note_lost(connection, &context, nth, note)?;
        }
    }
    Ok(())
}

/// True if a context was given one of `notes` in its nth delivery or later.
fn was_delivered_since(
    connection: &Connection,
    context: &str,
    nth: i64,
    notes: &[NoteId],
) -> Result<bool> {
    const SQL: &str = "SELECT notes FROM givings WHERE context = ?1 AND nth >= ?2 AND lost = 0";
    let mut select = connection.prepare_cached(SQL).map_err(delivery_error)?;
    let mut rows = select.query(params![context, nth]).map_err(delivery_error)?;
    while let Some(row) = rows.next().map_err(delivery_error)? {
        let list: String = row.get(0).map_err(delivery_error)?;
        if parse_ids(&list).any(|id| notes.contains(&id)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Splits one note off a delivery, as a lost delivery of its own.
fn mark_note_lost(connection: &Connection, context: &str, nth: i64, note: &NoteId) -> Result<()> {
    const TAKE: &str = "UPDATE givings
                        SET notes = trim(replace(' ' || notes || ' ', ' ' || ?3 || ' ', ' '))
                        WHERE context = ?1 AND nth = ?2";
    const LOST: &str = "INSERT INTO givings (context, nth, at, notes, lost)
                        SELECT context, (SELECT max(nth) FROM givings WHERE context = ?1) + 1, at, ?3, 1
                        FROM givings WHERE context = ?1 AND nth = ?2";
    for sql in [TAKE, LOST] {
        connection
            .prepare_cached(sql)
            .and_then(|mut change| change.execute(params![context, nth, note.as_str()]))
            .map_err(delivery_error)?;
    }
    Ok(())
}

/// Moves deliveries from the future to just before `now`. They were recorded while the clock was
/// wrong, and a query for notes newer than them would miss what changes now.
pub(super) fn clamp_future_deliveries(connection: &Connection, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached("UPDATE givings SET at = ?1 - 1 WHERE at > ?1")
        .and_then(|mut update| update.execute([now.as_millis()]))
        .map(drop)
        .map_err(delivery_error)
}

/// All deliveries, by context, then by time.
pub(super) fn all(connection: &Connection) -> Result<Vec<DeliveryRecord>> {
    const SQL: &str = "SELECT context, at, notes FROM givings ORDER BY context, nth";
    let mut select = connection.prepare_cached(SQL).map_err(delivery_error)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(DeliveryRecord {
            context: row.get(0)?,
            at: Timestamp::from_millis(row.get(1)?),
            notes: parse_ids(row.get_ref(2)?.as_str()?).collect(),
        })
    };
    let rows = select.query_map([], read).map_err(delivery_error)?;
    rows.collect::<rusqlite::Result<_>>().map_err(delivery_error)
}

/// Number of deliveries of each note.
pub(super) fn counts(connection: &Connection) -> Result<HashMap<NoteId, u64>> {
    let mut counts = HashMap::new();
    for note in all(connection)?.into_iter().flat_map(|giving| giving.notes) {
        *counts.entry(note).or_default() += 1;
    }
    Ok(counts)
}

/// Ids in a stored list; invalid ones are skipped.
fn parse_ids(notes: &str) -> impl Iterator<Item = NoteId> {
    notes.split(BETWEEN).filter_map(|id| NoteId::parse(id).ok())
}

fn delivery_error(error: rusqlite::Error) -> Error {
    fault::from_sqlite(error, "noting what a context is given")
}
