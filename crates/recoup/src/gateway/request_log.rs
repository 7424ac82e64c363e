//! The log of requests, `gateway-requests.jsonl`: what `recoup explain` says about one that is over. It has
//! digests of the parts of requests and counts of tokens, and no text of either side.

use std::path::Path;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::fsx;
use recoup_core::key::KeyPart;
use recoup_core::ledger::RollingLog;
use recoup_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::endpoint::AnswerTokens;
use super::prompt_cache::{PromptCacheMiss, PromptOutline, find_misses};

/// Version of the format.
const VERSION: u32 = 1;
/// Size of a file of the log, and number of files.
const LOG_BYTES: u64 = 16 << 20;
const LOG_FILES: usize = 5;
/// Largest file that is read.
const MAX_READ: u64 = 4 * LOG_BYTES;

/// A request that was answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoggedRequest {
    pub(super) v: u32,
    pub(crate) id: String,
    /// Start, in milliseconds since 1970, and duration in milliseconds.
    pub(super) started: i64,
    pub(super) ms: u64,
    pub(crate) scope: String,
    pub(super) upstream: String,
    pub(super) model: String,
    /// Outcome, as in the header `Recoup-Cache`.
    pub(crate) cache: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// None if it passed by the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// Parts of the key, without their text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<KeyPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<PromptOutline>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<AnswerTokens>,
}

impl LoggedRequest {
    pub(super) fn new(id: String, scope: String, started: i64, ms: u64) -> Self {
        Self {
            v: VERSION,
            id,
            started,
            ms,
            scope,
            upstream: String::new(),
            model: String::new(),
            cache: String::new(),
            reason: None,
            key: None,
            parts: Vec::new(),
            prompt: None,
            usage: None,
        }
    }

    pub(super) fn ended(&self) -> i64 {
        self.started.saturating_add_unsigned(self.ms)
    }

    /// Time of its start, for people.
    pub(crate) fn started_at(&self) -> String {
        Timestamp::from_millis(self.started).to_string()
    }
}

/// The log in a directory.
pub(super) fn request_log(dir: &Path) -> RollingLog {
    RollingLog::new(dir, "gateway-requests", "jsonl", LOG_BYTES, LOG_FILES)
}

/// Requests of the log, in the order in which they were sent.
#[derive(Debug)]
pub(crate) struct RequestHistory(Vec<LoggedRequest>);

impl RequestHistory {
    /// Reads the log in a directory. Lines that are damaged or of a later version are left out.
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let mut requests = Vec::new();
        for path in request_log(dir).paths() {
            let bytes = fsx::read_regular(&path, MAX_READ)?.unwrap_or_default();
            let lines = bytes.split(|byte| *byte == b'\n');
            let read = lines.filter_map(|line| serde_json::from_slice::<LoggedRequest>(line).ok());
            requests.extend(read.filter(|request| request.v == VERSION));
        }
        requests.sort_by_key(|request| request.started);
        Ok(Self(requests))
    }

    /// The request with this id.
    pub(crate) fn find(&self, id: &str) -> Option<&LoggedRequest> {
        self.0.iter().find(|request| request.id == id)
    }

    /// Number of requests with a prompt.
    pub(crate) fn prompts(&self) -> usize {
        self.0.iter().filter(|request| request.prompt.is_some()).count()
    }

    /// All misses of providers' prompt caches.
    pub(crate) fn prompt_cache_misses(&self) -> Vec<PromptCacheMiss> {
        find_misses(&self.0)
    }

    /// The miss of one request; an error if it is not known.
    pub(crate) fn prompt_cache_miss(&self, id: &str) -> Result<Option<PromptCacheMiss>> {
        self.find(id).ok_or_else(|| unknown_request(id))?;
        Ok(self.prompt_cache_misses().into_iter().find(|miss| miss.request == id))
    }
}

/// Error for an id that is not in the log.
fn unknown_request(id: &str) -> Error {
    Error::usage(format!(
        "no request {id} in the gateway's log: expected the header Recoup-Request-Id of an answer \
         (the log keeps about 80 MB)"
    ))
}
