//! Following a resource. Whoever changes memory is mostly another process, so the files are
//! looked at, and the resource read again when one of them has changed; and now and then in any
//! case, because what it says of the project's files may be another without that.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::fsx;
use rmcp::model::ResourceUpdatedNotificationParam;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::{ConfigCare, Desk, resources};

/// How often the files are looked at.
const STEP: Duration = Duration::from_millis(500);

/// Every so many times the resource is read though no file has changed.
const IN_ANY_CASE: u32 = 20;

/// One resource that somebody follows.
#[derive(Debug)]
pub(super) struct Watch {
    desk: Desk,
    uri: String,
    seen: Seen,
    /// How often nothing had changed since it was read.
    idle: u32,
}

/// A file, by what changes with it; none where there is no such file.
type Stamp = Option<(u64, u64, i64, i64)>;

/// How files and text were when last looked at.
#[derive(Debug, Default)]
struct Seen {
    files: Files,
    text: Option<String>,
}

/// The database and its log, by what changes with them.
type Files = [Stamp; 2];

impl Watch {
    pub(super) async fn new(desk: Desk, uri: String) -> Self {
        let mut watch = Self { desk, uri, seen: Seen::default(), idle: 0 };
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
        self.idle += 1;
        let is_known = self.seen.text.is_some() && self.idle < IN_ANY_CASE;
        let known = is_known.then_some(self.seen.files);
        let (desk, uri) = (self.desk.clone(), self.uri.clone());
        // What can't be read now has not changed yet.
        let Ok(Some(now)) = spawn_blocking(move || look(&desk, &uri, known)).await else {
            return false;
        };
        let changed = now.text != self.seen.text;
        (self.seen, self.idle) = (now, 0);
        changed
    }
}

/// What is there now; none where the files are those that are known.
fn look(desk: &Desk, uri: &str, known: Option<Files>) -> Option<Seen> {
    let around = desk.surroundings(ConfigCare::Strict).ok()?;
    let path = around.memory().path();
    // Before the text: what changes in between is seen the next time.
    let files = [stamp(path), stamp(&fsx::with_suffix(path, "-wal"))];
    if known == Some(files) {
        return None;
    }
    let text = resources::text(around, uri).ok()?;
    Some(Seen { files, text })
}

fn stamp(path: &Path) -> Stamp {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}
