//! Full results, each under the name of its contents. For each that we made there
//! is an empty file of that name in `.recoup/made/`, from before it is there until
//! after it is gone: others are never removed, and ours never forgotten.

use std::path::PathBuf;

use super::files;
use super::layout::Layout;
use crate::base::fsx;
use crate::error::Result;

fn marker(layout: &Layout, name: &str) -> PathBuf {
    layout.made().join(name)
}

/// Refuses contents in whose place there is something else that we did not make.
pub(super) fn refuse_strangers(layout: &Layout, name: &str, contents: &[u8]) -> Result<()> {
    let place = layout.full(name);
    if is_to_be_written(layout, name)?
        || files::read_helper(&place).is_some_and(|it| it == contents)
    {
        return Ok(());
    }
    Err(files::stranger(&place))
}

/// Writes one, unless somebody else did.
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

/// Removes one that nobody has any longer, if we made it.
pub(super) fn remove(layout: &Layout, name: &str) -> Result<()> {
    let marker = marker(layout, name);
    if files::is_there(&marker)? {
        files::remove_helper(&layout.full(name))?;
        fsx::remove(&marker)?;
    }
    Ok(())
}

/// The names of all that we made.
pub(super) fn made(layout: &Layout) -> Result<Vec<String>> {
    files::names_in(&layout.made())
}
