//! The connections of one process: opened when first needed, kept for the next
//! caller, given up when they fail or when the file beneath them was replaced.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::connection::{self, Opened};
use super::{Layout, Waits, busy, recover};
use crate::error::{Error, ErrorKind, Result};

/// What is larger takes longer to take over than anybody in a hurry has.
const QUICKLY: u64 = 16 << 20;

/// Told what a database survived.
pub(crate) trait Teller: Send + Sync + fmt::Debug {
    /// This happened; the work goes on.
    fn tell(&self, error: &Error);
}

/// Readers and the writer of one file.
#[derive(Debug)]
pub(crate) struct Pool {
    path: PathBuf,
    layout: &'static Layout,
    waits: Waits,
    teller: Arc<dyn Teller>,
    /// Idle readers; as many as threads ever read at once.
    readers: Mutex<Vec<Opened>>,
    /// One writer: threads queue here, where it is cheaper than in SQLite.
    writer: Mutex<Option<Opened>>,
}

impl Pool {
    pub(crate) fn new(
        path: PathBuf,
        layout: &'static Layout,
        waits: Waits,
        teller: Arc<dyn Teller>,
    ) -> Self {
        Self { path, layout, waits, teller, readers: Mutex::default(), writer: Mutex::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn waits(&self) -> Waits {
        self.waits
    }

    /// Reads; `None` when there is no database, or only a damaged one, which
    /// is then set aside.
    pub(crate) fn read<T>(&self, act: impl FnOnce(&Connection) -> Result<T>) -> Result<Option<T>> {
        let done: Result<Option<T>> = busy::within(self.waits.read, || {
            let Some(reader) = self.reader()? else { return Ok(None) };
            let done = act(&reader.connection)?;
            lock(&self.readers).push(reader);
            Ok(Some(done))
        });
        match done {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.heal(&error, self.waits.read).map(|()| None)
            }
            done => done.map_err(|error| self.located(error)),
        }
    }

    /// Writes, creating the database when it is missing. Where it is damaged,
    /// it is set aside and `act` is done in a fresh one.
    pub(crate) fn write<T>(&self, act: impl FnMut(&mut Connection) -> Result<T>) -> Result<T> {
        self.write_with(act, || self.open_or_create().map(Some))
            .map(|done| done.expect("a database that is created when missing is there"))
    }

    /// Writes, unless there is nothing to write to.
    pub(crate) fn write_existing<T: Default>(
        &self,
        act: impl FnMut(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        self.write_with(act, || self.open_writer()).map(Option::unwrap_or_default)
    }

    fn write_with<T>(
        &self,
        mut act: impl FnMut(&mut Connection) -> Result<T>,
        open: impl Fn() -> Result<Option<Opened>>,
    ) -> Result<Option<T>> {
        match self.try_write(&mut act, &open) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.heal(&error, self.waits.write)?;
                self.try_write(&mut act, &open)
            }
            done => done,
        }
        .map_err(|error| self.located(error))
    }

    fn try_write<T>(
        &self,
        act: &mut impl FnMut(&mut Connection) -> Result<T>,
        open: &impl Fn() -> Result<Option<Opened>>,
    ) -> Result<Option<T>> {
        busy::within(self.waits.write, || {
            let mut slot = lock(&self.writer);
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

    fn reader(&self) -> Result<Option<Opened>> {
        let idle = lock(&self.readers).pop();
        match idle {
            Some(reader) if reader.is_current(&self.path) => Ok(Some(reader)),
            _ => connection::open(&self.path, self.layout),
        }
    }

    fn open_writer(&self) -> Result<Option<Opened>> {
        // A command that has read before it writes needs no second connection.
        let mut opened = self.reader()?;
        if let Some(writer) = &mut opened {
            connection::configure_writer(&mut writer.connection, self.layout)?;
        }
        Ok(opened)
    }

    fn open_or_create(&self) -> Result<Opened> {
        if let Some(writer) = self.open_writer()? {
            return Ok(writer);
        }
        if let Some(healed) = recover::create(&self.path, self.layout, self.waits.write)? {
            let error = Error::new(ErrorKind::Corrupt, "it was empty");
            self.tell(healed, &error);
        }
        self.open_writer()?
            .ok_or_else(|| Error::new(ErrorKind::Io, "it was created, and is gone or empty again"))
    }

    /// Sets a damaged database aside, and says so once.
    fn heal(&self, error: &Error, wait: Duration) -> Result<()> {
        lock(&self.readers).clear();
        lock(&self.writer).take();
        if self.is_hurried() && fs::metadata(&self.path).is_ok_and(|it| it.len() > QUICKLY) {
            let message = format!("it is damaged ({error}); whoever has the time takes care of it");
            return Err(self.located(Error::new(ErrorKind::Locked, message)));
        }
        match busy::within(wait, || recover::set_aside(&self.path, self.layout, wait)) {
            Ok(healed) => {
                self.tell(healed, error);
                Ok(())
            }
            Err(failure) => Err(self.located(failure)),
        }
    }

    /// Whether somebody waits for us who does not wait for long.
    fn is_hurried(&self) -> bool {
        self.layout.rescue.is_some() && self.waits.write < Waits::default().write
    }

    fn tell(&self, healed: recover::Healed, error: &Error) {
        let recover::Healed::SetAside { place, rescued } = healed else { return };
        let fresh = match rescued {
            None => "a fresh one begins".to_owned(),
            Some(rows) => format!("{rows} rows of it are in a fresh one"),
        };
        let place = place.display();
        let outcome = format!("it was damaged ({error}); it is now in {place}, and {fresh}");
        self.teller.tell(&self.located(Error::new(ErrorKind::Corrupt, outcome)));
    }

    /// What the caller got wrong is not the file's affair.
    fn located(&self, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Usage | ErrorKind::Absent | ErrorKind::Invalid) {
            return error;
        }
        error.context(format!("the {} {}", self.layout.name, self.path.display()))
    }
}

/// A panic elsewhere leaves the list usable: each connection in it is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
