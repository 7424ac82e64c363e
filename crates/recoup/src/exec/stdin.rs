//! Input of the command. Only input that is part of the key, or typed by a person, reaches it;
//! anything else would change its output unnoticed.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _};
use std::process::Stdio;

use recoup_core::Result;
use recoup_core::base::digest::{Sha256Digest, Sha256Hasher};
use recoup_core::error::IoContext as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use super::is_null_device;
use super::record::ByteSpool;

/// Input of the command.
#[derive(Debug)]
pub(crate) enum CommandStdin {
    /// The terminal.
    Terminal,
    /// Empty.
    Empty,
    /// Not passed on, although there is or may be some.
    LeftOut,
    /// These bytes, which are part of the key.
    Given(StdinContent),
}

/// Input that was read to its end.
#[derive(Debug)]
pub(crate) struct StdinContent {
    spool: ByteSpool,
    digest: Sha256Digest,
}

impl CommandStdin {
    /// Inspects our own stdin without reading it.
    pub(crate) fn inspect() -> Self {
        if io::stdin().is_terminal() {
            return Self::Terminal;
        }
        let stdin = rustix::stdio::stdin();
        let Ok(found) = fstat(stdin) else { return Self::Empty };
        let is_empty = match FileType::from_raw_mode(found.st_mode) {
            FileType::CharacterDevice => is_null_device(&found),
            FileType::RegularFile => found.st_size == 0,
            // A pipe without writers.
            _ => {
                let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
                let polled = poll(&mut fds, Some(&Timespec::default()));
                let events = fds[0].revents();
                polled.is_ok() && events.contains(PollFlags::HUP) && !events.contains(PollFlags::IN)
            }
        };
        if is_empty { Self::Empty } else { Self::LeftOut }
    }

    /// Reads our own stdin to its end.
    pub(crate) fn read_to_end() -> Result<Self> {
        let (mut spool, mut hasher) = (ByteSpool::default(), Sha256Hasher::new());
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
                error => error.map(drop).with_context(|| "reading stdin".to_owned())?,
            }
        }
        Ok(Self::Given(StdinContent { spool, digest: hasher.finish() }))
    }

    /// Digest that is part of the key.
    pub(crate) fn digest(&self) -> Option<Sha256Digest> {
        match self {
            Self::Given(given) => Some(given.digest),
            Self::Terminal | Self::Empty | Self::LeftOut => None,
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal)
    }

    /// File with the input that was read.
    pub(super) fn for_command(&self) -> Result<Option<File>> {
        match self {
            Self::Terminal | Self::Empty | Self::LeftOut => Ok(None),
            Self::Given(given) => given.spool.to_file().map(Some),
        }
    }

    /// Stdin for the command if no input was read.
    pub(super) fn stdio(&self) -> Stdio {
        match self {
            Self::Terminal => Stdio::inherit(),
            Self::Empty | Self::LeftOut | Self::Given(_) => Stdio::null(),
        }
    }

    /// Stdin for a detached command.
    pub(super) fn detached(&self) -> Result<Stdio> {
        Ok(self.for_command()?.map_or_else(Stdio::null, Stdio::from))
    }
}
