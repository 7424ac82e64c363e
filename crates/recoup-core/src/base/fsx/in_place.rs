//! Changing a file where it is: only where there is no room for another one.

use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::private_options;
use crate::error::{IoContext as _, Result};

/// Truncates an existing file.
pub fn empty(path: &Path) -> Result<()> {
    let emptied = private_options().write(true).truncate(true).open(path);
    emptied.map(drop).writing(|| format!("emptying {}", path.display()))
}

/// Writes each part at its offset and syncs the file.
pub fn overwrite<'a>(path: &Path, parts: impl Iterator<Item = (u64, &'a [u8])>) -> Result<()> {
    let doing = || format!("writing {}", path.display());
    let file = private_options().write(true).open(path).writing(doing)?;
    for (at, part) in parts {
        file.write_all_at(part, at).writing(doing)?;
    }
    file.sync_all().writing(doing)
}
