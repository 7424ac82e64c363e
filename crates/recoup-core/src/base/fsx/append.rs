//! Appending to a file that another process may close by renaming it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::{ensure_dir, parent, private_options};
use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Appends `bytes` in one piece. `false` when the file was renamed before we
/// held it: then nothing was written, and the caller tries again. At `limit`
/// bytes it is full, and what comes is dropped.
pub fn append_shared(path: &Path, bytes: &[u8], limit: u64) -> Result<bool> {
    let mut file = open_for_append(path)?;
    file.lock_shared().doing(|| format!("locking {}", path.display()))?;
    let held = file.metadata().doing(|| format!("looking at {}", path.display()))?;
    if !fs::metadata(path).is_ok_and(|there| there.ino() == held.ino() && there.dev() == held.dev())
    {
        return Ok(false);
    }
    if held.len() + bytes.len() as u64 <= limit {
        file.write_all(bytes).doing(|| format!("appending to {}", path.display()))?;
    }
    Ok(true)
}

fn open_for_append(path: &Path) -> Result<File> {
    let open = || private_options().append(true).create(true).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            ensure_dir(parent(path))?;
            open()
        }
        opened => opened,
    }
    .doing(|| format!("opening {}", path.display()))
}

/// Renames a file that others append to, and waits for those who already hold
/// it. When this returns, nobody will write to it any more. Not synced: a power
/// failure may undo the rename, and nothing else.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are renamed")]
pub fn rename_and_settle(from: &Path, to: &Path, deadline: Deadline) -> Result<()> {
    fs::rename(from, to).doing(|| format!("moving {} to {}", from.display(), to.display()))?;
    let file = File::open(to).doing(|| format!("opening {}", to.display()))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if !deadline.passed() => {
                thread::sleep(Duration::from_micros(200));
            }
            Err(error) => {
                let message = format!("waiting for those who append to {}", to.display());
                return Err(Error::new(ErrorKind::Locked, message).with_source(error));
            }
        }
    }
}
