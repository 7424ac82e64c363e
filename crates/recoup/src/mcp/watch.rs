//! Following a resource. Whoever changes memory is mostly another process, so the files are
//! looked at, and the resource read again only when one of them has changed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::fsx;
use rmcp::model::ResourceUpdatedNotificationParam;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::{Desk, resources};

/// How often the files are looked at.
const STEP: Duration = Duration::from_millis(500);

/// One resource that somebody follows.
#[derive(Debug)]
pub(super) struct Watch {
    desk: Desk,
    uri: String,
    seen: Seen,
}

/// How files and text were when last looked at.
#[derive(Debug, Default)]
struct Seen {
    files: Files,
    text: Option<String>,
}

/// The database and its log, by what changes with them.
type Files = [Option<(u64, u64, i64, i64)>; 2];

impl Watch {
    pub(super) async fn new(desk: Desk, uri: String) -> Self {
        let mut watch = Self { desk, uri, seen: Seen::default() };
        watch.look().await;
        watch
    }

    /// Waits for a change of what the resource says.
    pub(super) async fn changed(&mut self) {
        loop {
            sleep(STEP).await;
            if self.look().await {
                return;
            }
        }
    }

    /// What a client is told.
    pub(super) fn notice(&self) -> ResourceUpdatedNotificationParam {
        ResourceUpdatedNotificationParam::new(self.uri.clone())
    }

    /// Whether the text is another than the last time.
    async fn look(&mut self) -> bool {
        let (desk, uri, seen) = (self.desk.clone(), self.uri.clone(), self.seen.files);
        // What can't be read now has not changed yet.
        let Ok(Some(now)) = spawn_blocking(move || look(&desk, &uri, seen)).await else {
            return false;
        };
        let changed = now.text != self.seen.text;
        self.seen = now;
        changed
    }
}

/// What is there now; none where no file has changed.
fn look(desk: &Desk, uri: &str, seen: Files) -> Option<Seen> {
    let around = desk.surroundings().ok()?;
    let path = around.memory().path();
    // Before the text: what changes in between is seen the next time.
    let files = [stamp(path), stamp(&fsx::with_suffix(path, "-wal"))];
    if files == seen {
        return None;
    }
    let text = resources::text(around, uri).ok()?;
    Some(Seen { files, text })
}

fn stamp(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}
