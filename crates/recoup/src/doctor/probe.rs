//! Starts this program as a client would: in a sandbox, with input and a deadline.

use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;

use recoup_core::base::clock::Deadline;
use rustix::process::Pid;

use super::interrupt_cleanup::CLEANUP;
use super::sandbox::ProbeSandbox;

/// Longer than any valid answer.
const LONGEST: u64 = 1 << 20;

/// Failure of a probe.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProbeError {
    /// Stable identifier of the failure.
    pub(super) code: &'static str,
    /// What the program did, as the end of a sentence about it.
    pub(super) what: String,
}

impl ProbeError {
    /// Remedy for a failure of this program.
    pub(super) const REMEDY: &str =
        "if the machine is not overloaded, please report it with `recoup doctor --bundle FILE`";

    pub(super) fn wrong_answer(what: &str) -> Self {
        Self { code: "wrong-answer", what: what.to_owned() }
    }

    fn not_started(error: &io::Error) -> Self {
        Self { code: "not-started", what: format!("can't be started: {error}") }
    }
}

impl From<RecvTimeoutError> for ProbeError {
    fn from(error: RecvTimeoutError) -> Self {
        match error {
            RecvTimeoutError::Timeout => {
                Self { code: "too-late", what: "did not answer in time".to_owned() }
            }
            RecvTimeoutError::Disconnected => Self::wrong_answer("exited without an answer"),
        }
    }
}

/// A command that does not touch the user's data, and asks no model.
pub(super) fn sandboxed_command(program: &Path, args: &[&str], sandbox: &ProbeSandbox) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(&sandbox.project);
    command.env("RECOUP_HOME", &sandbox.home).env("RECOUP_JUDGE_ENABLED", "false");
    command
}

/// A running process, which is killed on drop.
#[derive(Debug)]
pub(super) struct ProbedProcess {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl ProbedProcess {
    /// Starts the command.
    pub(super) fn start(mut command: Command) -> Result<Self, ProbeError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut registry = CLEANUP.lock();
        let mut child = command.spawn().map_err(|error| ProbeError::not_started(&error))?;
        registry.processes.extend(pid_of(&child));
        let (answer, answers) = mpsc::channel();
        if let Some(pipe) = child.stdout.take() {
            thread::spawn(move || {
                let (mut pipe, mut piece) = (pipe.take(LONGEST), vec![0; 16 << 10]);
                while let Ok(len @ 1..) = pipe.read(&mut piece) {
                    if answer.send(piece[..len].to_vec()).is_err() {
                        break;
                    }
                }
            });
        }
        let input = child.stdin.take();
        Ok(Self { child, input, answers, rest: Vec::new() })
    }

    /// Writes to its stdin. What we write is shorter than a pipe.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input {
            // It may have exited; then it does not answer.
            let _ = input.write_all(bytes);
        }
    }

    /// The next line of its output, if it arrives in time.
    pub(super) fn read_line(&mut self, deadline: Deadline) -> Result<Vec<u8>, ProbeError> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                return Ok(self.rest.drain(..=end).collect());
            }
            self.rest.extend(self.answers.recv_timeout(deadline.remaining())?);
        }
    }

    /// Closes its stdin, and returns the rest of its output once it exits with 0.
    pub(super) fn finish(mut self, deadline: Deadline) -> Result<Vec<u8>, ProbeError> {
        self.input = None;
        loop {
            match self.answers.recv_timeout(deadline.remaining()) {
                Ok(piece) => self.rest.extend(piece),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let status = self.child.wait().map_err(|error| ProbeError::not_started(&error))?;
        if status.success() {
            return Ok(std::mem::take(&mut self.rest));
        }
        let what = status.code().map_or_else(
            || "was killed by a signal".to_owned(),
            |code| format!("exits with {code} instead of 0"),
        );
        Err(ProbeError { code: "wrong-exit", what })
    }
}

impl Drop for ProbedProcess {
    fn drop(&mut self) {
        let mut registry = CLEANUP.lock();
        let _ = self.child.kill();
        let _ = self.child.wait();
        let pid = pid_of(&self.child);
        registry.processes.retain(|other| Some(*other) != pid);
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use recoup_core::base::clock::Stopwatch;

    use super::*;

    #[test]
    fn an_exit_code_that_would_stop_a_client_is_a_fault() {
        let finish = |line: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", line]);
            let process = ProbedProcess::start(command).unwrap();
            process.finish(Deadline::after(Duration::from_secs(20)))
        };
        assert_eq!(finish("echo {}"), Ok(b"{}\n".to_vec()));
        assert_eq!(finish("exit 2").unwrap_err().what, "exits with 2 instead of 0");
        assert_eq!(finish("kill -9 $$").unwrap_err().code, "wrong-exit");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo $$; exec /bin/sleep 60"]);
        let mut process = ProbedProcess::start(command).unwrap();
        let pid = process.read_line(Deadline::after(Duration::from_secs(20))).unwrap();
        let began = Stopwatch::start();
        let ended = process.finish(Deadline::after(Duration::from_millis(50)));
        assert_eq!(ended.unwrap_err().code, "too-late");
        assert!(began.elapsed() < Duration::from_secs(20));
        let pid: i32 = String::from_utf8(pid).unwrap().trim().parse().unwrap();
        assert!(!CLEANUP.lock().processes.contains(&Pid::from_raw(pid).unwrap()));
        assert!(rustix::process::test_kill_process(Pid::from_raw(pid).unwrap()).is_err());
    }
}
