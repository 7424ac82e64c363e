//! Log of failures in hooks, whose stderr nobody sees and whose exit code is always 0.
//!
//! A line has time, client, activity and error. Nothing that anybody typed, and nothing of the
//! environment.

use std::path::Path;

use recoup_core::base::FaultLog;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::text::shorten_text;
use recoup_core::ledger::RollingLog;
use recoup_core::memory::HookClient;
use recoup_core::memory::lang::one_line;
use recoup_core::secrets;
use recoup_core::{Error, base::fsx};

/// Size of a file, and number of files.
const MAX_LEN: u64 = 1 << 20;
const FILES: usize = 3;
/// Length limit of an error, in characters.
const MAX_ERROR_CHARS: usize = 500;

/// `logs/hooks.log` in our own directory.
#[derive(Debug, Clone)]
pub(crate) struct HookLog {
    home: std::path::PathBuf,
    lines: RollingLog,
}

impl HookLog {
    /// Log below `home`. Creates nothing before the first line.
    pub(crate) fn below(home: &Path) -> Self {
        let lines = RollingLog::new(home.join("logs"), "hooks", "log", MAX_LEN, FILES);
        Self { home: home.to_owned(), lines }
    }

    /// Files of the log, oldest first.
    pub(crate) fn paths(&self) -> Vec<std::path::PathBuf> {
        self.lines.paths()
    }

    /// Logs a failure. Best effort: a failed write is ignored.
    pub(crate) fn log_failure(&self, client: Option<HookClient>, doing: &str, why: &str) {
        let client = client.map_or("-", HookClient::as_str);
        let why = one_line(&secrets::redact(why));
        let why = shorten_text(&why, MAX_ERROR_CHARS);
        let line = format!("{} {client} {doing}: {why}\n", SystemClock.now());
        let _ =
            fsx::ensure_private_dir(&self.home).and_then(|()| self.lines.append(line.as_bytes()));
    }

    /// Logs an error.
    pub(crate) fn log_error(&self, client: HookClient, doing: &str, error: &Error) {
        self.log_failure(Some(client), doing, &error.to_string());
    }
}

/// Faults that the database recovered from.
impl FaultLog for HookLog {
    fn fault(&self, _: &str, error: &Error) {
        self.log_failure(None, "memory", &error.to_string());
    }
}
