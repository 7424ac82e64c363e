//! Starts another program as a client would, gives it something to read and a deadline, and
//! leaves nothing of it behind.

use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Stopwatch};
use recoup_core::memory::hooked::{Call, How};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::Around;
use super::leave;
use super::sandbox::Sandbox;

/// No sound answer is longer.
const LONGEST: u64 = 1 << 20;
/// Who has ended, has written all it had to.
const STEP: Duration = Duration::from_millis(5);

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ran {
    /// None for a signal.
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) took: Duration,
}

/// Why it did not.
#[derive(Debug)]
pub(super) enum Failed {
    /// It could not be started.
    NotStarted(io::Error),
    /// The time was up, and it was ended.
    TooLate,
}

/// The command that a client would start, in a place of its own: nothing of the user's is
/// touched, no model asked, and nothing found that lies in the repository.
pub(super) fn command(call: &Call, sandbox: &Sandbox, around: &Around) -> Command {
    let mut command = match &call.how {
        How::Line(line) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(line);
            shell
        }
        How::Words(words) => {
            let mut command = Command::new(words.first().unwrap_or(&call.program));
            command.args(words.iter().skip(1));
            command
        }
    };
    take_away(&mut command, &sandbox.project, around);
    command.env("RECOUP_HOME", &sandbox.home).env("RECOUP_JUDGE_ENABLED", "false");
    command
}

/// Runs it in that directory, without anything that leads into the repository.
pub(super) fn take_away(command: &mut Command, dir: &Path, around: &Around) {
    for name in around.repository.leading() {
        command.env_remove(name);
    }
    command.current_dir(dir).env("PWD", dir).env("PATH", around.repository.search());
}

/// Runs it to its end, or to the end of its time.
pub(super) fn run(mut command: Command, input: &[u8], limit: Duration) -> Result<Ran, Failed> {
    let deadline = Deadline::after(limit);
    let watch = Stopwatch::start();
    let mut process = Process::start(&mut command)?;
    process.write(input);
    process.close();
    let answers = process.answers.take();
    loop {
        match process.has_ended() {
            Ok(true) => {
                let took = watch.elapsed();
                // One that it has left behind may keep the pipe open.
                let stdout =
                    answers.map_or_else(Vec::new, |it| all_of(&it, Deadline::after(STEP * 20)));
                let status = process.end().map_err(Failed::NotStarted)?;
                return Ok(Ran { code: status.code(), stdout, took });
            }
            Ok(false) if deadline.passed() => return Err(Failed::TooLate),
            Ok(false) => thread::sleep(STEP.min(deadline.remaining())),
            Err(error) => return Err(Failed::NotStarted(error)),
        }
    }
}

fn all_of(pieces: &Receiver<Vec<u8>>, deadline: Deadline) -> Vec<u8> {
    let mut all = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(deadline.remaining()) {
        all.extend(piece);
    }
    all
}

/// A program that runs, with all that it starts. It ends with this.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// What it has started is in the same group, unless it did not want to be; none once that
    /// has been ended.
    group: Option<Pid>,
    input: Option<mpsc::Sender<Vec<u8>>>,
    answers: Option<Receiver<Vec<u8>>>,
    rest: Vec<u8>,
}

impl Process {
    /// Starts it in a process group of its own.
    pub(super) fn start(command: &mut Command) -> Result<Self, Failed> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.process_group(0);
        let mut child = leave::starting(|| command.spawn()).map_err(Failed::NotStarted)?;
        let (input, to_write) = mpsc::channel::<Vec<u8>>();
        let (answer, answers) = mpsc::channel();
        if let Some(mut pipe) = child.stdin.take() {
            // One that does not read must not hold us up.
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
        let group = leave::group_of(&child);
        let (input, answers) = (Some(input), Some(answers));
        Ok(Self { child, group, input, answers, rest: Vec::new() })
    }

    /// Hands it something to read.
    pub(super) fn write(&self, bytes: &[u8]) {
        if let Some(input) = &self.input {
            // It may be gone; then it does not answer.
            let _ = input.send(bytes.to_vec());
        }
    }

    /// Nothing more will come.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// The next line that it writes, if it does so in time.
    pub(super) fn line(&mut self, deadline: Deadline) -> Result<Vec<u8>, RecvTimeoutError> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                return Ok(self.rest.drain(..=end).collect());
            }
            let Some(answers) = &self.answers else { return Err(RecvTimeoutError::Disconnected) };
            let piece = answers.recv_timeout(deadline.remaining())?;
            self.rest.extend(piece);
        }
    }

    /// Whether it ends by itself until then.
    pub(super) fn ends(&mut self, deadline: Deadline) -> bool {
        while !deadline.passed() {
            if matches!(self.has_ended(), Ok(true)) {
                return true;
            }
            thread::sleep(STEP);
        }
        false
    }

    /// Whether it has ended. It stays to be waited for, so that its number, which is also its
    /// group's, is nobody else's yet.
    fn has_ended(&self) -> io::Result<bool> {
        let Some(process) = leave::group_of(&self.child) else { return Ok(true) };
        let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(process), looking)?.is_some())
    }

    /// Ends it, with all that it has started and left in its group, and says how it ended.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(group) = self.group.take() {
            leave::end(group);
        }
        self.child.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
