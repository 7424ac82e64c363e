//! Cache of the parsed index, so that repeated look-ups of other tools' entries do not parse it
//! each time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::index::DirectoryIndex;
use super::stamps::StatStamp;
use crate::error::Result;

#[derive(Debug, Default)]
pub(super) struct IndexCache(Mutex<Option<CachedIndex>>);

#[derive(Debug)]
struct CachedIndex {
    path: PathBuf,
    stamp: StatStamp,
    index: Arc<DirectoryIndex>,
}

impl IndexCache {
    /// The current index. One that has just been changed is not cached: the next change might leave
    /// the same timestamps.
    pub(super) fn current_index(&self, path: &Path) -> Result<Arc<DirectoryIndex>> {
        let Some(stamp) = StatStamp::at(path) else {
            return DirectoryIndex::read(path).map(Arc::new);
        };
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && (last.path.as_path(), last.stamp) == (path, stamp)
        {
            return Ok(Arc::clone(&last.index));
        }
        let index = Arc::new(DirectoryIndex::read(path)?);
        if stamp.is_settled() && StatStamp::at(path) == Some(stamp) {
            *last = Some(CachedIndex { path: path.to_owned(), stamp, index: Arc::clone(&index) });
        }
        Ok(index)
    }
}
