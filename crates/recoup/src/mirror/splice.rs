//! Changes our lines in a file that belongs to someone else.

use std::path::PathBuf;

use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};

use super::register::MirrorPlace;
use super::report::{MirrorAction, MirrorChange, MirrorPart};

/// Larger than any file written by hand.
const LARGEST: u64 = 1 << 20;

/// A planned change to such a file.
#[derive(Debug)]
pub(super) struct FileSplice {
    pub(super) path: PathBuf,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

impl FileSplice {
    /// Plans a change; none if the content stays the same.
    pub(super) fn of(path: PathBuf, change: impl FnOnce(&[u8]) -> Vec<u8>) -> Result<Option<Self>> {
        fsx::is_real_dir(fsx::parent(&path))?;
        if path.is_symlink() {
            let message = format!("{} is a link, and is not written through", path.display());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let before = fsx::read_regular(&path, LARGEST)?;
        let after = change(before.as_deref().unwrap_or_default());
        let same = before.as_deref().unwrap_or_default() == after;
        Ok((!same).then_some(Self { path, before, after }))
    }

    /// True if this creates the file.
    pub(super) fn creates_file(&self) -> bool {
        self.before.is_none()
    }

    /// True if this empties a file that we created.
    pub(super) fn removes_file(&self, place: &MirrorPlace) -> bool {
        self.after.is_empty() && place.spliced.get(&self.path) == Some(&true)
    }

    /// The change, for a report.
    pub(super) fn to_change(&self, place: &MirrorPlace) -> MirrorChange {
        let did =
            if self.removes_file(place) { MirrorAction::Removed } else { MirrorAction::Written };
        MirrorChange { path: self.path.clone(), did, of: MirrorPart::Around }
    }

    /// Writes the file, unless it has changed since it was read: then an error asks to try again.
    pub(super) fn apply(&self, place: &MirrorPlace) -> Result<()> {
        let path = &self.path;
        if fsx::read_regular(path, LARGEST)? != self.before {
            let message = format!("{} was changed by somebody just now; try again", path.display());
            return Err(Error::new(ErrorKind::Locked, message));
        }
        if self.removes_file(place) {
            return fsx::remove(path).map(drop);
        }
        fsx::ensure_dir(fsx::parent(path))?;
        fsx::write_output(path, &self.after)
    }
}
