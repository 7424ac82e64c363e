//! The small cache of the file-cache format: text values by key, with a TTL, in a directory.
//!
//! The directory contains only `KEY.json` files, so that other programs of the same format can
//! share it. It is interoperable with our own `file:` store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::format::{self, SharedFields};
use super::{classify, path_in};
use crate::base::clock::{Clock, SystemClock, Timestamp};
use crate::base::fsx::{self, FileLookup};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;

/// Values in a directory, each in a file of its own.
///
/// ```
/// use std::time::Duration;
/// use recoup_core::FileCache;
///
/// # fn main() -> recoup_core::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// let cache = FileCache::open(dir.path())?;
/// cache.set("greeting", "Hello.", Duration::from_secs(60))?;
/// assert_eq!(cache.get("greeting")?.as_deref(), Some("Hello."));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FileCache {
    dir: PathBuf,
    clock: Arc<dyn Clock>,
}

impl FileCache {
    /// The cache in `dir`, which is created with access for its owner only if it is missing.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        Self::with_clock(dir, Arc::new(SystemClock))
    }

    /// Like [`Self::open`], with another clock.
    pub fn with_clock(dir: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Result<Self> {
        let dir = dir.into();
        fsx::ensure_dir(&dir)?;
        Ok(Self { dir, clock })
    }

    /// Stores a value for `ttl`; forever if that is zero. An empty value is refused, and a file
    /// that is not a cache entry (such as a `package.json`) is not replaced.
    pub fn set(&self, key: &str, value: &str, ttl: Duration) -> Result<()> {
        let path = self.path_of(key)?;
        if value.is_empty() {
            let message = format!("refusing to store an empty answer for {key:?}");
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        // Rounded up to whole milliseconds, so that a tiny TTL does not become forever.
        let millis = u64::try_from(ttl.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        let expiry = self.clock.now().plus_millis(millis);
        let expiry = (millis > 0 && expiry < Timestamp::MAX).then_some(expiry);
        let contents = format::render_shared_fields(value, expiry);
        if contents.len() as u64 > classify::MAX_LEN {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("the answer for {key:?} is too long"),
            ));
        }
        fsx::ensure_dir(&self.dir)?;
        // An error if the file is not a cache entry. Links are replaced. Our own field may have any
        // content: the value still counts.
        fsx::replace_if(&path, &contents, || {
            let FileLookup::Regular(file) = fsx::open_regular(&path)? else { return Ok(()) };
            let json = classify::read_contents(&file, &path)?;
            if json.is_some_and(|json| SharedFields::parse(&json).is_some()) {
                return Ok(());
            }
            classify::is_entry(&path).map(drop)
        })
    }

    /// Returns the value; `None` if it is absent, expired or unreadable. An expired file is
    /// removed, unless another program replaced it meanwhile.
    pub fn get(&self, key: &str) -> Result<Option<String>> {
        let path = self.path_of(key)?;
        let Ok(Some(file)) = classify::open_entry_file(&path) else { return Ok(None) };
        let Ok(Some(json)) = classify::read_contents(&file, &path) else { return Ok(None) };
        let Some(answer) = SharedFields::parse(&json) else { return Ok(None) };
        if answer.expires().is_some_and(|at| at <= self.clock.now()) {
            // Best effort: the next read tries again.
            fsx::try_remove_if_unchanged(&path, file.stamp()).ok();
            return Ok(None);
        }
        Ok(Some(answer.value.into_owned()))
    }

    fn path_of(&self, key: &str) -> Result<PathBuf> {
        Ok(path_in(self.dir.clone(), &Key::parse(key)?))
    }
}
