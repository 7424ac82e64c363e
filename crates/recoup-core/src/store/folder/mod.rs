//! Common parts of the directory stores: layout of scopes, a lock, and event counts.
//!
//! ```text
//! DIR/                    the scope `global`: such a directory is a scope of its own
//! DIR/tenant/NAME/        the scope `tenant:NAME`, and so on
//! DIR/.recoup/lock        held while more than one file is changed
//! DIR/.recoup/counts.json event counts, and the batches that are in them
//! ```

mod counts;
mod links;
mod scopes;
mod walk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;

use crate::base::clock::Deadline;
use crate::base::fsx::{self, FileLock};
use crate::entry::{BodyInfo, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::store::tallies::TallyTable;

pub(super) use walk::visit_entries;

/// How long a writer waits for others.
const WAIT: Duration = Duration::from_secs(10);

/// A directory that holds a store.
#[derive(Debug, Clone)]
pub(super) struct StoreFolder {
    root: PathBuf,
}

impl StoreFolder {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The directory for our own files.
    pub(super) fn private_dir(&self) -> PathBuf {
        self.root.join(".recoup")
    }

    /// Waits for the lock that is needed to change more than one file.
    pub(super) fn lock(&self) -> Result<FileLock> {
        self.refuse_links(&self.private_dir())?;
        fsx::ensure_dir(&self.private_dir())?;
        FileLock::acquire(&self.private_dir().join("lock"), Deadline::after(WAIT))
    }

    /// The event counts so far.
    pub(super) fn load_counts(&self) -> Result<TallyTable> {
        self.refuse_links(&self.private_dir())?;
        Ok(counts::load(&self.private_dir().join("counts.json")))
    }

    /// Saves the event counts. The caller must hold the lock since it loaded them.
    pub(super) fn save_counts(&self, counts: &TallyTable) -> Result<()> {
        self.refuse_links(&self.private_dir())?;
        fsx::ensure_dir(&self.private_dir())?;
        counts::save(counts, &self.private_dir().join("counts.json"))
    }
}

/// The text of a payload. These formats cannot store other bytes.
pub(super) fn payload_text(payload: &StoredBody, info: &BodyInfo) -> Result<Bytes> {
    let plain = payload.to_plain(info)?;
    match str::from_utf8(&plain) {
        Ok(_) => Ok(plain),
        Err(error) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "the result is not text (byte {} is not UTF-8), and this store keeps text only; \
                 sqlite: and redis: stores take any bytes",
                error.valid_up_to()
            ),
        )),
    }
}
