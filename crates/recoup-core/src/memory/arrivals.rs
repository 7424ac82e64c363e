//! Import times of notes. An import keeps the notes' own times, so a query for notes newer than
//! some time would miss them.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::pauses;
use crate::base::clock::Timestamp;
use crate::error::Result;

/// Setting that holds the batches, as JSON.
const NAME: &str = "arrivals";
/// Most batches that are kept; older ones are merged into the oldest of these.
const MOST: usize = 16;

/// A batch of notes that were imported together, in the rows `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ImportBatch {
    pub(super) at: Timestamp,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// Records a batch, within the caller's transaction.
pub(super) fn record_import(connection: &Connection, arrival: ImportBatch) -> Result<()> {
    let mut all = all(connection)?;
    all.push(arrival);
    let surplus = all.len().saturating_sub(MOST);
    if surplus > 0 {
        // The surplus is merged into the oldest batch that is kept.
        let (old, kept) = all.split_at_mut(surplus);
        for old in old {
            kept[0].first = kept[0].first.min(old.first);
        }
        all.drain(..surplus);
    }
    let json = serde_json::to_string(&all).expect("numbers always serialize");
    pauses::set(connection, NAME, &json)
}

/// Batches that were imported after `then`.
pub(super) fn imported_since(connection: &Connection, then: Timestamp) -> Result<Vec<ImportBatch>> {
    Ok(all(connection)?.into_iter().filter(|arrival| arrival.at > then).collect())
}

fn all(connection: &Connection) -> Result<Vec<ImportBatch>> {
    let json = pauses::get(connection, NAME)?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}
