//! The connections of one process: opened when first needed, kept for the next
//! caller, given up when they fail or when the file beneath them was replaced.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;

use super::connection::{self, OpenDatabase, with_wait_limit};
use super::{DatabaseLayout, WaitLimits, recover};
use crate::base::FaultLog;
use crate::error::{Error, ErrorKind, Result};

/// Largest database that a caller with a short deadline recovers.
const QUICK_RECOVERY_MAX: u64 = 16 << 20;

/// Readers and the writer of one file.
#[derive(Debug)]
pub(crate) struct ConnectionPool {
    path: PathBuf,
    layout: &'static DatabaseLayout,
    waits: WaitLimits,
    /// Name of the database in fault reports, before its path.
    scheme: &'static str,
    faults: Arc<dyn FaultLog>,
    /// Idle readers; as many as threads ever read at once.
    readers: Mutex<Vec<OpenDatabase>>,
    /// One writer: threads queue here, where it is cheaper than in SQLite.
    writer: Mutex<Option<OpenDatabase>>,
    /// Set when a damaged database was replaced by a fresh one.
    begun_anew: AtomicBool,
}

impl ConnectionPool {
    pub(crate) fn new(
        path: PathBuf,
        layout: &'static DatabaseLayout,
        waits: WaitLimits,
        scheme: &'static str,
        faults: Arc<dyn FaultLog>,
    ) -> Self {
        let (readers, writer) = (Mutex::default(), Mutex::default());
        let begun_anew = AtomicBool::new(false);
        Self { path, layout, waits, scheme, faults, readers, writer, begun_anew }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn waits(&self) -> WaitLimits {
        self.waits
    }

    /// Reads; `None` if there is no database, or only a damaged one, which is then set aside.
    pub(crate) fn read<T>(&self, act: impl FnOnce(&Connection) -> Result<T>) -> Result<Option<T>> {
        let done: Result<Option<T>> = with_wait_limit(self.waits.read, || {
            let Some(reader) = self.take_reader()? else { return Ok(None) };
            let done = act(&reader.connection)?;
            self.readers.lock().push(reader);
            Ok(Some(done))
        });
        match done {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.recover_damage(&error, self.waits.read).map(|_| None)
            }
            done => done.map_err(|error| self.with_location(error)),
        }
    }

    /// Writes, creating the database if it is missing. A damaged one is set aside, and `act` runs
    /// in a fresh one.
    pub(crate) fn write<T>(&self, act: impl FnMut(&mut Connection) -> Result<T>) -> Result<T> {
        let done = self.write_with(act, || {
            if let Some(writer) = self.open_writer()? {
                return Ok(Some(writer));
            }
            let healed = recover::create_database(&self.path, self.layout, self.waits.write)?;
            if let Some(healed) = healed {
                let error = Error::new(ErrorKind::Corrupt, "the file was empty");
                self.report_recovery(healed, &error);
            }
            let gone =
                || Error::new(ErrorKind::Io, "the new database was removed or emptied meanwhile");
            self.open_writer()?.ok_or_else(gone).map(Some)
        })?;
        Ok(done.expect("a database that is created when missing is there"))
    }

    /// Like [`Self::write`], for what must survive a power cut: it is on disk when this returns.
    pub(crate) fn write_synced<T>(
        &self,
        mut act: impl FnMut(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        self.write(|connection| {
            connection::sync_commits(connection, true)?;
            let done = act(connection);
            connection::sync_commits(connection, false)?;
            done
        })
    }

    /// Writes, if there is a database.
    pub(crate) fn write_existing<T: Default>(
        &self,
        act: impl FnMut(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        self.write_with(act, || self.open_writer()).map(Option::unwrap_or_default)
    }

    /// Removes rows, if there is a database. On a full disk, where not even the log has room, this
    /// works without one.
    pub(crate) fn remove<T: Default>(
        &self,
        mut act: impl FnMut(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        let full = match self.write_existing(&mut act) {
            Err(error) if error.kind() == ErrorKind::Full => error,
            done => return done,
        };
        self.readers.lock().clear();
        self.writer.lock().take();
        let wait = self.waits.write;
        with_wait_limit(wait, || recover::write_in_place(&self.path, self.layout, wait, &mut act))
            .map_err(|_| full)
    }

    /// True if a damaged database was replaced since the last call: its contents are gone.
    pub(crate) fn was_replaced(&self) -> bool {
        self.begun_anew.swap(false, Ordering::Relaxed)
    }

    /// Checks all of the database, and repairs it or sets it aside if damaged. True if it was.
    pub(crate) fn repair(&self) -> Result<bool> {
        self.recover_damage(&Error::new(ErrorKind::Corrupt, "found by a check"), self.waits.write)
    }

    fn write_with<T>(
        &self,
        mut act: impl FnMut(&mut Connection) -> Result<T>,
        open: impl Fn() -> Result<Option<OpenDatabase>>,
    ) -> Result<Option<T>> {
        match self.try_write(&mut act, &open) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.recover_damage(&error, self.waits.write)?;
                self.try_write(&mut act, &open)
            }
            done => done,
        }
        .map_err(|error| self.with_location(error))
    }

    fn try_write<T>(
        &self,
        act: &mut impl FnMut(&mut Connection) -> Result<T>,
        open: &impl Fn() -> Result<Option<OpenDatabase>>,
    ) -> Result<Option<T>> {
        with_wait_limit(self.waits.write, || {
            let mut slot = self.writer.lock();
            loop {
                let kept = slot.take().filter(|writer| writer.is_current(&self.path));
                let Some(mut writer) = kept.map_or_else(open, |writer| Ok(Some(writer)))? else {
                    return Ok(None);
                };
                let done = act(&mut writer.connection)?;
                // If it was set aside meanwhile, what was written went with it.
                if writer.is_current(&self.path) {
                    connection::checkpoint_if_due(&writer.connection);
                    *slot = Some(writer);
                    return Ok(Some(done));
                }
            }
        })
    }

    fn take_reader(&self) -> Result<Option<OpenDatabase>> {
        let idle = self.readers.lock().pop();
        match idle {
            Some(reader) if reader.is_current(&self.path) => Ok(Some(reader)),
            _ => connection::open_existing(&self.path, self.layout),
        }
    }

    fn open_writer(&self) -> Result<Option<OpenDatabase>> {
        // A command that has read before it writes needs no second connection.
        let mut opened = self.take_reader()?;
        if let Some(writer) = &mut opened {
            connection::configure_writer(&mut writer.connection, self.layout)?;
        }
        Ok(opened)
    }

    /// Repairs a damaged database or sets it aside, and reports that once. False if it is sound.
    fn recover_damage(&self, error: &Error, wait: Duration) -> Result<bool> {
        self.readers.lock().clear();
        self.writer.lock().take();
        let has_short_deadline =
            self.layout.rescue.is_some() && self.waits.write < WaitLimits::default().write;
        if has_short_deadline
            && fs::metadata(&self.path).is_ok_and(|it| it.len() > QUICK_RECOVERY_MAX)
        {
            let message =
                format!("damaged ({error}): too large to repair now; run `recoup doctor --fix`");
            return Err(self.with_location(Error::new(ErrorKind::Locked, message)));
        }
        match with_wait_limit(wait, || recover::recover_database(&self.path, self.layout, wait)) {
            Ok(healed) => {
                let is_mended = healed != recover::RecoveryOutcome::AlreadySound;
                self.report_recovery(healed, error);
                Ok(is_mended)
            }
            Err(failure) => Err(self.with_location(failure)),
        }
    }

    fn report_recovery(&self, healed: recover::RecoveryOutcome, error: &Error) {
        let (place, rescued) = match healed {
            recover::RecoveryOutcome::AlreadySound => return,
            recover::RecoveryOutcome::Reindexed => {
                let outcome = format!("the indexes were damaged ({error}) and have been rebuilt");
                return self.report_damage(outcome);
            }
            recover::RecoveryOutcome::SetAside { place, rescued } => (place, rescued),
        };
        let fresh = match rescued {
            None => "an empty one was started".to_owned(),
            Some(rows) => format!("{rows} rows were recovered into a new one"),
        };
        self.begun_anew.store(true, Ordering::Relaxed);
        let place = place.display();
        self.report_damage(format!("damaged ({error}): moved to {place}, and {fresh}"));
    }

    fn report_damage(&self, outcome: String) {
        let source = format!("{}:{}", self.scheme, self.path.display());
        self.faults.fault(&source, &self.with_location(Error::new(ErrorKind::Corrupt, outcome)));
    }

    /// Adds the database's path to an error, unless the caller's input was wrong.
    fn with_location(&self, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Usage | ErrorKind::Absent | ErrorKind::Invalid) {
            return error;
        }
        error.context(format!("the {} {}", self.layout.name, self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static LAYOUT: DatabaseLayout = DatabaseLayout {
        name: "test",
        elsewhere: "",
        application_id: 1,
        version: 1,
        first: 1,
        oldest: 1,
        pragmas: "",
        creation_pragmas: "",
        cache: 100,
        backs_up: false,
        tables: &["CREATE TABLE t (n INTEGER) STRICT;"],
        deferred: "",
        migrate: |_, _| Ok(()),
        rescue: None,
    };

    #[derive(Debug)]
    struct SilentReporter;

    impl FaultLog for SilentReporter {
        fn fault(&self, _: &str, _: &Error) {}
    }

    /// 1 is NORMAL, 2 is FULL: SQLite then syncs the log at each commit.
    #[test]
    fn what_must_survive_a_power_cut_is_synced_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        let (waits, faults) = (WaitLimits::default(), Arc::new(SilentReporter));
        let pool = ConnectionPool::new(path, &LAYOUT, waits, "test", faults);
        let level = |connection: &mut Connection| {
            connection.execute("INSERT INTO t VALUES (1)", []).unwrap();
            Ok(connection.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0)).unwrap())
        };
        assert_eq!(pool.write(level).unwrap(), 1);
        assert_eq!(pool.write_synced(level).unwrap(), 2);
        assert_eq!(pool.write(level).unwrap(), 1);
        let failed = pool.write_synced(|_| Err::<(), _>(Error::usage("no")));
        assert!(failed.is_err());
        assert_eq!(pool.write(level).unwrap(), 1, "also after a failure");
    }
}
