//! `memory.db`: its layout, its tables, and the migration of older ones. Hooks, commands and servers
//! share the file. Its content cannot be regenerated, so a damaged file is set aside, and its readable
//! rows are taken over.
//!
//! ```text
//! notes        notes, one row for each statement
//! note_ends    ends of notes that hold for a while only
//! checks       what a rule forbids a tool call to do, compiled from its words
//! check_keys   by what calls have in common with a check, it is found
//! words        the words of each note, split and stemmed, for search
//! evidence     what happened to notes: said again, cited, contradicted, injected
//! events       reports of clients, for as long as they may be kept
//! episodes     sessions: when, where, how they ended
//! lessons      failures and what fixed them, on their way to becoming notes
//! sightings    each time that a failure or its fix was seen, once
//! givings      deliveries of notes to contexts, so that none comes twice
//! checkpoints  state of the work, one for each project
//! sweeps       how far each transcript has been read
//! notices      messages about background work, until the user is shown them
//! pauses       times in which nothing is recorded, not even by a later catch-up
//! settings     names and values: pauses, ignored projects, counters
//! ```

use rusqlite::Connection;

use crate::database::DatabaseLayout;
use crate::error::Result;
use crate::memory::db::salvage::salvage;
use crate::memory::db::{SqlContext as _, checks, index};

/// Layout of memory's database. Deleted data is overwritten, so that `forget` means it. Readers
/// cache half a megabyte of pages: a hook reads few of them twice.
pub(crate) static LAYOUT: DatabaseLayout = DatabaseLayout {
    name: "memory",
    elsewhere: "set RECOUP_HOME to another directory",
    application_id: APPLICATION_ID,
    version: VERSION,
    first: FIRST,
    oldest: VERSION,
    pragmas: "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA cache_size = -512;",
    creation_pragmas: "",
    // A server has it open for hours.
    cache: 4 << 10,
    backs_up: true,
    tables: &[TABLES, SECOND, ENDS, CHECKS, RANK, index::WORDS],
    deferred: "",
    migrate,
    rescue: Some(salvage),
};

/// The version of these tables. A newer one is refused.
pub(crate) const VERSION: i64 = 4;

/// First version with a list of notes per delivery; before, there was a row for each note.
pub(crate) const LISTS: i64 = 2;

/// First version that knows the ends of notes.
pub(crate) const WITH_ENDS: i64 = 3;

/// First version that has checks of rules.
pub(crate) const WITH_CHECKS: i64 = 4;

/// The first version.
const FIRST: i64 = 1;

/// "Rcom": marks the file as ours.
pub(crate) const APPLICATION_ID: u32 = 0x5263_6f6d;

/// Order of notes by importance, the most important first: that of `inject::by_importance`, but for
/// the scope, and for notes that are equal in all of this.
macro_rules! importance {
    () => {
        "(CASE source WHEN 'user' THEN 0 WHEN 'manual' THEN 0 WHEN 'team' THEN 1
                      WHEN 'tool' THEN 3 ELSE 2 END),
         idle,
         (kind <> 'correction'),
         (CASE WHEN evidence >= 16 THEN 0 WHEN evidence >= 8 THEN 1 WHEN evidence >= 4 THEN 2
               WHEN evidence >= 2 THEN 3 ELSE 4 END),
         created DESC"
    };
}

/// Condition that finds the active notes of a scope, the most important first.
pub(crate) const BY_IMPORTANCE: &str =
    concat!("scope = ?1 AND status = 'active' ORDER BY ", importance!());

const RANK: &str =
    concat!("CREATE INDEX notes_rank ON notes (scope, status, ", importance!(), ");");

/// `said` is the statement as it is compared with others; `paths` is empty where a note
/// holds for all files; `idle` says that a note is given often and never used. Evidence
/// with a `detail` counts once. A `context` is what an agent sees: its session, or that of
/// a sub-agent. Times are milliseconds since 1970.
///
/// Each hook writes an event or two: `events` has no more indexes than hooks need, and those
/// only for what they look for.
pub(crate) const TABLES: &str = "
CREATE TABLE notes (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    quote TEXT,
    source TEXT NOT NULL,
    scope TEXT NOT NULL,
    paths TEXT NOT NULL DEFAULT '',
    topic TEXT,
    status TEXT NOT NULL,
    said TEXT NOT NULL,
    evidence INTEGER NOT NULL DEFAULT 1,
    tokens INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    superseded_by TEXT,
    idle INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX notes_said ON notes (scope, paths, said);
CREATE INDEX notes_topic ON notes (scope, paths, topic) WHERE topic IS NOT NULL;
CREATE INDEX notes_status ON notes (scope, status, updated);

CREATE TABLE evidence (
    note INTEGER NOT NULL REFERENCES notes (row) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    session TEXT,
    what TEXT NOT NULL,
    detail TEXT
) STRICT;
CREATE INDEX evidence_note ON evidence (note, what, at);
CREATE UNIQUE INDEX evidence_once ON evidence (note, what, session, detail)
    WHERE detail IS NOT NULL;

CREATE TABLE events (
    row INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    client TEXT,
    session TEXT,
    context TEXT,
    scope TEXT,
    what TEXT NOT NULL,
    subject TEXT,
    call TEXT,
    detail TEXT
) STRICT;

CREATE TABLE lessons (
    row INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    signature TEXT NOT NULL,
    command TEXT NOT NULL,
    error TEXT NOT NULL,
    fix TEXT,
    note TEXT,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX lessons_signature ON lessons (scope, kind, signature);
CREATE INDEX lessons_note ON lessons (note) WHERE note IS NOT NULL;

CREATE TABLE sightings (
    lesson INTEGER NOT NULL REFERENCES lessons (row) ON DELETE CASCADE,
    call TEXT NOT NULL,
    what TEXT NOT NULL,
    session TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (lesson, what, call)
) STRICT, WITHOUT ROWID;
CREATE INDEX sightings_session ON sightings (session, at);

CREATE TABLE checkpoints (
    scope TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sweeps (
    transcript TEXT PRIMARY KEY,
    mark TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE notices (
    row INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    scope TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX notices_scope ON notices (scope);

CREATE TABLE pauses (
    scope TEXT NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER
) STRICT;

CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
";

/// Differences of the second version from the first. A delivery (`givings`) has the ids of its
/// notes in one text; it is `whole` if the context had all rules with it, and `lost` if they may be
/// delivered again.
const SECOND: &str = "
CREATE INDEX events_edited ON events (session, subject, at) WHERE what = 'edited';
CREATE INDEX events_denied ON events (scope, subject) WHERE what = 'denied';
CREATE INDEX events_call ON events (call, what) WHERE call IS NOT NULL;

CREATE TABLE episodes (
    session TEXT PRIMARY KEY,
    client TEXT,
    scope TEXT,
    began INTEGER NOT NULL,
    ended INTEGER,
    outcome TEXT,
    detail TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE givings (
    context TEXT NOT NULL,
    nth INTEGER NOT NULL,
    at INTEGER NOT NULL,
    notes TEXT NOT NULL,
    whole INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (context, nth)
) STRICT, WITHOUT ROWID;
";

/// Differences of the third version from the second. `until` has the user's words, `at` the time of
/// the end if they tell it, `asked` the time at which the user was asked about it.
pub(crate) const ENDS: &str = "
CREATE TABLE note_ends (
    note INTEGER PRIMARY KEY REFERENCES notes (row) ON DELETE CASCADE,
    until TEXT NOT NULL,
    at INTEGER,
    asked INTEGER
) STRICT;
";

/// Differences of the fourth version from the third. `version` is that of the compiler, `body` a
/// check as JSON, none if the words give none; `strength` is the user's choice.
pub(crate) const CHECKS: &str = "
CREATE TABLE checks (
    note INTEGER PRIMARY KEY REFERENCES notes (row) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    body TEXT,
    strength TEXT
) STRICT;

CREATE TABLE check_keys (
    key TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (row) ON DELETE CASCADE,
    PRIMARY KEY (key, note)
) STRICT, WITHOUT ROWID;
CREATE INDEX check_keys_note ON check_keys (note);
";

/// Migrates the tables from version `from`, within the caller's transaction.
fn migrate(connection: &Connection, from: i64) -> Result<()> {
    if from < LISTS {
        let script = [CLEAR, SECOND, TAKE_OVER].concat();
        connection.execute_batch(&script).doing("cannot migrate the memory")?;
    }
    if from < WITH_ENDS {
        connection.execute_batch(ENDS).doing("cannot migrate the memory")?;
    }
    if from < WITH_CHECKS {
        connection.execute_batch(CHECKS).doing("cannot migrate the memory")?;
        checks::store_missing_checks(connection)?;
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
