//! A change to one file: what is there, and what is to be there. Nothing is touched to make
//! one.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};
use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};

use super::client::{Client, Level, Slot};
use super::entries::Done;
use super::found::LARGEST;
use super::held::Held;
use super::places::Places;

/// For whom something is in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Party {
    pub(crate) client: Client,
    pub(crate) level: Level,
    /// The project that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<PathBuf>,
}

impl Party {
    /// The one that a slot is for.
    pub(crate) fn of(client: Client, level: Level, places: &Places) -> Self {
        let root = (level == Level::Project).then(|| places.root.clone());
        Self { client, level, root }
    }
}

/// What becomes of one file.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// None for what is our own.
    pub(crate) party: Option<Party>,
    /// What of ours goes in.
    pub(crate) held: Option<Held>,
    /// As it is; none where there is nothing.
    pub(crate) before: Option<Vec<u8>>,
    /// As it is to be; none where it is to go.
    pub(crate) after: Option<Vec<u8>>,
    pub(crate) done: Done,
}

impl Change {
    /// Nothing yet: the file as it is.
    pub(crate) fn begin(path: &Path, party: Option<Party>) -> Result<Self> {
        let before = read(path)?;
        let after = before.clone();
        let done = Done::default();
        Ok(Self { path: path.to_owned(), party, held: None, before, after, done })
    }

    /// The same for what a client reads.
    pub(crate) fn of_slot(slot: &Slot, places: &Places) -> Result<Self> {
        let party = Party::of(slot.client, slot.level, places);
        let change = Self::begin(&slot.path, Some(party))?;
        Ok(Self { held: Some(Held::from(&slot.holds)), ..change })
    }

    /// The same where others change that file before: it begins with what the last of them
    /// leaves.
    pub(crate) fn behind<'a>(mut self, earlier: impl Iterator<Item = &'a Self>) -> Self {
        if let Some(last) = earlier.filter(|it| it.is_of_same_file(&self)).last() {
            self.before.clone_from(&last.after);
            self.after.clone_from(&last.after);
        }
        self
    }

    /// Whether both are to one file, by whatever names.
    pub(crate) fn is_of_same_file(&self, other: &Self) -> bool {
        self.path == other.path || real(&self.path) == real(&other.path)
    }

    /// Whether anything is to be written.
    pub(crate) fn is_any(&self) -> bool {
        self.before != self.after
    }

    /// Whether the file has another name somewhere (a hard link). A file is replaced in one step,
    /// and that name stays with the old one.
    pub(crate) fn splits_links(&self) -> bool {
        self.is_any() && fs::metadata(real(&self.path)).is_ok_and(|found| found.nlink() > 1)
    }

    /// Says early what would only fail when half of the work is done.
    pub(crate) fn demand_possible(&self) -> Result<()> {
        if self.is_any() { demand_writable(&self.path) } else { Ok(()) }
    }
}

/// What is at a path, through links.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    fsx::read_regular(path, LARGEST)
}

/// Where a path leads, through links, be it that nothing is there.
pub(crate) fn real(path: &Path) -> PathBuf {
    fsx::resolved(path).unwrap_or_else(|| path.to_owned())
}

/// A file without leave to write would still be replaced by one who owns its directory, and a
/// file of another user would become ours: neither is meant.
fn demand_writable(path: &Path) -> Result<()> {
    let refused = |why: String| Err(Error::new(ErrorKind::Invalid, why));
    let real = real(path);
    let me = rustix::process::geteuid().as_raw();
    if let Ok(found) = fs::metadata(&real) {
        if found.mode() & 0o200 == 0 {
            return refused(format!(
                "{} is read-only: make it writable (`chmod u+w`), or change it where it is made",
                path.display()
            ));
        }
        if found.uid() != me {
            return refused(format!(
                "{} belongs to another user: run this as that user",
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
        return refused(format!("nothing can be written to {}", dir.display()));
    }
    Ok(())
}
