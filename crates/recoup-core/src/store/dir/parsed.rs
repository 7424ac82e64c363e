//! Cache of the parsed index, so that repeated look-ups of other tools' entries do not parse it
//! each time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::index::Index;
use super::stamps::Stamp;
use crate::error::Result;

#[derive(Debug, Default)]
pub(super) struct Parsed(Mutex<Option<Last>>);

#[derive(Debug)]
struct Last {
    path: PathBuf,
    stamp: Stamp,
    index: Arc<Index>,
}

impl Parsed {
    /// The current index. One that has just been changed is not cached: the next change might leave
    /// the same timestamps.
    pub(super) fn index(&self, path: &Path) -> Result<Arc<Index>> {
        let Some(stamp) = Stamp::at(path) else { return Index::read(path).map(Arc::new) };
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && (last.path.as_path(), last.stamp) == (path, stamp)
        {
            return Ok(Arc::clone(&last.index));
        }
        let index = Arc::new(Index::read(path)?);
        if stamp.is_settled() && Stamp::at(path) == Some(stamp) {
            *last = Some(Last { path: path.to_owned(), stamp, index: Arc::clone(&index) });
        }
        Ok(index)
    }
}
