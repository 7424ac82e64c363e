//! Commands that run now and whose output may be kept: the state of their sources before they began.
//!
//! ```text
//! ~/.recoup/running/SESSION/CALL    a token, a line end, a directory; both names are digests
//! ```

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::cache::SinceToken;

/// Maximum length of a file.
const MAX_LEN: u64 = 64 << 10;

/// The commands of one session.
pub(super) struct RunningCommands {
    dir: PathBuf,
}

impl RunningCommands {
    pub(super) fn of_session(home: &Path, session: &str) -> Self {
        Self { dir: home.join("running").join(file_name(session)) }
    }

    /// Records that a call has begun in a directory.
    pub(super) fn begin(&self, call: &str, since: &SinceToken, cwd: &Path) -> Result<()> {
        fsx::ensure_private_dir(fsx::parent(&self.dir))?;
        fsx::ensure_private_dir(&self.dir)?;
        let line = format!("{since}\n");
        let text = [line.as_bytes(), cwd.as_os_str().as_bytes()].concat();
        fsx::write_unsynced(&self.dir.join(file_name(call)), &text)
    }

    /// Returns the state from before a call that has ended, and where it began, once.
    pub(super) fn end(&self, call: &str) -> Option<(SinceToken, PathBuf)> {
        let file = self.dir.join(file_name(call));
        let text = fsx::read_regular(&file, MAX_LEN).ok()??;
        fsx::remove(&file).ok()?;
        let end = memchr::memchr(b'\n', &text)?;
        let since = SinceToken::parse(str::from_utf8(&text[..end]).ok()?).ok()?;
        Some((since, OsStr::from_bytes(&text[end + 1..]).into()))
    }

    /// Forgets them all: the session has ended.
    pub(super) fn forget(&self) -> Result<()> {
        if self.dir.is_dir() { fsx::remove_tree(&self.dir) } else { Ok(()) }
    }
}

fn file_name(id: &str) -> String {
    Sha256Digest::of(id.as_bytes()).to_hex()
}
