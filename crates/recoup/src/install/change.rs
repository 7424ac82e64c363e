//! A change to one file: its content before and after, and what of it is ours. Making one touches
//! nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::clients::{AgentClient, InstallLevel, InstalledContent, LARGEST, SettingsFile};
use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};
use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};

use super::entries::EditSummary;
use super::places::InstallPaths;

/// Client, level and project that an entry of ours is installed for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstallTarget {
    pub(crate) client: AgentClient,
    pub(crate) level: InstallLevel,
    /// The project that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<PathBuf>,
    /// True for other servers behind our proxy, which come and go independently of our own entries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) for_proxy: bool,
}

impl InstallTarget {
    /// Returns the target for a client at a level, in the project of `places`.
    pub(crate) fn of(client: AgentClient, level: InstallLevel, places: &InstallPaths) -> Self {
        let root = (level == InstallLevel::Project).then(|| places.root.clone());
        Self { client, level, root, for_proxy: false }
    }

    /// Returns the target for other servers behind our proxy.
    pub(crate) fn for_proxy(self) -> Self {
        Self { for_proxy: true, ..self }
    }
}

/// Planned change of one file.
#[derive(Debug, Clone)]
pub(crate) struct FileChange {
    pub(crate) path: PathBuf,
    /// None for our own files.
    pub(crate) party: Option<InstallTarget>,
    /// Kind of content that is added.
    pub(crate) held: Option<InstalledContent>,
    /// Current content; none if there is no file.
    pub(crate) before: Option<Vec<u8>>,
    /// Planned content; none if the file is to be removed.
    pub(crate) after: Option<Vec<u8>>,
    pub(crate) done: EditSummary,
}

impl FileChange {
    /// Starts from the current content, without a change.
    pub(crate) fn unchanged(path: &Path, party: Option<InstallTarget>) -> Result<Self> {
        let before = read(path)?;
        let after = before.clone();
        let done = EditSummary::default();
        Ok(Self { path: path.to_owned(), party, held: None, before, after, done })
    }

    /// Starts from the current content of a client's settings file.
    pub(crate) fn for_settings_file(slot: &SettingsFile, places: &InstallPaths) -> Result<Self> {
        let party = InstallTarget::of(slot.client, slot.level, places);
        let change = Self::unchanged(&slot.path, Some(party))?;
        Ok(Self { held: Some(slot.holds.clone()), ..change })
    }

    /// Starts from the result of earlier changes to this file, if there are any.
    pub(crate) fn following<'a>(mut self, earlier: impl Iterator<Item = &'a Self>) -> Self {
        if let Some(last) = earlier.filter(|it| it.is_of_same_file(&self)).last() {
            self.before.clone_from(&last.after);
            self.after.clone_from(&last.after);
        }
        self
    }

    /// True if both changes concern one file, by whatever names.
    pub(crate) fn is_of_same_file(&self, other: &Self) -> bool {
        self.path == other.path || resolve_links(&self.path) == resolve_links(&other.path)
    }

    /// True if anything is to be written.
    pub(crate) fn has_effect(&self) -> bool {
        self.before != self.after
    }

    /// True if the file has a hard link elsewhere: it is replaced atomically, so the other name
    /// keeps the old content.
    pub(crate) fn breaks_hard_link(&self) -> bool {
        self.has_effect()
            && fs::metadata(resolve_links(&self.path)).is_ok_and(|found| found.nlink() > 1)
    }

    /// Fails early if the file cannot be written, not when half of the work is done. Refuses files
    /// that are read-only or owned by another user: a rename could replace them, but would override
    /// that choice.
    pub(crate) fn demand_possible(&self) -> Result<()> {
        if !self.has_effect() {
            return Ok(());
        }
        let refused = |why: String| Err(Error::new(ErrorKind::Invalid, why));
        let path = &self.path;
        let real = resolve_links(path);
        let me = rustix::process::geteuid().as_raw();
        if let Ok(found) = fs::metadata(&real) {
            if found.mode() & 0o200 == 0 {
                return refused(format!(
                    "{} is read-only: make it writable (`chmod u+w`), or change the file that it \
                     is generated from",
                    path.display()
                ));
            }
            if found.uid() != me {
                return refused(format!(
                    "{} belongs to another user: run this command as that user",
                    path.display()
                ));
            }
        }
        let dir = real.ancestors().skip(1).find(|dir| dir.exists()).unwrap_or(Path::new("/"));
        if !dir.is_dir() {
            return refused(format!("{} is not a directory", dir.display()));
        }
        let open = fs::metadata(dir).is_ok_and(|found| found.mode() & 0o222 != 0);
        if !open || access(dir, Access::WRITE_OK).is_err() {
            return refused(format!(
                "can't write to {}: check its owner and permissions (`ls -ld`)",
                dir.display()
            ));
        }
        Ok(())
    }
}

/// Reads a file, following links.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    fsx::read_regular(path, LARGEST)
}

/// Resolves links, even if nothing is at their end.
pub(crate) fn resolve_links(path: &Path) -> PathBuf {
    fsx::resolve_path(path).unwrap_or_else(|| path.to_owned())
}

/// Refuses a project's file that is really elsewhere: a repository may hold links to other files of
/// the user, and consent to change `.cursor/mcp.json` does not cover those.
pub(crate) fn demand_inside(path: &Path, places: &InstallPaths) -> Result<()> {
    describe_link_out(path, places).map_or(Ok(()), |why| refuse_link(path, places, &why))
}

/// Describes how a project's file is really elsewhere, if it is.
pub(crate) fn describe_link_out(path: &Path, places: &InstallPaths) -> Option<String> {
    // Claude Code's own file is the user's, even inside a project.
    if path == places.claude_json() || !leads_out(path, &places.root) {
        return None;
    }
    Some(match fsx::resolve_path(path) {
        Some(real) => format!("is a symbolic link out of the project, to {}", real.display()),
        None => "is a symbolic link that points nowhere".to_owned(),
    })
}

/// True if a file below `root` is really elsewhere, or is a link that leads nowhere.
pub(super) fn leads_out(path: &Path, root: &Path) -> bool {
    // The project itself may be gone by now.
    let is_inside = |real: PathBuf| real.starts_with(resolve_links(root));
    path.starts_with(root) && !fsx::resolve_path(path).is_some_and(is_inside)
}

/// True if neither the list nor its directory is a link.
pub(crate) fn is_not_linked(list: &Path) -> bool {
    !list.is_symlink() && !list.parent().is_some_and(Path::is_symlink)
}

/// Error for a link in the place of a regular file.
pub(crate) fn refuse_link(path: &Path, places: &InstallPaths, why: &str) -> Result<()> {
    let shown = places.display_path(path);
    let message = format!("{shown} {why}: replace it with a regular file");
    Err(Error::new(ErrorKind::Invalid, message))
}
