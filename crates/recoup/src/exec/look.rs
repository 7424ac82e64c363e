//! Looks up a command's result. An error of the store is reported, and the command runs all the
//! same.

use recoup_core::cache::{Mode, Outcome, Permit, Reason};
use recoup_core::entry::Entry;
use recoup_core::{Error, ErrorKind, Result};

use super::spool::Spool;
use super::transcript::Transcript;
use super::{Exec, Slot};

/// Attempts to read an entry that others keep replacing.
const TRIES: usize = 3;

/// Decision after a look-up.
#[expect(clippy::large_enum_variant, reason = "there is one of it in a process")]
pub(super) enum Looked {
    /// Replay it, and start a refresh in the background if `refresh`.
    Found { transcript: Transcript, age: u64, refresh: bool },
    /// Run it; cached only with a permit.
    Run {
        permit: Option<Permit>,
        /// True if it was never cached before.
        is_first: bool,
    },
    /// Neither cached nor allowed to run.
    Nothing(Reason),
}

impl Looked {
    fn without_permit() -> Self {
        Self::Run { permit: None, is_first: false }
    }
}

impl Exec<'_> {
    pub(super) fn look(&self) -> Result<Looked> {
        let Some(slot) = &self.slot else { return Ok(self.without_store()) };
        let cache = &slot.cache;
        for _ in 0..TRIES {
            let outcome = match cache.lookup(&slot.request(self.job.mode, &self.waiting())) {
                Ok(outcome) => outcome,
                Err(error) => return self.survived(error),
            };
            let (entry, refresh) = match outcome {
                Outcome::Hit(entry) => (entry, false),
                // Released before the refresher asks for it.
                Outcome::Stale(entry, permit) => (entry, permit.map(Permit::release).is_some()),
                Outcome::Miss(permit, reason) => return Ok(self.miss(permit, reason)),
                Outcome::Bypass(reason) => return Ok(self.bypass(reason)),
            };
            let age = cache.clock().now().millis_since(entry.head().header.created);
            match read(&entry) {
                Ok(Some(transcript)) if self.accepts(slot, &transcript, age) => {
                    return Ok(Looked::Found { transcript, age, refresh });
                }
                Ok(_) => break,
                // Replaced while it was read: look up the new one.
                Err(error) if error.kind() == ErrorKind::Corrupt => {}
                Err(error) => {
                    self.teller.warn(&error);
                    break;
                }
            }
        }
        self.nothing_readable(slot)
    }

    /// Repeats the look-up's checks of the header, because not every store keeps it whole.
    fn accepts(&self, slot: &Slot, transcript: &Transcript, age: u64) -> bool {
        let Transcript { exit, streams_merged, .. } = *transcript;
        self.job.keeping.accepts(exit, age) && (slot.accepts_merged_streams || !streams_merged)
    }

    /// Announces the wait, which else looks like a hang.
    fn waiting(&self) -> impl Fn() + Sync {
        || {
            self.teller.note(format_args!(
                "waiting for another run of the same command (--wait off runs it at once)"
            ));
        }
    }

    fn without_store(&self) -> Looked {
        match self.job.mode {
            Mode::OnlyIfCached => Looked::Nothing(Reason::Absent),
            _ => Looked::without_permit(),
        }
    }

    /// Ends on a usage error; survives an error of the store.
    fn survived(&self, error: Error) -> Result<Looked> {
        // Generated files may not exist yet; sources may be too many, or have unsupported names.
        if matches!(error.kind(), ErrorKind::Absent | ErrorKind::Invalid) {
            self.teller.warn(&error.context("not cached"));
            return Ok(self.without_store());
        }
        if error.kind() == ErrorKind::Usage {
            return Err(error);
        }
        self.teller.warn(&error);
        Ok(self.without_store())
    }

    fn miss(&self, permit: Permit, reason: Reason) -> Looked {
        if let Reason::Unavailable(error) = reason {
            // Warn once: a store that could not answer is not asked to store anything.
            self.teller.warn(&error);
            return Looked::without_permit();
        }
        self.teller.aside(format_args!("{}: {reason}", reason.status()));
        let files = self.slot.iter().flat_map(|slot| &slot.argument_files);
        let files: Vec<&str> = files.map(String::as_str).collect();
        if !files.is_empty() {
            self.teller.aside(format_args!(
                "watching {} (--no-auto-source leaves them out)",
                files.join(", ")
            ));
        }
        Looked::Run { permit: Some(permit), is_first: matches!(reason, Reason::Absent) }
    }

    fn bypass(&self, reason: Reason) -> Looked {
        if let Reason::Unavailable(error) = &reason {
            self.teller.warn(error);
        }
        match self.job.mode {
            Mode::OnlyIfCached => Looked::Nothing(reason),
            _ => Looked::without_permit(),
        }
    }

    /// Replaces an entry that can't be used.
    fn nothing_readable(&self, slot: &Slot) -> Result<Looked> {
        if self.job.mode == Mode::OnlyIfCached {
            return Ok(Looked::Nothing(Reason::Absent));
        }
        match slot.cache.lookup(&slot.request(Mode::Refresh, &|| {})) {
            Ok(Outcome::Miss(permit, _)) => {
                Ok(Looked::Run { permit: Some(permit), is_first: false })
            }
            Ok(_) => Ok(Looked::without_permit()),
            Err(error) => self.survived(error),
        }
    }
}

/// Reads and verifies the transcript in an entry; none if a later version wrote it.
fn read(entry: &Entry) -> Result<Option<Transcript>> {
    match Transcript::read(entry.body(), Spool::default()) {
        // There may be no room for a temporary file.
        Err(error) if error.kind() == ErrorKind::Io => {
            Transcript::read(entry.body(), Spool::in_memory())
        }
        read => read,
    }
}
