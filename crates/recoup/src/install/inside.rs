//! What is for a project stays in it: a repository may hold links that lead to other files of
//! its user, and whoever agrees to a change of `.cursor/mcp.json` has not agreed to one of those.

use std::path::{Path, PathBuf};

use recoup_core::{Error, ErrorKind, Result};

use super::places::Places;

/// As many links as a system follows.
const LINKS: usize = 40;

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
    let root = real(&places.root, LINKS).unwrap_or_else(|| places.root.clone());
    match real(path, LINKS) {
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

/// Where a path leads, be there something or not; none after too many links.
fn real(path: &Path, links: usize) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Some(path.to_owned());
    };
    let here = real(parent, links)?.join(name);
    match here.read_link() {
        Ok(target) => real(&lexical(&here.parent()?.join(target)), links.checked_sub(1)?),
        Err(_) => Some(here),
    }
}

/// Without `..` and `.`: what is above is no link any more.
fn lexical(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                found.pop();
            }
            std::path::Component::CurDir => {}
            other => found.push(other),
        }
    }
    found
}
