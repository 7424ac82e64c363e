//! Tickets of calls: each ends once, with what it makes stale dropped again and a line in the log.

use std::time::Duration;

use recoup_core::base::digest::Sha256Digest;
use serde_json::value::RawValue;

use super::call_log::{CallLogLine, LoggedOutcome};
use super::params::MAX_PARAMS_LEN;
use super::pass_reason::PassReason;
use super::plan::ToolCache;
use super::policy::NotCachedReason;
use super::result::{self, ServedResult};
use super::upkeep::StaleDrop;
use super::writes::StaleResults;

/// A call that is under way. Dropped without an end, as when its server dies, it may have written.
#[derive(Debug)]
pub(crate) struct CallTicket {
    cache: ToolCache,
    /// Name of the tool, or the method.
    name: String,
    /// Digest of the arguments, unless they are very long.
    pub(super) arguments: Option<Sha256Digest>,
    /// Why it is passed; none for a call that goes through the cache.
    pub(super) passed: Option<PassReason>,
    /// True if the tool declares itself read-only, false if it declares that it writes.
    pub(super) read_only: Option<bool>,
    /// Names of the tool's arguments that are paths.
    pub(super) file_arguments: Vec<String>,
    pub(super) stale: Vec<StaleResults>,
    /// False for requests that are not about tools, resources or prompts.
    pub(super) is_logged: bool,
}

/// End of a call.
#[derive(Debug)]
pub(crate) enum CallEnd<'a> {
    /// Answered from the cache.
    Hit(&'a ServedResult),
    /// Answered by the server.
    Answered { result: &'a RawValue, took: Duration },
    /// Answered with an error of this length, or not at all because the server died or was too slow.
    Failed { bytes: usize, took: Duration },
    /// Given up by the caller.
    Cancelled,
}

impl CallTicket {
    /// A call that makes nothing stale.
    pub(super) fn new(cache: &ToolCache, name: &str) -> Self {
        Self {
            cache: cache.clone(),
            name: name.to_owned(),
            arguments: None,
            passed: None,
            read_only: None,
            file_arguments: Vec::new(),
            stale: Vec::new(),
            is_logged: true,
        }
    }

    /// Lets what the call has made stale be dropped; true if there is any. Call it before the answer
    /// is passed on. This process serves none of it any more, other ones do until it is dropped
    /// ([`ToolCache::await_upkeep`]). Does nothing for a call that does not write, and nothing the
    /// second time.
    pub(crate) fn end_write(&mut self) -> bool {
        let stale = std::mem::take(&mut self.stale);
        let has_written = !stale.is_empty();
        if has_written {
            self.cache.drop_soon(StaleDrop { stale, is_marked: true, is_end: true });
        }
        has_written
    }
}

impl Drop for CallTicket {
    fn drop(&mut self) {
        self.end_write();
    }
}

impl ToolCache {
    /// Waits until the store has everything, or for so long, and appends events that wait to be
    /// written together.
    pub(crate) fn flush(&self, limit: Duration) {
        self.await_upkeep(limit);
        self.inner.parts.cache.flush_events();
    }

    /// Ends a call: drops what it made stale, if [`CallTicket::end_write`] has not done that, and
    /// logs it, unless it is a request such as `initialize` or `ping`.
    pub(crate) fn finished(&self, mut ticket: CallTicket, end: &CallEnd<'_>) {
        ticket.end_write();
        if !ticket.is_logged {
            return;
        }
        let CallTicket { name, arguments, passed, read_only, file_arguments, .. } = &mut ticket;
        let (result, bytes, took) = match end {
            CallEnd::Hit(served) => (None, served.as_json().len(), Duration::ZERO),
            CallEnd::Answered { result, took } => (Some(result.get()), result.get().len(), *took),
            CallEnd::Failed { bytes, took } => (None, *bytes, *took),
            CallEnd::Cancelled => (None, 0, Duration::ZERO),
        };
        // A long result is not worth the time.
        let result = result.filter(|result| result.len() <= MAX_PARAMS_LEN);
        let outcome = match (end, &passed) {
            (CallEnd::Hit(_), _) => LoggedOutcome::Hit,
            (CallEnd::Cancelled, _) => LoggedOutcome::Cancelled,
            (_, Some(_)) => LoggedOutcome::Pass,
            (_, None) => LoggedOutcome::Miss,
        };
        let parts = &self.inner.parts;
        let line = CallLogLine {
            at: parts.cache.clock().now(),
            server: parts.name.clone(),
            tool: std::mem::take(name),
            outcome,
            why: passed.as_ref().map(|reason| reason.kind().to_owned()),
            lacks_ttl: *passed == Some(PassReason::Policy(NotCachedReason::NoTtl)),
            read_only: *read_only,
            file_arguments: std::mem::take(file_arguments),
            error: matches!(end, CallEnd::Failed { .. }) || result.is_some_and(result::is_error),
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            bytes: bytes as u64,
            arguments: *arguments,
            result: result.map(|result| Sha256Digest::of(result.as_bytes())),
        };
        if let Err(error) = parts.call_log.append(&line) {
            self.report(&error);
        }
    }
}
