//! Output that a person has asked for by name. It may go to a file, or to
//! whatever else that name leads to.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::write_atomic;
use crate::error::{IoContext as _, Result};

/// Puts `contents` at `path`: whole or not at all where that is a file, through
/// the link where it is a link to one. A device or a pipe is written to, and never
/// replaced by a file.
pub fn deliver(path: &Path, contents: &[u8]) -> Result<()> {
    let doing = || format!("writing {}", path.display());
    match fs::metadata(path) {
        Ok(found) if found.is_file() => write_atomic(&path.canonicalize().doing(doing)?, contents),
        Ok(_) => write_to(path, contents).doing(doing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => write_atomic(path, contents),
        Err(error) => Err(error).doing(doing),
    }
}

#[expect(clippy::disallowed_methods, reason = "fsx is where files are opened for writing")]
fn write_to(path: &Path, contents: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(path)?.write_all(contents)
}
