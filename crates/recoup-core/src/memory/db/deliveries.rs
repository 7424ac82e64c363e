//! Deliveries of notes to contexts: one row per delivery, which lists the notes. A session begins
//! with very many at once, and a row for each note would be most of what its hook costs.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Row, params};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::{CachedSql as _, SqlContext as _};
use crate::memory::model::NoteId;

const DELIVERING: &str = "cannot record a delivery";

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
pub(crate) struct DeliveryRecord {
    pub(crate) context: String,
    pub(crate) at: Timestamp,
    pub(crate) notes: Vec<NoteId>,
}

impl ContextDeliveries {
    pub(crate) fn load(connection: &Connection, context: &str) -> Result<Self> {
        const SQL: &str = "SELECT nth, at, notes, whole, lost FROM givings WHERE context = ?1";
        let mut given = Self::default();
        let take = |row: &Row<'_>| {
            given.times = given.times.max(row.get(0)?);
            if row.get(4)? {
                return Ok(());
            }
            if row.get(3)? {
                given.last_whole = given.last_whole.max(row.get(1)?);
            }
            given.notes.extend(parse_ids(row.get_ref(2)?.as_str()?));
            Ok(())
        };
        connection.list_cached(SQL, [context], take).doing(DELIVERING)?;
        Ok(given)
    }

    /// Records the delivery of those notes that are new to the context, and returns their number.
    /// `whole`: with them it has all there are.
    pub(crate) fn record_delivery<'n>(
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
        let values = params![context, self.times + 1, at, new.join(BETWEEN), whole];
        connection.write(SQL, values, DELIVERING)?;
        Ok(new.len())
    }
}

/// Marks the deliveries to a context as lost; they stay on record.
pub(crate) fn mark_lost(connection: &Connection, context: &str) -> Result<()> {
    let sql = "UPDATE givings SET lost = 1 WHERE context = ?1";
    connection.write(sql, [context], DELIVERING).map(drop)
}

/// Notes that contexts were ever given, lost or not.
pub(crate) fn ever_delivered(
    connection: &Connection,
    contexts: &[&str],
) -> Result<HashSet<NoteId>> {
    const SQL: &str = "SELECT notes FROM givings WHERE context = ?1";
    let mut notes = HashSet::new();
    for context in contexts {
        let lists: Vec<String> = connection.list_values(SQL, [context], DELIVERING)?;
        notes.extend(lists.iter().flat_map(|list| parse_ids(list)));
    }
    Ok(notes)
}

/// Removes a note from all deliveries: it is gone, or its text has changed.
pub(crate) fn forget(connection: &Connection, note: &NoteId) -> Result<()> {
    const SQL: &str = "UPDATE givings
                       SET notes = trim(replace(' ' || notes || ' ', ' ' || ?1 || ' ', ' '))
                       WHERE instr(notes, ?1) > 0";
    connection.write(SQL, [note], DELIVERING).map(drop)
}

/// Lets a reactivated note be delivered again to contexts that were given one of its `rivals`
/// since. The earlier delivery stays on record.
pub(crate) fn allow_redelivery(
    connection: &Connection,
    note: &NoteId,
    rivals: &[NoteId],
) -> Result<()> {
    const WITH_NOTE: &str =
        "SELECT context, nth FROM givings WHERE lost = 0 AND instr(notes, ?1) > 0";
    const SINCE: &str = "SELECT notes FROM givings WHERE context = ?1 AND nth >= ?2 AND lost = 0";
    // The note is split off, as a lost delivery of its own.
    const TAKE: &str = "UPDATE givings
                        SET notes = trim(replace(' ' || notes || ' ', ' ' || ?3 || ' ', ' '))
                        WHERE context = ?1 AND nth = ?2";
    const LOST: &str = "INSERT INTO givings (context, nth, at, notes, lost)
                        SELECT context, (SELECT max(nth) FROM givings WHERE context = ?1) + 1, at, ?3, 1
                        FROM givings WHERE context = ?1 AND nth = ?2";
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
    let found = connection.list_cached(WITH_NOTE, [note], read).doing(DELIVERING)?;
    for (context, nth) in found {
        let lists: Vec<String> =
            connection.list_values(SINCE, params![context, nth], DELIVERING)?;
        let mut since = lists.iter().flat_map(|list| parse_ids(list));
        if since.any(|id| rivals.contains(&id)) {
            for sql in [TAKE, LOST] {
                connection.write(sql, params![context, nth, note], DELIVERING)?;
            }
        }
    }
    Ok(())
}

/// Moves deliveries from the future to just before `now`. They were recorded while the clock was
/// wrong, and a query for notes newer than them would miss what changes now.
pub(crate) fn clamp_future_deliveries(connection: &Connection, now: Timestamp) -> Result<()> {
    let sql = "UPDATE givings SET at = ?1 - 1 WHERE at > ?1";
    connection.write(sql, [now], DELIVERING).map(drop)
}

/// All deliveries, by context, then by time.
pub(crate) fn all(connection: &Connection) -> Result<Vec<DeliveryRecord>> {
    const SQL: &str = "SELECT context, at, notes FROM givings ORDER BY context, nth";
    let read = |row: &Row<'_>| {
        Ok(DeliveryRecord {
            context: row.get(0)?,
            at: row.get(1)?,
            notes: parse_ids(row.get_ref(2)?.as_str()?).collect(),
        })
    };
    connection.list_cached(SQL, [], read).doing(DELIVERING)
}

/// Number of deliveries of each note.
pub(crate) fn counts(connection: &Connection) -> Result<HashMap<NoteId, u64>> {
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
