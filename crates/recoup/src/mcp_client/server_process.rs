//! A server that is started as a process and spoken to over stdin and stdout.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;
use recoup_core::base::clock::Deadline;
use recoup_core::{Error, ErrorKind, Result};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};

use super::guard::{self, ServerGuard};

/// stdin of the server; none once it is closed.
#[derive(Debug, Clone)]
pub(crate) struct ServerInput(Arc<Mutex<Option<ChildStdin>>>);

impl ServerInput {
    /// Writes bytes if `may_send` still agrees when it is our turn. A server that does not take
    /// them has closed its stdin, which its exit or its silence tells the client.
    pub(crate) fn write_if(&self, bytes: &[u8], may_send: impl FnOnce() -> bool) {
        let mut input = self.0.lock();
        if !may_send() {
            return;
        }
        if let Some(pipe) = input.as_mut() {
            let _ = pipe.write_all(bytes);
        }
    }

    /// Closes it, without waiting for a write that is going on: the server may never read it.
    pub(crate) fn close(&self) {
        if let Some(mut input) = self.0.try_lock() {
            input.take();
            return;
        }
        let input = Arc::clone(&self.0);
        thread::spawn(move || input.lock().take());
    }
}

/// A running server with its process group.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    group: Pid,
    guard: Option<ServerGuard>,
    /// When it gets TERM, and when KILL.
    term_at: Option<Deadline>,
    kill_at: Option<Deadline>,
    /// True if it was our signal that ended it.
    pub(crate) was_ended: bool,
}

/// Streams of a server.
#[derive(Debug)]
pub(crate) struct ServerStreams {
    pub(crate) input: ServerInput,
    pub(crate) output: ChildStdout,
    pub(crate) errors: OwnedFd,
}

impl ServerProcess {
    /// Starts the command in a process group of its own; `prepare` sets its directory and variables.
    pub(crate) fn start(
        words: &[OsString],
        prepare: impl FnOnce(&mut Command),
    ) -> Result<(Self, ServerStreams)> {
        let (program, args) =
            words.split_first().ok_or_else(|| Error::usage("no server command is given"))?;
        let mut command = Command::new(program);
        command.args(args).process_group(0);
        prepare(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            let kind = match error.kind() {
                io::ErrorKind::NotFound => ErrorKind::Absent,
                _ => ErrorKind::Io,
            };
            let program = program.display();
            Error::new(kind, format!("the server can't be started: {program}")).with_source(error)
        })?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let group = group.expect("a process has a positive id");
        // Second, so that the server has the start to itself.
        let mut guard = ServerGuard::start().inspect_err(|_| {
            let _ = kill_process_group(group, Signal::KILL);
        })?;
        guard.watch(group);
        let input = ServerInput(Arc::new(Mutex::new(child.stdin.take())));
        let output = child.stdout.take().expect("it was asked for");
        let errors = child.stderr.take().expect("it was asked for").into();
        let guard = Some(guard);
        let this = Self { child, group, guard, term_at: None, kill_at: None, was_ended: false };
        Ok((this, ServerStreams { input, output, errors }))
    }

    /// Calls `tell` when it has ended. It is not reaped, so that its group's id is not reused.
    pub(crate) fn announce_exit(&self, tell: impl FnOnce() + Send + 'static) {
        let leader = self.group;
        thread::spawn(move || {
            let waiting = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while waitid(WaitId::Pid(leader), waiting).is_err_and(|error| error == Errno::INTR) {}
            tell();
        });
    }

    /// Begins its end: its stdin was closed just now.
    pub(crate) fn begin_end(&mut self) {
        self.term_at.get_or_insert_with(|| Deadline::after(guard::TERM_AFTER));
        self.kill_at.get_or_insert_with(|| Deadline::after(guard::KILL_AFTER));
    }

    /// Passes a signal on, after which the server has as long as after TERM.
    pub(crate) fn forward_signal(&mut self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            guard::ask_to_end(self.group, signal);
        }
        let grace = guard::KILL_AFTER.saturating_sub(guard::TERM_AFTER);
        self.kill_at.get_or_insert_with(|| Deadline::after(grace));
    }

    /// When there is something to do for its end.
    pub(crate) fn next_deadline(&self) -> Option<Deadline> {
        self.term_at.or(self.kill_at)
    }

    /// Sends the signals whose time has come.
    pub(crate) fn end_overdue(&mut self) {
        if self.term_at.is_some_and(Deadline::has_passed) {
            self.term_at = None;
            self.was_ended = true;
            guard::ask_to_end(self.group, Signal::TERM);
        }
        if self.kill_at.is_some_and(Deadline::has_passed) {
            self.kill_at = None;
            self.was_ended = true;
            let _ = kill_process_group(self.group, Signal::KILL);
        }
    }

    /// Reaps it; returns how it ended, and true if others of its group are left, which the guard
    /// ends.
    pub(crate) fn reap(mut self) -> (Option<ServerExit>, bool) {
        let status = self.child.wait().ok();
        let has_orphans = test_kill_process_group(self.group).is_ok();
        if let Some(guard) = self.guard.take_if(|_| !has_orphans) {
            guard.dismiss();
        }
        (status.map(ServerExit), has_orphans)
    }
}

/// How a server ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerExit(ExitStatus);

/// `exit code 3`, `signal 9`
impl fmt::Display for ServerExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("no exit code"),
        }
    }
}

impl ServerExit {
    /// Its exit code. If a signal ended it, the same signal ends us.
    pub(crate) fn exit_code(self) -> i32 {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGTERM};
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => code,
            (None, Some(signal)) => {
                if [SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGTERM].contains(&signal) {
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
                128 + signal
            }
            (None, None) => 1,
        }
    }
}
