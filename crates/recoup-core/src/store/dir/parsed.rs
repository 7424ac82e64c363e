//! The index as it was last parsed, so that whoever asks for one entry of another
//! tool after the other does not parse all of them each time.

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
    /// The index that is there now. One that was changed a moment ago is parsed
    /// again: the next change might not show.
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
