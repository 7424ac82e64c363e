//! Where a client works, and what a project calls the files there: one name for each,
//! whoever was told of it.

use std::path::Path;

/// Where a client works.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The project's root.
    pub root: &'a Path,
    /// Where paths start that are not whole.
    pub cwd: &'a Path,
}

impl Place<'_> {
    /// A path as the project knows it; one outside is as it is.
    pub(super) fn name_of(&self, path: &str) -> String {
        let whole = self.cwd.join(path);
        let inside = |path: &Path| {
            path.strip_prefix(self.root).ok().map(|it| it.to_string_lossy().into_owned())
        };
        inside(&whole)
            .or_else(|| inside(&whole.canonicalize().ok()?))
            .unwrap_or_else(|| whole.to_string_lossy().into_owned())
    }
}
