//! A look at what is kept that changes nothing.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::ledger;
use recoup_core::store::sqlite::{self, DatabaseSoundness, WaitLimits};
use recoup_core::store::{RedisStore, SqliteStore, Store as _};
use tempfile::TempDir;

use crate::redis_server::{Cluster, fresh_prefix};
use crate::support::{Faults, id, record};

const LIMIT: Duration = Duration::from_secs(10);

#[test]
fn what_is_not_there_is_nothing_and_stays_so() {
    let dir = TempDir::new().unwrap();
    assert!(sqlite::inspect(&dir.path().join("cache.db"), LIMIT).unwrap().is_none());
    assert_eq!(
        ledger::inspect(&dir.path().join("ledger")).unwrap(),
        ledger::LedgerCondition::default()
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_name_that_a_uri_would_take_apart() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a?b#c%41&mode=memory.db");
    fs::write(&path, "no database").unwrap();
    let error = sqlite::inspect(&path, LIMIT).unwrap_err();
    // The file was read: it is no database, and nobody knows it as one of ours.
    assert!(error.to_string().starts_with("not a cache database of recoup"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was made beside it");
    // What is beside each of ours.
    fs::write(dir.path().join("a?b#c%41&mode=memory.db.recoup-lock"), "").unwrap();
    let error = sqlite::inspect(&path, LIMIT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}

#[test]
fn a_file_without_a_log_is_read_without_making_one() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("cache.db");
    let store = SqliteStore::at(&path, WaitLimits::default(), Arc::new(Faults::default()));
    for key in ["a", "b", "c"] {
        store.put(&id(key), &record("1")).unwrap();
    }
    let names = || {
        let all = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name());
        let mut all: Vec<_> = all.collect();
        all.sort();
        all
    };
    // The last to close a database folds its log in.
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let before = names();
    let (seen, entries) = sqlite::inspect(&path, LIMIT).unwrap().unwrap();
    assert_eq!((seen.version, entries), (sqlite::VERSION, 3));
    assert_eq!(seen.soundness, DatabaseSoundness::Sound);
    assert_eq!(names(), before);
}

#[test]
fn a_cluster_says_how_many_nodes_it_has() {
    let cluster = Cluster::shared();
    let server = RedisStore::at(cluster.target(&fresh_prefix())).server_info().unwrap();
    assert!(server.nodes >= 3, "{server:?}");
    assert!(server.version.is_some() && !server.is_replica, "{server:?}");
}
