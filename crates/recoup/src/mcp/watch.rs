//! Watches a resource. Memory is mostly changed by other processes, so its files are polled, and
//! the resource is read again after a change; also now and then without one, because it depends on
//! the project's files, too.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::fsx;
use rmcp::model::ResourceUpdatedNotificationParam;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::{ConfigStrictness, ServerState, resources};

/// Interval of polling.
const STEP: Duration = Duration::from_millis(500);

/// Polls after which the resource is read even if no file has changed.
const POLLS_PER_READ: u32 = 20;

/// A watched resource.
#[derive(Debug)]
pub(super) struct ResourceWatch {
    state: ServerState,
    uri: String,
    seen: ResourceSnapshot,
    /// Polls without a change since the last read.
    idle: u32,
}

/// Identity, size and time of a file; none if it does not exist.
type DatabaseFileStamp = Option<(u64, u64, i64, i64)>;

/// Files and text of the last read.
#[derive(Debug, Default)]
struct ResourceSnapshot {
    files: DatabaseStamps,
    text: Option<String>,
}

/// Stamps of the database and its log.
type DatabaseStamps = [DatabaseFileStamp; 2];

impl ResourceWatch {
    pub(super) async fn new(state: ServerState, uri: String) -> Self {
        let mut watch = Self { state, uri, seen: ResourceSnapshot::default(), idle: 0 };
        watch.poll_change().await;
        watch
    }

    /// Waits until the text of the resource changes.
    pub(super) async fn wait_for_change(&mut self) {
        loop {
            sleep(STEP).await;
            if self.poll_change().await {
                return;
            }
        }
    }

    /// Notification for the client.
    pub(super) fn update_notification(&self) -> ResourceUpdatedNotificationParam {
        ResourceUpdatedNotificationParam::new(self.uri.clone())
    }

    /// Returns true if the text has changed.
    async fn poll_change(&mut self) -> bool {
        self.idle += 1;
        let is_known = self.seen.text.is_some() && self.idle < POLLS_PER_READ;
        let known = is_known.then_some(self.seen.files);
        let (state, uri) = (self.state.clone(), self.uri.clone());
        // Unreadable now counts as unchanged.
        let Ok(Some(now)) = spawn_blocking(move || take_snapshot(&state, &uri, known)).await else {
            return false;
        };
        let changed = now.text != self.seen.text;
        (self.seen, self.idle) = (now, 0);
        changed
    }
}

/// Reads the resource; none if the files are unchanged.
fn take_snapshot(
    state: &ServerState,
    uri: &str,
    known: Option<DatabaseStamps>,
) -> Option<ResourceSnapshot> {
    let services = state.services(ConfigStrictness::Strict).ok()?;
    let path = services.memory.path();
    // Before the text, so that a change in between is seen next time.
    let files = [stamp(path), stamp(&fsx::with_suffix(path, "-wal"))];
    if known == Some(files) {
        return None;
    }
    let text = resources::text(services, uri).ok()?;
    Some(ResourceSnapshot { files, text })
}

fn stamp(path: &Path) -> DatabaseFileStamp {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}
