//! Log of failures in hooks, whose stderr nobody sees and whose exit code is always 0.
//!
//! A line has time, client, activity and error. Nothing that anybody typed, and nothing of the
//! environment.

use std::path::Path;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::text::shortened;
use recoup_core::ledger::Rolling;
use recoup_core::memory::hooked::Client;
use recoup_core::memory::inject::one_line;
use recoup_core::secrets;
use recoup_core::store::{FaultLog, Info};
use recoup_core::{Error, base::fsx};

/// Size of a file, and number of files.
const MAX_LEN: u64 = 1 << 20;
const FILES: usize = 3;
/// Length limit of an error, in characters.
const LONGEST: usize = 500;

/// `logs/hooks.log` in our own directory.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    home: std::path::PathBuf,
    lines: Rolling,
}

impl Log {
    /// Log below `home`. Creates nothing before the first line.
    pub(crate) fn below(home: &Path) -> Self {
        let lines = Rolling::new(home.join("logs"), "hooks", "log", MAX_LEN, FILES);
        Self { home: home.to_owned(), lines }
    }

    /// Files of the log, oldest first.
    pub(crate) fn paths(&self) -> Vec<std::path::PathBuf> {
        self.lines.paths()
    }

    /// Logs a failure. Best effort: a failed write is ignored.
    pub(crate) fn note(&self, client: Option<Client>, doing: &str, why: &str) {
        let client = client.map_or("-", Client::as_str);
        let why = one_line(&secrets::redact(why));
        let why = shortened(&why, LONGEST);
        let line = format!("{} {client} {doing}: {why}\n", SystemClock.now());
        let _ =
            fsx::ensure_private_dir(&self.home).and_then(|()| self.lines.append(line.as_bytes()));
    }

    /// Logs an error.
    pub(crate) fn fault(&self, client: Client, doing: &str, error: &Error) {
        self.note(Some(client), doing, &error.to_string());
    }
}

/// Faults that the database recovered from.
impl FaultLog for Log {
    fn fault(&self, _: &Info, error: &Error) {
        self.note(None, "memory", &error.to_string());
    }
}
