//! Keeps project-level changes inside the project: a repository may hold links to other files of
//! the user, and consent to change `.cursor/mcp.json` does not cover those.

use std::path::Path;

use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};

use super::places::Places;

/// Refuses a project's file that is really elsewhere.
pub(crate) fn demand_inside(path: &Path, places: &Places) -> Result<()> {
    leads_out(path, places).map_or(Ok(()), |why| refused(path, places, &why))
}

/// Describes how a project's file is really elsewhere, if it is.
pub(crate) fn leads_out(path: &Path, places: &Places) -> Option<String> {
    // Claude Code's own file is the user's, even inside a project.
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

/// Refuses git's exclude list if it is a link.
pub(crate) fn demand_plain(list: &Path, places: &Places) -> Result<()> {
    if is_plain(list) { Ok(()) } else { refused(list, places, "is a link") }
}

/// True if neither the list nor its directory is a link.
pub(crate) fn is_plain(list: &Path) -> bool {
    !list.is_symlink() && !list.parent().is_some_and(Path::is_symlink)
}

fn refused(path: &Path, places: &Places, why: &str) -> Result<()> {
    let shown = places.shown(path);
    let message = format!("{shown} {why}: put a file there in its place");
    Err(Error::new(ErrorKind::Invalid, message))
}
