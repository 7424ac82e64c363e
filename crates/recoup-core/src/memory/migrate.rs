//! Migration of older tables to this version.

use rusqlite::Connection;

use super::schema::{LISTS, SECOND};
use crate::database::fault;
use crate::error::Result;

/// Migrates the tables from version `from`, within the caller's transaction.
pub(super) fn migrate(connection: &Connection, from: i64) -> Result<()> {
    if from < LISTS {
        let script = [CLEAR, SECOND, TAKE_OVER].concat();
        connection
            .execute_batch(&script)
            .map_err(|error| fault::from_sqlite(error, "bringing the memory to this version"))?;
    }
    Ok(())
}

const CLEAR: &str = "
DROP INDEX IF EXISTS events_at;
DROP INDEX IF EXISTS events_session;
DROP INDEX IF EXISTS events_context;
DROP INDEX IF EXISTS events_subject;
DROP INDEX IF EXISTS events_call;
DROP INDEX IF EXISTS episodes_began;
ALTER TABLE episodes RENAME TO earlier;
";

/// Converts deliveries from a row per note with a count to lists: a note that was delivered several
/// times is in as many lists, and only the last may not be lost. A complete delivery was an event.
const TAKE_OVER: &str = "
INSERT OR IGNORE INTO episodes SELECT * FROM earlier;
DROP TABLE earlier;

WITH RECURSIVE given (context, at, id, times, lost) AS (
    SELECT context, at, notes.id, times, lost
    FROM injections JOIN notes ON notes.row = injections.note
    UNION ALL
    SELECT context, at, id, times - 1, 1 FROM given WHERE times > 1
),
lists (context, at, notes, whole, lost) AS (
    SELECT context, at, group_concat(id, ' '), 0, lost FROM given
    GROUP BY context, at, times, lost
    UNION ALL
    SELECT context, at, '', 1, 0 FROM events WHERE what = 'given' AND context IS NOT NULL
)
INSERT INTO givings (context, nth, at, notes, whole, lost)
SELECT context, row_number() OVER (PARTITION BY context ORDER BY at), at, notes, whole, lost
FROM lists;

DROP TABLE injections;
DELETE FROM events WHERE what = 'given';
";
