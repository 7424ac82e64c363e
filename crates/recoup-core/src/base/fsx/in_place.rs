//! Changing a file where it is: only where there is no room for another one.

use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::private_options;
use crate::error::{IoContext as _, Result};

/// Truncates an existing file.
pub fn truncate_file(path: &Path) -> Result<()> {
    let emptied = private_options().write(true).truncate(true).open(path);
    emptied.map(drop).with_write_context(|| format!("emptying {}", path.display()))
}

/// Writes each part at its offset and syncs the file.
pub fn overwrite_ranges<'a>(
    path: &Path,
    parts: impl Iterator<Item = (u64, &'a [u8])>,
) -> Result<()> {
    let doing = || format!("writing {}", path.display());
    let file = private_options().write(true).open(path).with_write_context(doing)?;
    for (at, part) in parts {
        file.write_all_at(part, at).with_write_context(doing)?;
    }
    file.sync_all().with_write_context(doing)
}
