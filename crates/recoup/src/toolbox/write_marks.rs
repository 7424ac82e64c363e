//! Marks of writes in the store, for the other proxies of a server: a result whose call began before
//! another process's write ended may be about either state, and is not kept. A mark is written before
//! stale entries are dropped, and compared before and after a result is stored.

use std::sync::atomic::{AtomicU64, Ordering};

use recoup_core::Result;
use recoup_core::cache::{CacheMode, LookupRequest, Ttl};
use recoup_core::entry::{Draft, ProducerIdentity};
use recoup_core::key::{EntryId, Key, KeyPart, Kind};

use super::plan::{ToolCache, ToolCacheParts};
use super::writes::StaleResults;

/// Longer than any call takes.
const MARK_TTL: Ttl = Ttl::days(1);
/// Number of the next mark of this process.
static NEXT_MARK: AtomicU64 = AtomicU64::new(0);

/// The marks of some kinds of writes at one time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WriteMarks(Vec<Option<Vec<u8>>>);

impl ToolCache {
    /// Reads the marks of these kinds of writes.
    pub(super) fn write_marks(&self, stale: &[StaleResults]) -> WriteMarks {
        let ToolCacheParts { cache, paths, .. } = &self.inner.parts;
        let read = |stale: &StaleResults| {
            let id = self.mark_id(stale)?;
            let entry = cache.peek(&LookupRequest::new(Kind::Tool, &id, paths)).entry()?;
            entry.body().to_bytes().ok().map(|body| body.to_vec())
        };
        WriteMarks(stale.iter().map(read).collect())
    }

    /// Marks a write that begins or ends.
    pub(super) fn mark_write(&self, stale: &StaleResults) -> Result<()> {
        let ToolCacheParts { cache, paths, name, mode, .. } = &self.inner.parts;
        let is_used = cache.enabled() && *mode != CacheMode::Bypass;
        let Some(id) = self.mark_id(stale).filter(|_| is_used) else { return Ok(()) };
        let (now, number) =
            (cache.clock().now().as_millis(), NEXT_MARK.fetch_add(1, Ordering::Relaxed));
        let mark = format!("{now} {} {number}", std::process::id());
        let draft = Draft {
            identity: ProducerIdentity {
                name: Some("latest write".to_owned()),
                namespace: Some(name.clone()),
                hash: None,
            },
            parts: vec![KeyPart::shown("tool", "latest write")],
            ..Draft::new(Kind::Tool, mark)
        };
        cache.permit(&id, paths, &[])?.fill(draft, MARK_TTL).map(drop)
    }

    /// None for what only a server's notification makes stale, since each proxy hears its own, and for
    /// messages that cannot be read, which hardly any client sends.
    fn mark_id(&self, stale: &StaleResults) -> Option<EntryId> {
        let what = match stale {
            StaleResults::Named(pattern) => ["name", pattern.as_str()],
            StaleResults::ReadOnly => ["read-only", ""],
            StaleResults::ServerDefault => ["default", ""],
            StaleResults::Resource(_) | StaleResults::Everything => return None,
        };
        let key = Key::of(["mcp write", self.tag_of_server(), what[0], what[1]]);
        Some(EntryId::new(self.inner.parts.scope.clone(), key))
    }
}
