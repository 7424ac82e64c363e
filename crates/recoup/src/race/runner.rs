//! One command of a race: in its own process group, without stdin, and with both streams captured,
//! in memory while they are short.

use std::ffi::OsString;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use recoup_core::base::name::SafeName;
use recoup_core::error::IoContext as _;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
};
use tempfile::SpooledTempFile;

use super::{WinnerOutput, process_tree};

/// Maximum size of a stream in memory.
const MAX_MEMORY_BYTES: usize = 512 << 10;
/// Maximum size of a stream.
const MOST: u64 = 1 << 30;
/// How long remaining processes of an ended command may hold a stream open.
const STREAM_GRACE: Duration = Duration::from_secs(2);

/// A command of a race.
#[derive(Debug)]
pub(super) struct RaceRunner {
    /// Position among the commands.
    pub(super) place: usize,
    pub(super) agent: SafeName,
    child: Child,
    group: Pid,
    /// Both streams, stdout first.
    streams: [CapturedStream; 2],
    ended: Option<RunnerExit>,
    /// Reason of its disqualification, if not its exit.
    broken: Option<String>,
    /// True if the group is known to have no process left.
    gone: bool,
    /// True if it can't win any more, however it ends.
    given_up: bool,
}

/// Exit of a command.
#[derive(Debug, Clone, Copy)]
struct RunnerExit {
    status: ExitStatus,
    /// Number of the check that noticed it.
    turn: u64,
    /// How long its streams may be held open.
    until: Deadline,
}

#[derive(Debug)]
struct CapturedStream {
    /// None once it is closed.
    pipe: Option<OwnedFd>,
    spool: SpooledTempFile,
    len: u64,
    /// True if further output is discarded.
    deaf: bool,
}

impl RaceRunner {
    pub(super) fn start(
        race: &str,
        place: usize,
        agent: SafeName,
        words: &[OsString],
    ) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .process_group(0)
            .env(process_tree::MARK, process_tree::mark_value(race, place));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
        let group = Pid::from_raw(raw).ok_or(io::ErrorKind::InvalidData)?;
        let streams = [
            CapturedStream::of(child.stdout.take().map(OwnedFd::from))?,
            CapturedStream::of(child.stderr.take().map(OwnedFd::from))?,
        ];
        let (ended, broken) = (None, None);
        Ok(Self {
            place,
            agent,
            child,
            group,
            streams,
            ended,
            broken,
            gone: false,
            given_up: false,
        })
    }

    pub(super) fn group(&self) -> Pid {
        self.group
    }

    /// Streams that are still open.
    pub(super) fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.streams.iter().filter_map(|stream| Some(stream.pipe.as_ref()?.as_fd()))
    }

    /// Reads available output. A command that writes too much, or whose output can't be stored, is
    /// disqualified.
    pub(super) fn read_streams(&mut self) {
        let heard: Vec<io::Result<()>> =
            self.streams.iter_mut().map(CapturedStream::read_available).collect();
        if self.given_up {
            return;
        }
        if let Some(error) = heard.into_iter().find_map(io::Result::err) {
            self.disqualify(format!("{}: {error}", spooling_context()));
        } else if self.streams.iter().any(|stream| stream.len > MOST) {
            self.disqualify(format!("it wrote more than {MOST} bytes"));
        }
    }

    /// Disqualifies the command, and asks it to end.
    pub(super) fn disqualify(&mut self, why: String) {
        self.broken = Some(why);
        self.give_up();
        self.ask_to_end();
    }

    /// Checks if the command has ended. Remaining processes of a failed one are asked to end.
    pub(super) fn check_exit(&mut self, turn: u64) -> Result<()> {
        if self.ended.is_none()
            && let Some(status) = self.child.try_wait().with_context(|| "waiting".to_owned())?
        {
            self.ended = Some(RunnerExit { status, turn, until: Deadline::after(STREAM_GRACE) });
            if !status.success() {
                self.ask_to_end();
            }
        }
        Ok(())
    }

    pub(super) fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// True if it is running or has succeeded.
    pub(super) fn may_win(&self) -> bool {
        !self.given_up && self.ended.is_none_or(|ended| ended.status.success())
    }

    pub(super) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// True if it has succeeded and its output is complete.
    pub(super) fn has_answered(&self) -> bool {
        let heard = || self.streams.iter().all(|stream| stream.pipe.is_none());
        self.may_win() && self.ended.is_some_and(|ended| heard() || ended.until.has_passed())
    }

    /// Order of its success among others: the smallest has won.
    pub(super) fn success_order(&self) -> Option<(u64, usize)> {
        self.ended.filter(|_| self.may_win()).map(|ended| (ended.turn, self.place))
    }

    /// Sends TERM, and CONT, without which a stopped process would not react.
    pub(super) fn ask_to_end(&mut self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Sends a signal to the group.
    pub(super) fn signal(&mut self, signal: Signal) {
        self.gone = self.gone || kill_process_group(self.group, signal).is_err();
    }

    /// True if no process of the group is left.
    pub(super) fn is_gone(&mut self) -> bool {
        if !self.gone && !self.is_running() {
            // Reaps adopted processes: zombies would still count.
            while let Ok(Some(_)) = waitpgid(self.group, WaitOptions::NOHANG) {}
            self.gone = test_kill_process_group(self.group).is_err();
        }
        self.gone
    }

    /// Its stdout as a result; none if it has more than `most` bytes.
    pub(super) fn stdout_result(&mut self, most: u64) -> Result<Option<Vec<u8>>> {
        let out = &mut self.streams[0];
        if out.len > most {
            return Ok(None);
        }
        let mut result = Vec::new();
        out.spool.seek(SeekFrom::Start(0)).with_context(spooling_context)?;
        out.spool.read_to_end(&mut result).with_context(spooling_context)?;
        Ok(Some(result))
    }

    /// Its output, to be read from the beginning.
    pub(super) fn into_output(self) -> Result<WinnerOutput> {
        let [mut out, mut err] = self.streams;
        out.spool.seek(SeekFrom::Start(0)).with_context(spooling_context)?;
        err.spool.seek(SeekFrom::Start(0)).with_context(spooling_context)?;
        Ok(WinnerOutput { out: out.spool, err: err.spool })
    }

    /// Reason of its failure, with the last line of stderr.
    pub(super) fn failure_reason(&mut self) -> String {
        if let Some(why) = &self.broken {
            return format!("{}: {why}", self.agent);
        }
        let end = match self.ended {
            None => "stopped by recoup".to_owned(),
            Some(RunnerExit { status, .. }) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "no exit code".to_owned(),
            },
        };
        match self.streams[1].last_line() {
            Some(words) => format!("{}: {end}: {words}", self.agent),
            None => format!("{}: {end}", self.agent),
        }
    }
}

impl CapturedStream {
    fn of(pipe: Option<OwnedFd>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Self { pipe, spool: SpooledTempFile::new(MAX_MEMORY_BYTES), len: 0, deaf: false })
    }

    /// Reads available output, up to a limit, to be fair to other streams. Output that can't be
    /// stored is read, too, so that its writer is not blocked.
    fn read_available(&mut self) -> io::Result<()> {
        let mut piece = [0; 16 << 10];
        for _ in 0..64 {
            let Some(pipe) = &self.pipe else { return Ok(()) };
            match rustix::io::read(pipe, &mut piece) {
                Ok(len) if len > 0 => {
                    self.len += len as u64;
                    self.deaf = self.deaf || self.len > MOST;
                    if !self.deaf {
                        let kept = self.spool.write_all(&piece[..len]);
                        kept.inspect_err(|_| self.deaf = true)?;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Ok(_) | Err(_) => self.pipe = None,
            }
        }
        Ok(())
    }

    fn last_line(&mut self) -> Option<String> {
        let back = i64::try_from(self.len.min(MOST).min(4096)).unwrap_or_default();
        self.spool.seek(SeekFrom::End(-back)).ok()?;
        let mut end = Vec::new();
        (&mut self.spool).take(4096).read_to_end(&mut end).ok()?;
        let end = String::from_utf8_lossy(&end).into_owned();
        end.lines().map(str::trim).rfind(|line| !line.is_empty()).map(ToOwned::to_owned)
    }
}

fn spooling_context() -> String {
    "buffering a command's output".to_owned()
}
