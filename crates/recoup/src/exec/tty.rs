//! Pseudo-terminal for a command that wants one. Our own terminal is in raw mode meanwhile: keys go
//! to the command unchanged, its output comes back.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use pty_process::Size;
use pty_process::blocking::{self, Pty};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};

use super::OutputFds;

/// Rows and columns without a window.
const USUAL_SIZE: (u16, u16) = (24, 80);

/// The command's terminal, and the state of ours.
pub(super) struct CommandTerminal {
    pty: Pty,
    window: Option<BorrowedFd<'static>>,
    _raw: Option<RawModeGuard>,
}

impl CommandTerminal {
    /// Starts `command` in a new terminal. If `typed`, input from ours reaches it; else its stdin
    /// is empty.
    pub(super) fn start(
        command: Command,
        typed: bool,
        outlets: OutputFds,
    ) -> io::Result<(Self, Child)> {
        let (pty, pts) = blocking::open().map_err(to_io_error)?;
        let stdin = rustix::stdio::stdin();
        let window = [outlets.out, stdin, outlets.err].into_iter().find(|fd| isatty(fd));
        // Before the first byte arrives, which our own terminal must not change.
        let raw = if typed { RawModeGuard::enter(stdin) } else { None };
        let terminal = Self { pty, window, _raw: raw };
        terminal.resize_to_window();
        let mut command = blocking::Command::from(command);
        if !typed {
            command = command.stdin(Stdio::null());
        }
        let child = command.spawn(pts).map_err(to_io_error)?;
        Ok((terminal, child))
    }

    /// Resizes it to our window.
    pub(super) fn resize_to_window(&self) {
        let size = self.window.and_then(|fd| tcgetwinsize(fd).ok());
        let (rows, columns) = size
            .map(|size| (size.ws_row, size.ws_col))
            .filter(|(rows, columns)| *rows > 0 && *columns > 0)
            .unwrap_or(USUAL_SIZE);
        let _ = self.pty.resize(Size::new(rows, columns));
    }

    /// Our side of it, for reading.
    pub(super) fn reader(&self) -> io::Result<OwnedFd> {
        self.pty.as_fd().try_clone_to_owned()
    }

    /// Our side of it, for writing.
    pub(super) fn writer(&self) -> BorrowedFd<'_> {
        self.pty.as_fd()
    }
}

/// Our terminal in raw mode; restored on drop.
struct RawModeGuard {
    terminal: BorrowedFd<'static>,
    before: Termios,
}

impl RawModeGuard {
    fn enter(terminal: BorrowedFd<'static>) -> Option<Self> {
        let before = tcgetattr(terminal).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(terminal, OptionalActions::Now, &raw).ok()?;
        Some(Self { terminal, before })
    }
}

impl Drop for RawModeGuard {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

/// True if input contains `Ctrl-C` or `Ctrl-\`, which a terminal turns into signals.
pub(super) fn has_interrupt_key(typed: &[u8]) -> bool {
    typed.iter().any(|byte| matches!(byte, 0x03 | 0x1c))
}

fn to_io_error(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(error) => error.into(),
    }
}
