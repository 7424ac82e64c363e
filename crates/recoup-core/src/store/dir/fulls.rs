//! Full results, named by their digest. Each of ours has an empty marker file of that name in
//! `.recoup/made/`, from before it is written until after it is removed: so those of others are
//! never removed, and ours never leaked.

use std::path::PathBuf;

use super::files;
use super::layout::Layout;
use crate::base::fsx;
use crate::error::Result;

fn marker(layout: &Layout, name: &str) -> PathBuf {
    layout.made().join(name)
}

/// An error if there is a different file in its place that we did not write.
pub(super) fn refuse_strangers(layout: &Layout, name: &str, contents: &[u8]) -> Result<()> {
    let place = layout.full(name);
    if is_to_be_written(layout, name)?
        || files::read_helper(&place).is_some_and(|it| it == contents)
    {
        return Ok(());
    }
    Err(files::stranger(&place))
}

/// Writes a full result, unless another program did.
pub(super) fn write(layout: &Layout, name: &str, contents: &[u8]) -> Result<()> {
    if !is_to_be_written(layout, name)? {
        return Ok(());
    }
    fsx::ensure_dir(&layout.made())?;
    fsx::create_private(&marker(layout, name))?;
    fsx::ensure_dir(&layout.fulls())?;
    layout.write(&layout.full(name), contents).map(drop)
}

fn is_to_be_written(layout: &Layout, name: &str) -> Result<bool> {
    Ok(files::is_there(&marker(layout, name))? || !files::is_there(&layout.full(name))?)
}

/// Removes an unreferenced full result, if it is ours.
pub(super) fn remove(layout: &Layout, name: &str) -> Result<()> {
    let marker = marker(layout, name);
    if files::is_there(&marker)? {
        files::remove_helper(&layout.full(name))?;
        fsx::remove(&marker)?;
    }
    Ok(())
}

/// The names of all full results of ours.
pub(super) fn made(layout: &Layout) -> Result<Vec<String>> {
    files::names_in(&layout.made())
}
