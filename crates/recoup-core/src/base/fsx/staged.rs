//! A file that is written in one directory and put in its place in another, so
//! that a directory that others read never holds half of one.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{HIDDEN, HIDDEN_RANDOM, prepared};
use crate::error::{IoContext as _, Result};

/// Written, and not yet in its place. Dropped, it is gone.
#[derive(Debug)]
pub struct Staged(tempfile::NamedTempFile);

impl Staged {
    /// Writes `contents` to a private file in `dir`, which has to be on the file
    /// system of the place it is for. Nothing is synced.
    pub fn new(dir: &Path, contents: &[u8]) -> Result<Self> {
        let written = prepared(dir, HIDDEN.as_ref(), HIDDEN_RANDOM, contents);
        Ok(Self(written.doing(|| format!("writing to {}", dir.display()))?))
    }

    /// Puts it there in one step, in place of what is there. What comes back is the
    /// file that was put there, whatever has taken its place since.
    pub fn put_at(self, path: &Path) -> Result<File> {
        let put = self.0.persist(path).map_err(io::Error::from);
        put.doing(|| format!("writing {}", path.display()))
    }
}
