//! What is for a project stays in it: a repository may hold links that lead to other files of
//! its user, and whoever agrees to a change of `.cursor/mcp.json` has not agreed to one of those.

use std::path::Path;

use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};

use super::places::Places;

/// Refuses a file of a project that is somewhere else in truth.
pub(crate) fn demand_inside(path: &Path, places: &Places) -> Result<()> {
    leads_out(path, places).map_or(Ok(()), |why| refused(path, places, &why))
}

/// How a file of a project is somewhere else in truth, if it is.
pub(crate) fn leads_out(path: &Path, places: &Places) -> Option<String> {
    // Claude Code's own file is its user's, be it in a project or not.
    if !path.starts_with(&places.root) || path == places.claude_json {
        return None;
    }
    // The project itself may be gone by now.
    let root = fsx::resolved(&places.root).unwrap_or_else(|| places.root.clone());
    match fsx::resolved(path) {
        Some(real) if real.starts_with(&root) => None,
        Some(real) => Some(format!("is a link out of the project, to {}", real.display())),
        None => Some("is a link that leads nowhere".to_owned()),
    }
}

/// Git's list has to be a file where git has it.
pub(crate) fn demand_plain(list: &Path, places: &Places) -> Result<()> {
    if is_plain(list) { Ok(()) } else { refused(list, places, "is a link") }
}

/// Whether neither the list nor its directory is a link.
pub(crate) fn is_plain(list: &Path) -> bool {
    !list.is_symlink() && !list.parent().is_some_and(Path::is_symlink)
}

fn refused(path: &Path, places: &Places, why: &str) -> Result<()> {
    let shown = places.shown(path);
    let message = format!("{shown} {why}: put a file there in its place");
    Err(Error::new(ErrorKind::Invalid, message))
}
