//! A file that is written in one directory and then moved into another, whose readers never see
//! half of one.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{HIDDEN, HIDDEN_RANDOM, prepared};
use crate::error::{IoContext as _, Result};

/// A file that is written but not yet in its place. Removed if it is dropped.
#[derive(Debug)]
pub struct Staged(tempfile::NamedTempFile);

impl Staged {
    /// Writes `contents` to a private file in `dir`, which must be on the target's file system. Not
    /// synced.
    pub fn new(dir: &Path, contents: &[u8]) -> Result<Self> {
        let written = prepared(dir, HIDDEN.as_ref(), HIDDEN_RANDOM, contents);
        Ok(Self(written.doing(|| format!("writing to {}", dir.display()))?))
    }

    /// Moves it to `path` in one step, replacing what is there. Returns the moved file, whatever
    /// has taken its place since.
    pub fn put_at(self, path: &Path) -> Result<File> {
        let put = self.0.persist(path).map_err(io::Error::from);
        put.doing(|| format!("writing {}", path.display()))
    }
}
