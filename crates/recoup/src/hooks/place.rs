//! Names of files relative to the project, independent of the client that reported them.

use std::path::Path;

/// Directories that relate a client's paths to its project.
#[derive(Debug, Clone, Copy)]
pub struct ProjectPaths<'a> {
    /// The project's root.
    pub root: &'a Path,
    /// Base of relative paths.
    pub cwd: &'a Path,
}

impl ProjectPaths<'_> {
    /// Path relative to the project's root; absolute if it is outside.
    pub(super) fn project_path(&self, path: &str) -> String {
        let whole = self.cwd.join(path);
        let inside = |path: &Path| {
            path.strip_prefix(self.root).ok().map(|it| it.to_string_lossy().into_owned())
        };
        inside(&whole)
            .or_else(|| inside(&whole.canonicalize().ok()?))
            .unwrap_or_else(|| whole.to_string_lossy().into_owned())
    }
}
