//! Appending to a file that another process may close by renaming it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;

use super::{ensure_dir, parent, private_options};
use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Between two tries to get a lock.
const STEP: Duration = Duration::from_micros(200);
/// How often an appender tries: a closer holds the lock only to look.
const TRIES: usize = 10;

/// Appends `bytes` in one piece. `false` when the file was renamed before we
/// held it: then nothing was written, and the caller tries again. At `limit`
/// bytes it is full, and what comes is dropped.
pub fn append_shared(path: &Path, bytes: &[u8], limit: u64) -> Result<bool> {
    let mut file = open_for_append(path)?;
    lock_shared(&file, path)?;
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

/// Waits for a moment, no longer: whoever appends is in a hurry.
fn lock_shared(file: &File, path: &Path) -> Result<()> {
    for _ in 0..TRIES {
        match file.try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(STEP),
            Err(TryLockError::Error(error)) => {
                return Err(error).doing(|| format!("locking {}", path.display()));
            }
        }
    }
    Err(Error::new(ErrorKind::Locked, format!("{} is locked", path.display())))
}

fn open_for_append(path: &Path) -> Result<File> {
    // A pipe that nobody reads would keep us waiting.
    let at_once = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let open = || private_options().append(true).create(true).custom_flags(at_once).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            ensure_dir(parent(path))?;
            open()
        }
        opened => opened,
    }
    .doing(|| format!("opening {}", path.display()))
}

/// Appends text to a file of the user's, beginning it with `heading` when there
/// is none or it is empty. It keeps its mode, and a link to it is followed.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are opened for writing")]
pub fn append_text(path: &Path, heading: &str, text: &str) -> Result<()> {
    let doing = || format!("appending to {}", path.display());
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).open(path).doing(doing)?;
    let before = match last_byte(&mut file).doing(doing)? {
        None => heading,
        Some(b'\n') => "",
        Some(_) => "\n",
    };
    file.write_all(format!("{before}{text}").as_bytes()).doing(doing)
}

fn last_byte(file: &mut File) -> io::Result<Option<u8>> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(Some(last[0]))
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
                thread::sleep(STEP);
            }
            Err(error) => {
                let message = format!("waiting for those who append to {}", to.display());
                return Err(Error::new(ErrorKind::Locked, message).with_source(error));
            }
        }
    }
}
