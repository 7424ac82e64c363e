//! Full results, named by their digest. Each of ours has an empty marker file of that name in
//! `.recoup/made/`, from before it is written until after it is removed: so those of others are
//! never removed, and ours never leaked.

use std::path::PathBuf;

use super::files;
use super::layout::ScopeLayout;
use crate::base::fsx;
use crate::error::Result;

fn marker(layout: &ScopeLayout, name: &str) -> PathBuf {
    layout.full_markers().join(name)
}

/// An error if there is a different file in its place that we did not write.
pub(super) fn refuse_foreign_full(layout: &ScopeLayout, name: &str, contents: &[u8]) -> Result<()> {
    let place = layout.full(name);
    if should_write(layout, name)?
        || files::read_rebuildable(&place).is_some_and(|it| it == contents)
    {
        return Ok(());
    }
    Err(files::not_an_entry_error(&place))
}

/// Writes a full result, unless another program did.
pub(super) fn write(layout: &ScopeLayout, name: &str, contents: &[u8]) -> Result<()> {
    if !should_write(layout, name)? {
        return Ok(());
    }
    fsx::ensure_dir(&layout.full_markers())?;
    fsx::create_private(&marker(layout, name))?;
    fsx::ensure_dir(&layout.fulls())?;
    layout.write(&layout.full(name), contents).map(drop)
}

fn should_write(layout: &ScopeLayout, name: &str) -> Result<bool> {
    Ok(files::exists(&marker(layout, name))? || !files::exists(&layout.full(name))?)
}

/// Removes an unreferenced full result, if it is ours.
pub(super) fn remove(layout: &ScopeLayout, name: &str) -> Result<()> {
    let marker = marker(layout, name);
    if files::exists(&marker)? {
        files::remove_rebuildable(&layout.full(name))?;
        fsx::remove(&marker)?;
    }
    Ok(())
}

/// The names of all full results of ours.
pub(super) fn names_of_ours(layout: &ScopeLayout) -> Result<Vec<String>> {
    files::names_in(&layout.full_markers())
}
