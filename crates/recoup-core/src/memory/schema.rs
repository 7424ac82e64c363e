//! The tables of `memory.db`, and the version that says which code may use them.
//!
//! ```text
//! notes        what is remembered, one row for each statement
//! words        the words of each note, split and stemmed, for search
//! evidence     what happened to notes: said again, cited, contradicted, injected
//! events       what clients told us, for as long as it may be kept
//! episodes     sessions: when, where, how they ended
//! lessons      failures and what fixed them, on their way to becoming notes
//! injections   which notes a context was given, so that none comes twice
//! checkpoints  where work stands, one for each project
//! settings     what the user has said about all of it: paused, ignored projects
//! ```

/// The version of these tables. A newer one is refused.
pub(super) const VERSION: i64 = 1;

/// "Rcom": says that the file is ours.
pub(super) const APPLICATION_ID: u32 = 0x5263_6f6d;

/// `said` is the statement as it is compared with others; `paths` is empty where a note
/// holds for all files. Times are milliseconds since 1970.
pub(super) const TABLES: &str = "
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
    superseded_by TEXT
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
CREATE INDEX evidence_note ON evidence (note, at);

CREATE TABLE events (
    row INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    client TEXT,
    session TEXT,
    scope TEXT,
    what TEXT NOT NULL,
    detail TEXT
) STRICT;
CREATE INDEX events_at ON events (at);
CREATE INDEX events_session ON events (session, at);

CREATE TABLE episodes (
    session TEXT PRIMARY KEY,
    client TEXT,
    scope TEXT,
    began INTEGER NOT NULL,
    ended INTEGER,
    outcome TEXT,
    detail TEXT
) STRICT;
CREATE INDEX episodes_began ON episodes (began);

CREATE TABLE lessons (
    row INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    signature TEXT NOT NULL,
    failed TEXT NOT NULL,
    error TEXT,
    fixed TEXT,
    sessions TEXT NOT NULL DEFAULT '[]',
    note INTEGER REFERENCES notes (row) ON DELETE SET NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX lessons_signature ON lessons (scope, signature);

CREATE TABLE injections (
    context TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (row) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    PRIMARY KEY (context, note)
) STRICT, WITHOUT ROWID;
CREATE INDEX injections_at ON injections (at);

CREATE TABLE checkpoints (
    scope TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
";
