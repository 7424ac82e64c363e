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

/// Pause between two attempts to get a lock.
const LOCK_RETRY_PAUSE: Duration = Duration::from_micros(200);
/// Attempts of an appender: the closing process holds the lock only briefly.
const LOCK_ATTEMPTS: usize = 10;

/// Appends `bytes` in one write. Returns `false`, with nothing written, if the file was renamed
/// before we locked it: the caller tries again. Data beyond `limit` bytes is dropped.
pub fn append_shared(path: &Path, bytes: &[u8], limit: u64) -> Result<bool> {
    let mut file = open_for_append(path)?;
    lock_shared(&file, path)?;
    let held = file.metadata().with_context(|| format!("looking at {}", path.display()))?;
    if !fs::metadata(path).is_ok_and(|there| there.ino() == held.ino() && there.dev() == held.dev())
    {
        return Ok(false);
    }
    if held.len() + bytes.len() as u64 <= limit {
        file.write_all(bytes).with_context(|| format!("appending to {}", path.display()))?;
    }
    Ok(true)
}

/// Waits only briefly: appenders are on the hot path.
fn lock_shared(file: &File, path: &Path) -> Result<()> {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_RETRY_PAUSE),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("locking {}", path.display()));
            }
        }
    }
    Err(Error::new(ErrorKind::Locked, format!("{} is locked", path.display())))
}

fn open_for_append(path: &Path) -> Result<File> {
    // Opening a pipe without a reader would block.
    let at_once = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let open = || private_options().append(true).create(true).custom_flags(at_once).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            ensure_dir(parent(path))?;
            open()
        }
        opened => opened,
    }
    .with_context(|| format!("opening {}", path.display()))
}

/// Appends text to one of the user's files, which gets `heading` first if it is missing or empty.
/// The file keeps its mode, and a link to it is followed.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are opened for writing")]
pub fn append_text(path: &Path, heading: &str, text: &str) -> Result<()> {
    let doing = || format!("appending to {}", path.display());
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).open(path).with_context(doing)?;
    let before = match last_byte(&mut file).with_context(doing)? {
        None => heading,
        Some(b'\n') => "",
        Some(_) => "\n",
    };
    file.write_all(format!("{before}{text}").as_bytes()).with_context(doing)
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

/// Renames a file that other processes append to, and waits for appenders that already hold it:
/// nobody writes to it after this returns. Not synced: a power failure may undo the rename, but
/// nothing else.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are renamed")]
pub fn rename_and_settle(from: &Path, to: &Path, deadline: Deadline) -> Result<()> {
    fs::rename(from, to)
        .with_context(|| format!("moving {} to {}", from.display(), to.display()))?;
    let file = File::open(to).with_context(|| format!("opening {}", to.display()))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if !deadline.has_passed() => {
                thread::sleep(LOCK_RETRY_PAUSE);
            }
            Err(error) => {
                let message = format!("waiting for those who append to {}", to.display());
                return Err(Error::new(ErrorKind::Locked, message).with_source(error));
            }
        }
    }
}
