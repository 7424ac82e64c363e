//! Keys that a person presses, one by one and without Enter. Prints nothing.

use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
};

/// Interval at which the wait for a key looks up.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Room for what one key may send: arrows send several bytes.
const KEY_BYTES: usize = 16;

/// The terminal passes on keys one by one, and does not show them, until this is dropped. Elsewhere
/// nothing changes.
pub(super) struct SingleKeys(Option<Termios>);

impl SingleKeys {
    pub(super) fn begin() -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(mut keys) = before.clone() {
            keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &keys);
        }
        Self(before)
    }

    /// Forgets what was typed before it was asked for.
    pub(super) fn forget_typed(&self) {
        if self.0.is_some() {
            let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        }
    }

    /// Waits for a key; none if `is_over` says so first, or if the input ends.
    #[expect(clippy::unused_self, reason = "keys come one by one only while this lives")]
    pub(super) fn wait(&self, is_over: impl Fn() -> bool) -> Option<char> {
        let stdin = io::stdin();
        while !is_over() {
            let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut watched, Some(&WAIT)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(_) => return None,
            }
            let mut bytes = [0; KEY_BYTES];
            match rustix::io::read(&stdin, &mut bytes) {
                Ok(0) => return None,
                Ok(_) => return Some(char::from(bytes[0])),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return None,
            }
        }
        None
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
