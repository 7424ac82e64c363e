//! Looks for a command that has run before. What a store does wrong is told, and
//! the command runs all the same.

use recoup_core::cache::{Mode, Outcome, Permit, Reason};
use recoup_core::entry::Entry;
use recoup_core::{Error, ErrorKind, Result};

use super::spool::Spool;
use super::transcript::Transcript;
use super::{Exec, Slot};

/// How often an entry is looked up that others keep replacing while it is read.
const TRIES: usize = 3;

/// What a look-up comes to.
#[expect(clippy::large_enum_variant, reason = "there is one of it in a process")]
pub(super) enum Looked {
    /// To be replayed; and to be run again behind the caller's back, or not.
    Found { transcript: Transcript, age: u64, refresh: bool },
    /// To be run; kept only with a permit.
    Run {
        permit: Option<Permit>,
        /// True if nothing was ever kept of it.
        is_first: bool,
    },
    /// Not to be had, and not to be run.
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
                // Given back before the refresher asks for it.
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
                // Replaced while it was read: then there is another.
                Err(error) if error.kind() == ErrorKind::Corrupt => {}
                Err(error) => {
                    self.teller.warn(&error);
                    break;
                }
            }
        }
        self.nothing_readable(slot)
    }

    /// Once more what the look-up asked of the header, which not every store keeps whole.
    fn accepts(&self, slot: &Slot, transcript: &Transcript, age: u64) -> bool {
        let Transcript { exit, streams_merged, .. } = *transcript;
        self.job.keeping.accepts(exit, age) && (slot.accepts_merged_streams || !streams_merged)
    }

    /// A person who waits, and sees nothing, wonders.
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

    /// What the caller got wrong ends it; what a store did does not.
    fn survived(&self, error: Error) -> Result<Looked> {
        // Generated files may not be there yet; and sources may be too many, or have names that
        // can't be kept.
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
            // Said once: a store that could not answer is not asked to keep anything.
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

    /// There is an entry, and it is of no use: it is replaced.
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

/// The transcript in an entry, all of it verified; none when a later version wrote it.
fn read(entry: &Entry) -> Result<Option<Transcript>> {
    match Transcript::read(entry.body(), Spool::default()) {
        // There may be no room for a file.
        Err(error) if error.kind() == ErrorKind::Io => {
            Transcript::read(entry.body(), Spool::in_memory())
        }
        read => read,
    }
}
