//! One call through the cache: a hit without waiting, the look-up that may wait for another caller,
//! and the result that is kept.

use std::time::Duration;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::{
    CacheMode, FillOutcome, FillRefusal, LookupExplanation, LookupRequest, MissReason, Outcome,
    PeekOutcome, Permit, Ttl, WaitPolicy,
};
use recoup_core::entry::{Draft, Entry, ProducerIdentity, ProductionCost};
use recoup_core::key::{EntryId, KeyPart, Kind};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::value::RawValue;

use super::identity::DirectoryView;
use super::plan::{TOOLS_LIST, ToolCache, ToolCacheParts};
use super::policy::CacheAllowance;
use super::result::{self, ServedResult};
use super::write_marks::WriteMarks;
use super::writes::{StaleResults, WritePosition};

/// How a call waits for the result of an identical one, which may be stuck: not long, and not for the
/// next one if the first result is not kept.
pub(crate) const IDENTICAL_CALL_WAIT: WaitPolicy<'static> =
    WaitPolicy { wait: Some(Duration::from_secs(30)), leaders: Some(1), on_long_wait: None };

/// A call whose result may be cached.
#[derive(Debug)]
pub(crate) struct CachedCall {
    pub(super) cache: ToolCache,
    /// Digest of the server's identity when the call was planned.
    pub(super) server: Sha256Digest,
    /// How far the server's directory is in that digest.
    pub(super) view: DirectoryView,
    pub(super) id: EntryId,
    pub(super) parts: Vec<KeyPart>,
    pub(super) identity: ProducerIdentity,
    pub(super) is_tool: bool,
    pub(super) ttl: Ttl,
    pub(super) sources: Vec<String>,
    pub(super) tags: Vec<String>,
    pub(super) allowed_by: CacheAllowance,
    /// Writes that drop it.
    pub(super) dropped_by: Vec<StaleResults>,
    /// Parameters of `tools/list`.
    pub(super) list_params: Option<String>,
    /// URI of the resource that it reads.
    pub(super) uri: Option<String>,
}

/// End of a look-up.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it for a call")]
pub(crate) enum ToolOutcome {
    Hit(ServedResult),
    /// The caller asks the server, and hands the permit back with the result.
    Miss(ToolPermit),
    /// The caller asks the server; the result is not kept.
    Bypass,
}

/// Permission to keep the result of one call. Others that wait for the same result take over when it
/// is dropped.
#[derive(Debug)]
pub(crate) struct ToolPermit {
    permit: Permit,
    began: CallStart,
}

/// State of the writes when a call began: later ones may not be in the result.
#[derive(Debug)]
struct CallStart {
    /// Writes of this process.
    position: WritePosition,
    /// Writes of other processes.
    marks: WriteMarks,
}

impl ToolPermit {
    /// Gives up, as when the call is cancelled, so that another caller can take over at once.
    pub(crate) fn release(self) {
        self.permit.release();
    }
}

impl CachedCall {
    /// Identity of the entry, the same for identical calls.
    pub(crate) fn id(&self) -> &EntryId {
        &self.id
    }

    /// A hit, counted, without waiting for anybody; else what was found, for [`Self::lookup`].
    pub(crate) fn peek(&self) -> Result<ServedResult, Option<PeekOutcome>> {
        let ToolCacheParts { cache, mode, .. } = self.cache_parts();
        if *mode == CacheMode::Refresh {
            return Err(None);
        }
        let entry = cache.read_hit(&self.request(*mode, WaitPolicy::default())).map_err(Some)?;
        self.serve(&entry).ok().flatten().ok_or(None)
    }

    /// Looks up the result, after `first`. While another caller asks the server the same, this waits
    /// for its answer. An error only if the user wants cached results alone, and there is none.
    pub(crate) fn lookup(
        &self,
        first: Option<PeekOutcome>,
        wait: WaitPolicy<'_>,
    ) -> Result<ToolOutcome> {
        let ToolCacheParts { cache, mode, .. } = self.cache_parts();
        let outcome = match cache.lookup_after(&self.request(*mode, wait), first) {
            Ok(Outcome::Hit(entry)) => match self.serve(&entry) {
                Ok(Some(served)) => return Ok(ToolOutcome::Hit(served)),
                // Its bytes are damaged: it is replaced.
                _ => cache.lookup(&self.request(CacheMode::Refresh, wait)),
            },
            outcome => outcome,
        };
        let reason = match outcome {
            Ok(Outcome::Miss(permit, reason)) => {
                if let MissReason::Unavailable(error) = &reason {
                    // A store that could not answer is not asked to store anything.
                    self.cache.report(error);
                    permit.release();
                    return Ok(ToolOutcome::Bypass);
                }
                let position = self.cache.inner.writes.position();
                let marks = self.cache.write_marks(&self.dropped_by);
                let began = CallStart { position, marks };
                return Ok(ToolOutcome::Miss(ToolPermit { permit, began }));
            }
            Ok(Outcome::Bypass(reason)) => reason,
            Ok(Outcome::Hit(_) | Outcome::Stale(..)) => MissReason::Absent,
            // Sources that cannot be watched, such as a file that does not exist: not cached.
            Err(error) if matches!(error.kind(), ErrorKind::Absent | ErrorKind::Usage) => {
                MissReason::Absent
            }
            Err(error) => {
                self.cache.report(&error);
                MissReason::Absent
            }
        };
        if *mode == CacheMode::OnlyIfCached {
            let message = format!("only cached results are allowed, and {reason}");
            return Err(Error::new(ErrorKind::Absent, message));
        }
        Ok(ToolOutcome::Bypass)
    }

    /// Keeps a result, unless it must not be kept. Never fails: the call has its answer already.
    pub(crate) fn store(&self, permit: ToolPermit, result: &RawValue, took: Duration) {
        let ToolPermit { permit, began } = permit;
        let ttl = match self.check(result.get(), &began) {
            Ok(ttl) => ttl,
            Err(why) => {
                let refusal = FillRefusal::Unkept(why);
                return permit.release_unkept(Kind::Tool, &self.identity, &refusal);
            }
        };
        let millis = u64::try_from(took.as_millis()).ok();
        let draft = Draft {
            identity: self.identity.clone(),
            parts: self.parts.clone(),
            tags: self.tags.clone(),
            cost: ProductionCost { millis, ..ProductionCost::default() },
            withheld: self.cache_parts().withheld.clone(),
            ..Draft::new(Kind::Tool, result.get().to_owned())
        };
        let filled = permit.fill(draft, ttl);
        // A write that began meanwhile may have dropped the entry before it was there.
        if self.is_overwritten(&began) {
            self.remove();
        }
        match filled {
            Ok(FillOutcome::Stored(_) | FillOutcome::Refused(_) | FillOutcome::Off) => {}
            Err(error) => self.cache.report(&error),
        }
    }

    /// Explains how a look-up would end.
    pub(super) fn explain(&self) -> LookupExplanation {
        let ToolCacheParts { cache, mode, .. } = self.cache_parts();
        cache.explain(&self.request(*mode, WaitPolicy::default()))
    }

    /// The TTL to keep the result with, or why it is not kept.
    fn check(&self, result: &str, began: &CallStart) -> Result<Ttl, String> {
        let hints = result::check_result(result, self.is_tool)?;
        if hints.is_private && self.cache_parts().is_shared {
            return Err("the server hints cacheScope: private, and others share the store".into());
        }
        if self.cache.fingerprint(self.view).is_none_or(|server| server.digest != self.server) {
            return Err("the client's roots changed during the call".to_owned());
        }
        if self.is_overwritten(began) {
            return Err("a call that makes it stale ran at the same time".to_owned());
        }
        Ok(hints.ttl.min(self.ttl))
    }

    fn is_overwritten(&self, began: &CallStart) -> bool {
        let writes = &self.cache.inner.writes;
        writes.has_written_since(began.position, |stale| self.is_made_stale_by(stale))
            || self.cache.write_marks(&self.dropped_by) != began.marks
    }

    /// True if a write that makes these results stale concerns this one.
    pub(super) fn is_made_stale_by(&self, stale: &StaleResults) -> bool {
        match stale {
            StaleResults::Named(pattern) => {
                pattern.matches(self.identity.name.as_deref().unwrap_or_default())
            }
            StaleResults::Resource(uri) => self.uri.as_ref() == Some(uri),
            StaleResults::ReadOnly => self.allowed_by == CacheAllowance::ReadOnly,
            StaleResults::Everything => true,
            StaleResults::ServerDefault => self.allowed_by == CacheAllowance::ServerDefault,
        }
    }

    fn remove(&self) {
        if let Err(error) = self.cache_parts().cache.remove(&self.id) {
            self.cache.report(&error);
        }
    }

    fn request<'a>(&'a self, mode: CacheMode, wait_policy: WaitPolicy<'a>) -> LookupRequest<'a> {
        let ToolCacheParts { paths, max_age, withheld, .. } = self.cache_parts();
        LookupRequest {
            identity: Some(&self.identity),
            parts: &self.parts,
            sources: &self.sources,
            ttl: self.ttl.as_millis(),
            max_age: max_age.and_then(Ttl::as_millis),
            withheld: Some(withheld),
            mode,
            wait_policy,
            ..LookupRequest::new(Kind::Tool, &self.id, paths)
        }
    }

    /// The result in an entry; `None` if it is none.
    fn serve(&self, entry: &Entry) -> Result<Option<ServedResult>> {
        let body = entry.body().to_bytes()?;
        let Ok(json) = str::from_utf8(&body) else { return Ok(None) };
        let age = self.cache_parts().cache.clock().now().millis_since(entry.head().header.created);
        if let Some(params) = &self.list_params
            && !self.cache.knows_tools()
            && let Ok(params) = serde_json::from_str(params)
            && let Ok(list) = serde_json::from_str(json)
        {
            self.cache.learn_list(TOOLS_LIST, Some(params), list);
        }
        Ok(ServedResult::new(json, age, &self.id.key))
    }

    fn cache_parts(&self) -> &ToolCacheParts {
        &self.cache.inner.parts
    }
}
