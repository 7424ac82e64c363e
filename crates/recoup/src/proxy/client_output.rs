//! Streams of the client: our stdin, and our stdout, to which several threads write whole lines.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use parking_lot::{Condvar, Mutex};
use rustix::event::{PollFd, PollFlags, poll};

use super::ProxyEvent;
use super::activity::SessionActivity;

/// A stream that waits until it is ready, also if somebody who shares it made it non-blocking.
#[derive(Debug)]
pub(super) struct WaitingFile(pub(super) File);

impl WaitingFile {
    fn retry<T>(
        &mut self,
        ready: PollFlags,
        mut step: impl FnMut(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match step(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let _ = poll(&mut [PollFd::from_borrowed_fd(self.0.as_fd(), ready)], None);
                }
                done => return done,
            }
        }
    }
}

impl Read for WaitingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.retry(PollFlags::IN, |file| file.read(buffer))
    }
}

impl Write for WaitingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(PollFlags::OUT, |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Output that the client reads.
#[derive(Debug)]
pub(super) struct ClientOutput {
    state: Mutex<OutputState>,
    line_ended: Condvar,
    close_stdout: fn(),
    events: Sender<ProxyEvent>,
    pub(super) activity: Arc<SessionActivity>,
}

#[derive(Debug)]
struct OutputState {
    /// None once it is closed.
    file: Option<WaitingFile>,
    /// True while a line passes in parts: nothing may come in between.
    in_long_line: bool,
}

impl ClientOutput {
    pub(super) fn new(output: File, close_stdout: fn(), events: Sender<ProxyEvent>) -> Self {
        let state = OutputState { file: Some(WaitingFile(output)), in_long_line: false };
        let (state, line_ended) = (Mutex::new(state), Condvar::new());
        Self { state, line_ended, close_stdout, events, activity: Arc::default() }
    }

    /// Writes a whole line; false if nobody reads it.
    pub(super) fn write(&self, line: &[u8]) -> bool {
        let mut state = self.state.lock();
        while state.in_long_line && state.file.is_some() {
            self.line_ended.wait(&mut state);
        }
        self.write_locked(&mut state, line)
    }

    /// Writes part of a line. All parts come from one thread.
    pub(super) fn write_part(&self, part: &[u8], is_last: bool) -> bool {
        let mut state = self.state.lock();
        state.in_long_line = !is_last;
        let is_heard = self.write_locked(&mut state, part);
        if is_last || !is_heard {
            self.line_ended.notify_all();
        }
        is_heard
    }

    /// Closes it, so that the client sees the end.
    pub(super) fn close(&self) {
        self.state.lock().file = None;
        self.line_ended.notify_all();
        (self.close_stdout)();
    }

    fn write_locked(&self, state: &mut OutputState, bytes: &[u8]) -> bool {
        let Some(file) = state.file.as_mut() else { return false };
        let _step = self.activity.begin();
        if file.write_all(bytes).is_ok() {
            return true;
        }
        state.file = None;
        let _ = self.events.send(ProxyEvent::ClientDeaf);
        false
    }
}
