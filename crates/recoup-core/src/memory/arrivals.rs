//! When notes came here that are older than that: an import keeps their times, and whoever
//! wants to know what is new since then would not find them.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::privacy;
use crate::base::clock::Timestamp;
use crate::error::Result;

/// The setting that holds them.
const NAME: &str = "arrivals";
/// So many are known, the latest; for sessions that are resumed after more, the first of these
/// is as if it were all.
const MOST: usize = 16;

/// Notes that came together: theirs are the rows from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Arrival {
    pub(super) at: Timestamp,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// Within one transaction: writes down that notes have come.
pub(super) fn note(connection: &Connection, arrival: Arrival) -> Result<()> {
    let mut all = all(connection)?;
    all.push(arrival);
    let surplus = all.len().saturating_sub(MOST);
    if surplus > 0 {
        // Two that are next to each other become one.
        let (old, kept) = all.split_at_mut(surplus);
        for old in old {
            kept[0].first = kept[0].first.min(old.first);
        }
        all.drain(..surplus);
    }
    let json = serde_json::to_string(&all).expect("numbers always serialize");
    privacy::set(connection, NAME, &json)
}

/// What came after `then`.
pub(super) fn since(connection: &Connection, then: Timestamp) -> Result<Vec<Arrival>> {
    Ok(all(connection)?.into_iter().filter(|arrival| arrival.at > then).collect())
}

fn all(connection: &Connection) -> Result<Vec<Arrival>> {
    let json = privacy::get(connection, NAME)?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}
