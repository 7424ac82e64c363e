//! The SQLite store when things go wrong: damage, locks, files of others, files
//! from the future, and files that vanish.

mod damage;
mod earlier_version;
mod files;
mod foreign;
mod locked;
mod marks;
mod sketches;
mod space;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::store::sqlite::WaitLimits;
use recoup_core::store::{SqliteStore, Store};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{Faults, id, noise_text, record};

/// A directory with a database in it, or about to be.
struct Scene {
    dir: TempDir,
    faults: Arc<Faults>,
}

impl Scene {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), faults: Faults::new() }
    }

    /// With that many entries of 3,000 bytes, called by number.
    fn with_entries(count: u64) -> Self {
        let scene = Self::new();
        let store = scene.open();
        for n in 0..count {
            store.put(&id(&n.to_string()), &record(noise_text(3_000, n))).unwrap();
        }
        scene
    }

    fn path(&self) -> PathBuf {
        self.beside("")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        self.dir.path().join(format!("cache.db{suffix}"))
    }

    /// As another process would open it.
    fn open(&self) -> SqliteStore {
        let waits = WaitLimits { read: Duration::from_secs(10), write: Duration::from_secs(30) };
        self.open_with(waits)
    }

    fn open_with(&self, waits: WaitLimits) -> SqliteStore {
        SqliteStore::at(self.path(), waits, Arc::clone(&self.faults) as _)
    }

    /// Everything in the log is brought into the database, and the log is gone.
    fn fold_log(&self) {
        let database = Connection::open(self.path()).unwrap();
        let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: i64 = database.query_row(fold, [], |row| row.get(0)).unwrap();
        assert_eq!(busy, 0);
    }

    /// The directories that damaged databases were set aside in.
    fn set_aside(&self) -> Vec<PathBuf> {
        let is_one = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("cache.db.damaged-")
        };
        entries_of(self.dir.path()).into_iter().filter(is_one).collect()
    }

    /// Every file that has something in it, but for SQLite's index of the log,
    /// which even a look makes.
    fn contents(&self) -> BTreeMap<PathBuf, Sha256Digest> {
        let files = entries_of(self.dir.path()).into_iter().filter(|path| path.is_file());
        let read = files.filter(|path| *path != self.beside("-shm")).filter_map(|path| {
            let bytes = fs::read(&path).unwrap();
            (!bytes.is_empty()).then(|| (path, Sha256Digest::of(&bytes)))
        });
        read.collect()
    }
}

fn entries_of(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Overwrites part of a file in place.
fn scribble(path: &Path, at: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}
