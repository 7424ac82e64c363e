//! The small cache of contract 3: a directory, a key, a text, a time.
//!
//! Nothing but `KEY.json` is ever in its directory, so that other programs of
//! the same format share it. Our own `file:` store reads these files too, and
//! this reads its.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::answer::Answer;
use super::{format, list, look};
use crate::base::clock::{Clock, SystemClock, Timestamp};
use crate::base::fsx::{self, Found};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;

/// Answers in a directory, each in a file of its own.
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
    /// The cache in `dir`, which is created for its owner alone where it is missing.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        Self::with_clock(dir, Arc::new(SystemClock))
    }

    /// The same by another clock.
    pub fn with_clock(dir: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Result<Self> {
        let dir = dir.into();
        fsx::ensure_dir(&dir)?;
        Ok(Self { dir, clock })
    }

    /// Keeps an answer for `ttl`; for ever if that is zero. An empty one is none,
    /// and is refused. What has such a name and is no answer, somebody's
    /// `package.json`, is not replaced.
    pub fn set(&self, key: &str, value: &str, ttl: Duration) -> Result<()> {
        let path = self.path_of(key)?;
        if value.is_empty() {
            let message = format!("the answer for {key:?} is empty, and only others are kept");
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let contents = format::answer(value, self.expiry(ttl));
        if contents.len() as u64 > look::MAX_LEN {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("the answer for {key:?} is too long"),
            ));
        }
        fsx::ensure_dir(&self.dir)?;
        fsx::replace_if(&path, &contents, || may_replace(&path))
    }

    /// The answer; none when it is absent, expired or not readable. What has
    /// expired is removed, unless somebody was faster or put another in its place.
    pub fn get(&self, key: &str) -> Result<Option<String>> {
        let path = self.path_of(key)?;
        Ok(self.answer_at(&path))
    }

    /// Whatever is wrong with a file, it holds no answer.
    fn answer_at(&self, path: &Path) -> Option<String> {
        let file = look::regular(path).ok()??;
        let json = look::contents(&file, path).ok()??;
        let answer = Answer::parse(&json)?;
        if answer.expires().is_some_and(|at| at <= self.clock.now()) {
            // As well as it goes: the next one tries again.
            fsx::try_remove_same(path, file.stamp()).ok();
            return None;
        }
        Some(answer.value.into_owned())
    }

    fn path_of(&self, key: &str) -> Result<PathBuf> {
        Ok(list::path_in(self.dir.clone(), &Key::parse(key)?))
    }

    /// Rounded up to whole milliseconds, so that the shortest is not for ever.
    fn expiry(&self, ttl: Duration) -> Option<Timestamp> {
        let millis = u64::try_from(ttl.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        let at = self.clock.now().plus_millis(millis);
        (millis > 0 && at < Timestamp::MAX).then_some(at)
    }
}

/// Links have no contents of their own, and are replaced. What another program
/// means by our field is its business: it is an answer all the same.
fn may_replace(path: &Path) -> Result<()> {
    let Found::Regular(file) = fsx::look_at(path)? else { return Ok(()) };
    let json = look::contents(&file, path)?;
    if json.is_some_and(|json| Answer::parse(&json).is_some()) {
        return Ok(());
    }
    look::is_entry(path).map(drop)
}
