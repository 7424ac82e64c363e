//! A file that is written in one directory and then moved into another, whose readers never see
//! half of one.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{HIDDEN, HIDDEN_RANDOM, write_temp_file};
use crate::error::{IoContext as _, Result};

/// A file that is written but not yet in its place. Removed if it is dropped.
#[derive(Debug)]
pub struct StagedFile(tempfile::NamedTempFile);

impl StagedFile {
    /// Writes `contents` to a private file in `dir`, which must be on the target's file system. Not
    /// synced.
    pub fn new(dir: &Path, contents: &[u8]) -> Result<Self> {
        let written = write_temp_file(dir, HIDDEN.as_ref(), HIDDEN_RANDOM, contents);
        Ok(Self(written.with_context(|| format!("writing to {}", dir.display()))?))
    }

    /// Moves it to `path` in one step, replacing what is there. Returns the moved file, whatever
    /// has taken its place since.
    pub fn move_into_place(self, path: &Path) -> Result<File> {
        let put = self.0.persist(path).map_err(io::Error::from);
        put.with_context(|| format!("writing {}", path.display()))
    }
}
