//! Git's list of files that are one person's own: what we put into a project must not be
//! published by accident.

use std::path::{Path, PathBuf};

use recoup_core::base::project::Project;

/// The list of the repository whose working tree is at `root`; none where there is none. All
/// worktrees share it.
pub(crate) fn list(root: &Path) -> Option<PathBuf> {
    let project = Project::find(root).ok()?;
    Some(project.git_dir()?.canonicalize().ok()?.join("info/exclude"))
}

/// The list with one more line; the same where it is there.
pub(crate) fn with(text: &str, line: &str) -> String {
    if text.lines().any(|it| it.trim_end() == line) {
        return text.to_owned();
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}{line}\n")
}

/// The list without that line.
pub(crate) fn without(text: &str, line: &str) -> String {
    text.split_inclusive('\n').filter(|it| it.trim_end() != line).collect()
}
