//! Common parts of the directory stores: layout of scopes, a lock, and event counts.
//!
//! No symbolic link is followed below the directory: a planted one would redirect our writes and
//! removals. The directory itself may be a link.
//!
//! ```text
//! DIR/                    the scope `global`: such a directory is a scope of its own
//! DIR/tenant/NAME/        the scope `tenant:NAME`, and so on
//! DIR/.recoup/lock        held while more than one file is changed
//! DIR/.recoup/counts.json event counts, and the batches that are in them
//! ```

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;

use super::tallies::TallyTable;
use crate::base::clock::Deadline;
use crate::base::fsx::{self, FileLock};
use crate::entry::{BodyInfo, StoredBody};
use crate::error::{Error, ErrorKind, IoContext as _, Result};
use crate::key::Scope;

/// How long a writer waits for others.
const WAIT: Duration = Duration::from_secs(10);
/// Event counts, and the maximum size of their file: far beyond what years of use amount to.
const COUNTS: &str = "counts.json";
const MAX_COUNTS_LEN: u64 = 64 << 20;

/// Scope types: the text before the colon.
const SCOPE_TYPES: [&str; 3] = ["project", "tenant", "session"];

/// A directory that holds a store.
#[derive(Debug, Clone)]
pub(super) struct StoreFolder {
    root: PathBuf,
}

impl StoreFolder {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The directory for our own files.
    pub(super) fn private_dir(&self) -> PathBuf {
        self.root.join(".recoup")
    }

    /// Waits for the lock that is needed to change more than one file.
    pub(super) fn lock(&self) -> Result<FileLock> {
        self.refuse_links(&self.private_dir())?;
        fsx::ensure_dir(&self.private_dir())?;
        FileLock::acquire(&self.private_dir().join("lock"), Deadline::after(WAIT))
    }

    /// The event counts so far.
    pub(super) fn load_counts(&self) -> Result<TallyTable> {
        self.refuse_links(&self.private_dir())?;
        let json = fsx::read_regular(&self.private_dir().join(COUNTS), MAX_COUNTS_LEN);
        // An unreadable file is replaced: it holds nothing but counts.
        let stored = json.ok().flatten().and_then(|json| serde_json::from_slice(&json).ok());
        Ok(TallyTable::from_stored(stored.unwrap_or_default()))
    }

    /// Saves the event counts. The caller must hold the lock since it loaded them.
    pub(super) fn save_counts(&self, counts: &TallyTable) -> Result<()> {
        self.refuse_links(&self.private_dir())?;
        fsx::ensure_dir(&self.private_dir())?;
        let json =
            serde_json::to_vec(&counts.to_stored()).expect("text and numbers always serialize");
        fsx::write_unsynced(&self.private_dir().join(COUNTS), &json)
    }

    /// The directory of a scope.
    pub(super) fn scope_dir(&self, scope: &Scope) -> PathBuf {
        match scope.as_str().split_once(':') {
            None => self.root.clone(),
            Some((sort, name)) => self.root.join(sort).join(name),
        }
    }

    /// The scopes that have a directory; `global` always does. Links are not followed, and files are
    /// skipped.
    pub(super) fn scopes(&self) -> Result<Vec<Scope>> {
        let mut scopes = vec![Scope::global()];
        for sort in SCOPE_TYPES {
            let dir = self.root.join(sort);
            match fs::symlink_metadata(&dir) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => continue,
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) =>
                {
                    continue;
                }
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot access {}", dir.display()));
                }
            }
            visit_entries(&dir, &mut |entry, name| {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    scopes.extend(Scope::parse(&format!("{sort}:{name}")).ok());
                }
            })?;
        }
        Ok(scopes)
    }

    /// True if the directory exists; an error if something else is in its place.
    pub(super) fn exists(&self) -> Result<bool> {
        let found = match fs::metadata(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            found => found.with_context(|| format!("cannot access {}", self.root.display()))?,
        };
        if found.is_dir() {
            return Ok(true);
        }
        let message = format!("{} is not a directory", self.root.display());
        Err(Error::new(ErrorKind::Io, message))
    }

    /// Checks that every component below the root on the way to `dir` is a directory or does not
    /// exist. One that cannot be inspected is an error.
    pub(super) fn refuse_links(&self, dir: &Path) -> Result<()> {
        let mut path = self.root.clone();
        for name in dir.strip_prefix(&self.root).unwrap_or(Path::new("")) {
            path.push(name);
            let found = match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    return Err(not_a_directory_error(fsx::parent(&path)));
                }
                found => found.with_context(|| format!("cannot access {}", path.display()))?,
            };
            if found.is_symlink() {
                let path = path.display();
                let message = format!(
                    "{path} is a symbolic link, which recoup does not follow: replace it with a directory"
                );
                return Err(Error::new(ErrorKind::Invalid, message));
            }
            if !found.is_dir() {
                return Err(not_a_directory_error(&path));
            }
        }
        Ok(())
    }
}

/// The text of a payload. These formats cannot store other bytes.
pub(super) fn payload_text(payload: &StoredBody, info: &BodyInfo) -> Result<Bytes> {
    let plain = payload.to_plain(info)?;
    match str::from_utf8(&plain) {
        Ok(_) => Ok(plain),
        Err(error) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "the result is not text (byte {} is not UTF-8), and this store keeps text only; \
                 sqlite: and redis: stores take any bytes",
                error.valid_up_to()
            ),
        )),
    }
}

/// Visits everything in `dir` that has a UTF-8 name; nothing if the directory does not exist. A
/// file in its place, or a directory without search permission, is an error: it would seem empty.
pub(super) fn visit_entries(dir: &Path, visit: &mut dyn FnMut(&DirEntry, &str)) -> Result<()> {
    let listing = || format!("cannot list {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(listing)?,
    };
    match fs::metadata(dir.join(".")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        looked => looked.with_context(listing)?,
    };
    for entry in entries {
        let entry = entry.with_context(listing)?;
        if let Some(name) = entry.file_name().to_str() {
            visit(&entry, name);
        }
    }
    Ok(())
}

fn not_a_directory_error(path: &Path) -> Error {
    let path = path.display();
    let message = format!("{path} is not a directory: remove it, or name another directory");
    Error::new(ErrorKind::Invalid, message)
}
