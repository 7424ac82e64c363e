//! Starts a program as a client would, with input and a deadline, and leaves nothing of it behind.

use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::clients::{CallForm, RecoupCall};
use recoup_core::base::clock::{Deadline, Stopwatch};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::DoctorContext;
use super::interrupt_cleanup;
use super::sandbox::ProbeSandbox;

/// Longer than any valid answer.
const LONGEST: u64 = 1 << 20;
/// Poll interval, and base of the grace period for output after an exit.
const STEP: Duration = Duration::from_millis(5);

/// Exit code, output and duration of a program.
#[derive(Debug)]
pub(super) struct ProbeOutput {
    /// None if a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) took: Duration,
}

/// Failure to run a program to its end.
#[derive(Debug)]
pub(super) enum ProbeError {
    /// The program could not be started.
    NotStarted(io::Error),
    /// The time was up, and the program was killed.
    TooLate,
}

/// The command that a client would start, isolated: it does not touch the user's data, ask a model,
/// or find anything in the repository.
pub(super) fn sandboxed_command(
    call: &RecoupCall,
    sandbox: &ProbeSandbox,
    context: &DoctorContext,
) -> Command {
    let mut command = match &call.how {
        CallForm::Line(line) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(line);
            shell
        }
        CallForm::Words(words) => {
            let mut command = Command::new(words.first().unwrap_or(&call.program));
            command.args(words.iter().skip(1));
            command
        }
    };
    isolate_command(&mut command, &sandbox.project, context);
    command.env("RECOUP_HOME", &sandbox.home).env("RECOUP_JUDGE_ENABLED", "false");
    command
}

/// Sets the directory, and removes variables and PATH entries that lead into the repository.
pub(super) fn isolate_command(command: &mut Command, dir: &Path, context: &DoctorContext) {
    for name in context.repository.leading_variables() {
        command.env_remove(name);
    }
    command.current_dir(dir).env("PWD", dir).env("PATH", context.repository.search_path());
}

/// Runs a command to its end, or until its time is up.
pub(super) fn run_to_end(
    mut command: Command,
    input: &[u8],
    limit: Duration,
) -> Result<ProbeOutput, ProbeError> {
    let deadline = Deadline::after(limit);
    let watch = Stopwatch::start();
    let mut process = ProbedProcess::start(&mut command)?;
    process.write(input);
    process.close();
    let answers = process.answers.take();
    loop {
        match process.has_ended() {
            Ok(true) => {
                let took = watch.elapsed();
                // A descendant may keep the pipe open.
                let (grace, mut stdout) = (Deadline::after(STEP * 20), Vec::new());
                while let Some(Ok(piece)) =
                    answers.as_ref().map(|it| it.recv_timeout(grace.remaining()))
                {
                    stdout.extend(piece);
                }
                let status = process.terminate().map_err(ProbeError::NotStarted)?;
                return Ok(ProbeOutput { code: status.code(), stdout, took });
            }
            Ok(false) if deadline.has_passed() => return Err(ProbeError::TooLate),
            Ok(false) => thread::sleep(STEP.min(deadline.remaining())),
            Err(error) => return Err(ProbeError::NotStarted(error)),
        }
    }
}

/// A running program with its process group, which is killed on drop.
#[derive(Debug)]
pub(super) struct ProbedProcess {
    child: Child,
    /// Its process group, which its descendants share unless they leave it; none once killed.
    group: Option<Pid>,
    input: Option<mpsc::Sender<Vec<u8>>>,
    answers: Option<Receiver<Vec<u8>>>,
    rest: Vec<u8>,
}

impl ProbedProcess {
    /// Starts the command in a process group of its own.
    pub(super) fn start(command: &mut Command) -> Result<Self, ProbeError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.process_group(0);
        let mut child = interrupt_cleanup::spawn_registered(|| command.spawn())
            .map_err(ProbeError::NotStarted)?;
        let (input, to_write) = mpsc::channel::<Vec<u8>>();
        let (answer, answers) = mpsc::channel();
        if let Some(mut pipe) = child.stdin.take() {
            // A program that does not read must not block us.
            thread::spawn(move || {
                while let Ok(bytes) = to_write.recv() {
                    if pipe.write_all(&bytes).and_then(|()| pipe.flush()).is_err() {
                        break;
                    }
                }
            });
        }
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
        let group = interrupt_cleanup::process_group_of(&child);
        let (input, answers) = (Some(input), Some(answers));
        Ok(Self { child, group, input, answers, rest: Vec::new() })
    }

    /// Queues bytes for its stdin.
    pub(super) fn write(&self, bytes: &[u8]) {
        if let Some(input) = &self.input {
            // It may have exited; then it does not answer.
            let _ = input.send(bytes.to_vec());
        }
    }

    /// Closes its stdin.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// The next line of its output, if it arrives in time.
    pub(super) fn read_line(&mut self, deadline: Deadline) -> Result<Vec<u8>, RecvTimeoutError> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                return Ok(self.rest.drain(..=end).collect());
            }
            let Some(answers) = &self.answers else { return Err(RecvTimeoutError::Disconnected) };
            let piece = answers.recv_timeout(deadline.remaining())?;
            self.rest.extend(piece);
        }
    }

    /// True if it exits by itself before the deadline.
    pub(super) fn exits_before(&mut self, deadline: Deadline) -> bool {
        while !deadline.has_passed() {
            if matches!(self.has_ended(), Ok(true)) {
                return true;
            }
            thread::sleep(STEP);
        }
        false
    }

    /// True if it has exited. It is not reaped, so that its PID, which is also its group's ID, is
    /// not reused.
    fn has_ended(&self) -> io::Result<bool> {
        let Some(process) = interrupt_cleanup::process_group_of(&self.child) else {
            return Ok(true);
        };
        let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(process), looking)?.is_some())
    }

    /// Kills its process group, and returns its exit status.
    fn terminate(&mut self) -> io::Result<ExitStatus> {
        if let Some(group) = self.group.take() {
            interrupt_cleanup::kill_group(group);
        }
        self.child.wait()
    }
}

impl Drop for ProbedProcess {
    fn drop(&mut self) {
        let _ = self.terminate();
    }
}
