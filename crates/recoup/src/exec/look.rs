//! Looks up a command's result. An error of the store is reported, and the command runs all the
//! same.

use recoup_core::cache::{CacheMode, MissReason, Outcome, Permit};
use recoup_core::entry::Entry;
use recoup_core::{Error, ErrorKind, Result};

use super::record::{ByteSpool, CommandTranscript};
use super::{CacheTarget, ExecInvocation};

/// Attempts to read an entry that others keep replacing.
const MAX_READ_TRIES: usize = 3;

/// Decision after a look-up.
#[expect(clippy::large_enum_variant, reason = "there is one of it in a process")]
pub(super) enum LookupDecision {
    /// Replay it, and start a refresh in the background if `refresh`.
    Found { transcript: CommandTranscript, age: u64, refresh: bool },
    /// Run it; cached only with a permit.
    Run {
        permit: Option<Permit>,
        /// True if it was never cached before.
        is_first: bool,
    },
    /// Neither cached nor allowed to run.
    Nothing(MissReason),
}

impl LookupDecision {
    fn without_permit() -> Self {
        Self::Run { permit: None, is_first: false }
    }
}

impl ExecInvocation<'_> {
    pub(super) fn look_up(&self) -> Result<LookupDecision> {
        let Some(slot) = &self.slot else { return Ok(self.without_entry(MissReason::Absent)) };
        let cache = &slot.cache;
        for _ in 0..MAX_READ_TRIES {
            // Else the wait looks like a hang.
            let announce = || {
                self.reporter.note(format_args!(
                    "waiting for another run of the same command (--wait off runs it at once)"
                ));
            };
            let outcome = match cache.lookup(&slot.request(self.mode, &announce)) {
                Ok(outcome) => outcome,
                Err(error) => return self.recover_from_error(error),
            };
            let (entry, refresh) = match outcome {
                Outcome::Hit(entry) => (entry, false),
                // Released before the refresher asks for it.
                Outcome::Stale(entry, permit) => (entry, permit.map(Permit::release).is_some()),
                Outcome::Miss(permit, reason) => return Ok(self.miss(permit, reason)),
                Outcome::Bypass(reason) => {
                    if let MissReason::Unavailable(error) = &reason {
                        self.reporter.warn(error);
                    }
                    return Ok(self.without_entry(reason));
                }
            };
            let age = cache.clock().now().millis_since(entry.head().header.created);
            match read_transcript(&entry) {
                Ok(Some(transcript)) if self.accepts(slot, &transcript, age) => {
                    return Ok(LookupDecision::Found { transcript, age, refresh });
                }
                Ok(_) => break,
                // Replaced while it was read: look up the new one.
                Err(error) if error.kind() == ErrorKind::Corrupt => {}
                Err(error) => {
                    self.reporter.warn(&error);
                    break;
                }
            }
        }
        self.replace_unreadable(slot)
    }

    /// Repeats the look-up's checks of the header, because not every store keeps it whole.
    fn accepts(&self, slot: &CacheTarget, transcript: &CommandTranscript, age: u64) -> bool {
        let CommandTranscript { exit, streams_merged, .. } = *transcript;
        self.keeping.accepts(exit, age) && (slot.accepts_merged_streams || !streams_merged)
    }

    /// Runs it uncached, if it may run.
    fn without_entry(&self, reason: MissReason) -> LookupDecision {
        match self.mode {
            CacheMode::OnlyIfCached => LookupDecision::Nothing(reason),
            _ => LookupDecision::without_permit(),
        }
    }

    /// Ends on a usage error; survives an error of the store.
    fn recover_from_error(&self, error: Error) -> Result<LookupDecision> {
        match error.kind() {
            ErrorKind::Usage => return Err(error),
            // Generated files may not exist yet; sources may be too many, or have unsupported names.
            ErrorKind::Absent | ErrorKind::Invalid => {
                self.reporter.warn(&error.context("not cached"));
            }
            _ => self.reporter.warn(&error),
        }
        Ok(self.without_entry(MissReason::Absent))
    }

    fn miss(&self, permit: Permit, reason: MissReason) -> LookupDecision {
        if let MissReason::Unavailable(error) = reason {
            // Warn once: a store that could not answer is not asked to store anything.
            self.reporter.warn(&error);
            return LookupDecision::without_permit();
        }
        self.reporter.detail(format_args!("{}: {reason}", reason.status()));
        let files = self.slot.iter().flat_map(|slot| &slot.argument_files);
        let files: Vec<&str> = files.map(String::as_str).collect();
        if !files.is_empty() {
            self.reporter.detail(format_args!(
                "watching {} (disable with --no-auto-source)",
                files.join(", ")
            ));
        }
        LookupDecision::Run { permit: Some(permit), is_first: matches!(reason, MissReason::Absent) }
    }

    /// Replaces an entry that can't be used.
    fn replace_unreadable(&self, slot: &CacheTarget) -> Result<LookupDecision> {
        if self.mode == CacheMode::OnlyIfCached {
            return Ok(LookupDecision::Nothing(MissReason::Absent));
        }
        match slot.cache.lookup(&slot.request(CacheMode::Refresh, &|| {})) {
            Ok(Outcome::Miss(permit, _)) => {
                Ok(LookupDecision::Run { permit: Some(permit), is_first: false })
            }
            Ok(_) => Ok(LookupDecision::without_permit()),
            Err(error) => self.recover_from_error(error),
        }
    }
}

/// Reads and verifies the transcript in an entry; none if a later version wrote it.
pub(super) fn read_transcript(entry: &Entry) -> Result<Option<CommandTranscript>> {
    match CommandTranscript::read(entry.body(), ByteSpool::default()) {
        // There may be no room for a temporary file.
        Err(error) if error.kind() == ErrorKind::Io => {
            CommandTranscript::read(entry.body(), ByteSpool::in_memory())
        }
        read => read,
    }
}
