//! What the command reads. Only what is part of the key, or what a person
//! types, reaches it; anything else would change its answer unseen.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;

use recoup_core::Result;
use recoup_core::base::digest::{Digest, Hasher};
use recoup_core::error::IoContext as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use super::spool::Spool;

/// What the command reads.
#[derive(Debug)]
pub(crate) enum Stdin {
    /// Whatever is typed.
    Terminal,
    /// Nothing; there was nothing.
    Empty,
    /// Nothing, although there was something, or may have been.
    LeftOut,
    /// These bytes, which are part of the key.
    Given(Given),
}

/// Input that was read to its end.
#[derive(Debug)]
pub(crate) struct Given {
    spool: Spool,
    digest: Digest,
}

impl Stdin {
    /// Looks at our own, and leaves it unread.
    pub(crate) fn look() -> Self {
        if io::stdin().is_terminal() {
            Self::Terminal
        } else if is_surely_empty() {
            Self::Empty
        } else {
            Self::LeftOut
        }
    }

    /// Reads our own to its end.
    pub(crate) fn read() -> Result<Self> {
        let (mut spool, mut hasher) = (Spool::default(), Hasher::new());
        let mut piece = vec![0; 64 << 10];
        let mut stdin = io::stdin().lock();
        loop {
            match stdin.read(&mut piece) {
                Ok(0) => break,
                Ok(len) => {
                    hasher.update(&piece[..len]);
                    spool.push(&piece[..len])?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                error => error.map(drop).doing(|| "reading stdin".to_owned())?,
            }
        }
        Ok(Self::Given(Given { spool, digest: hasher.finish() }))
    }

    /// What the key has of it.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Self::Given(given) => Some(given.digest),
            Self::Terminal | Self::Empty | Self::LeftOut => None,
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal)
    }

    /// What was read, for a command to read again.
    pub(super) fn for_command(&self) -> Result<Option<File>> {
        match self {
            Self::Terminal | Self::Empty | Self::LeftOut => Ok(None),
            Self::Given(given) => given.spool.to_file().map(Some),
        }
    }

    /// Where nothing was read.
    pub(super) fn stdio(&self) -> Stdio {
        match self {
            Self::Terminal => Stdio::inherit(),
            Self::Empty | Self::LeftOut | Self::Given(_) => Stdio::null(),
        }
    }

    /// For a command that outlives the person.
    pub(super) fn detached(&self) -> Result<Stdio> {
        Ok(self.for_command()?.map_or_else(Stdio::null, Stdio::from))
    }
}

/// The null device, a file without contents, or a pipe that nobody will write to.
fn is_surely_empty() -> bool {
    let stdin = rustix::stdio::stdin();
    let Ok(found) = fstat(stdin) else { return true };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::CharacterDevice => std::path::Path::new("/dev/null")
            .metadata()
            .is_ok_and(|null| null.rdev() == found.st_rdev),
        FileType::RegularFile => found.st_size == 0,
        _ => {
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            let polled = poll(&mut fds, Some(&now));
            let events = fds[0].revents();
            polled.is_ok() && events.contains(PollFlags::HUP) && !events.contains(PollFlags::IN)
        }
    }
}
