//! Keeps project-level changes inside the project: a repository may hold links to other files of
//! the user, and consent to change `.cursor/mcp.json` does not cover those.

use std::path::Path;

use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};

use super::places::InstallPaths;

/// Refuses a project's file that is really elsewhere.
pub(crate) fn demand_inside(path: &Path, places: &InstallPaths) -> Result<()> {
    describe_link_out(path, places).map_or(Ok(()), |why| refuse_link(path, places, &why))
}

/// Describes how a project's file is really elsewhere, if it is.
pub(crate) fn describe_link_out(path: &Path, places: &InstallPaths) -> Option<String> {
    // Claude Code's own file is the user's, even inside a project.
    if !path.starts_with(&places.root) || path == places.claude_json {
        return None;
    }
    // The project itself may be gone by now.
    let root = fsx::resolve_path(&places.root).unwrap_or_else(|| places.root.clone());
    match fsx::resolve_path(path) {
        Some(real) if real.starts_with(&root) => None,
        Some(real) => Some(format!("is a link out of the project, to {}", real.display())),
        None => Some("is a link that leads nowhere".to_owned()),
    }
}

/// Refuses git's exclude list if it is a link.
pub(crate) fn ensure_no_link(list: &Path, places: &InstallPaths) -> Result<()> {
    if is_not_linked(list) { Ok(()) } else { refuse_link(list, places, "is a link") }
}

/// True if neither the list nor its directory is a link.
pub(crate) fn is_not_linked(list: &Path) -> bool {
    !list.is_symlink() && !list.parent().is_some_and(Path::is_symlink)
}

fn refuse_link(path: &Path, places: &InstallPaths, why: &str) -> Result<()> {
    let shown = places.display_path(path);
    let message = format!("{shown} {why}: put a file there in its place");
    Err(Error::new(ErrorKind::Invalid, message))
}
