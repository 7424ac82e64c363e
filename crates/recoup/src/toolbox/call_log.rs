//! Log of the calls that passed the proxy, cached or not: the evidence behind `recoup mcp stats`. It
//! has names, times, sizes and digests, but no arguments and no results.

use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::ledger::RollingLog;
use serde::{Deserialize, Serialize};

/// Maximum size of a file, and number of files.
const MAX_LEN: u64 = 10 << 20;
const FILES: usize = 5;

/// The log of calls.
#[derive(Debug, Clone)]
pub(crate) struct CallLog(Option<RollingLog>);

/// A call, as it is logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallLogLine {
    pub(crate) at: Timestamp,
    pub(crate) server: String,
    /// Name of the tool, or the method.
    pub(crate) tool: String,
    pub(crate) outcome: LoggedOutcome,
    /// Why it was not cached, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// True if it would be cached, had it a TTL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) lacks_ttl: bool,
    /// True if the tool declares itself read-only, false if it declares that it writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) read_only: Option<bool>,
    /// Names of the tool's arguments that are paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) file_arguments: Vec<String>,
    /// True if the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) error: bool,
    /// Duration; 0 for a hit.
    pub(crate) millis: u64,
    /// Length of the answer.
    pub(crate) bytes: u64,
    /// Digest of the arguments; none for very long ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<Sha256Digest>,
    /// Digest of the server's result; none for hits, errors and very long ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Sha256Digest>,
}

/// How a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LoggedOutcome {
    /// From the cache.
    Hit,
    /// By the server, through the cache.
    Miss,
    /// By the server, past the cache.
    Pass,
    /// Not at all.
    Cancelled,
}

impl CallLog {
    /// The log below our own directory `home`.
    pub(crate) fn below(home: &Path) -> Self {
        Self(Some(RollingLog::new(home.join("logs"), "mcp-calls", "jsonl", MAX_LEN, FILES)))
    }

    /// A log that keeps nothing.
    pub(crate) fn off() -> Self {
        Self(None)
    }

    pub(super) fn append(&self, line: &CallLogLine) -> Result<()> {
        let Some(log) = &self.0 else { return Ok(()) };
        let mut json = serde_json::to_vec(line).expect("names and numbers always serialize");
        json.push(b'\n');
        log.append(&json)
    }

    /// Files of the log, the oldest first; not all of them need exist.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.0.as_ref().map(RollingLog::paths).unwrap_or_default()
    }

    /// Calls `visit` with each logged call, the oldest first. Lines that cannot be read are skipped.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(CallLogLine)) -> Result<()> {
        for path in self.paths() {
            let text = fsx::read_regular(&path, 2 * MAX_LEN)?.unwrap_or_default();
            let lines = text.split(|byte| *byte == b'\n');
            lines.filter_map(|line| serde_json::from_slice(line).ok()).for_each(&mut visit);
        }
        Ok(())
    }
}
