//! One command of a race: a process group of its own, nothing to read, and both
//! streams taken down, in memory while they are short.

use std::ffi::OsString;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use recoup_core::base::name::Name;
use recoup_core::error::IoContext as _;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
};
use tempfile::SpooledTempFile;

use super::{Output, kin};

/// The most of a stream that stays in memory.
const IN_MEMORY: usize = 512 << 10;
/// The most that a stream may have.
const MOST: u64 = 1 << 30;
/// How long a stream may be held open by whom a command left behind.
const HELD_OPEN: Duration = Duration::from_secs(2);

/// A command, from its start to its end.
#[derive(Debug)]
pub(super) struct Runner {
    /// Where it stands among the others.
    pub(super) place: usize,
    pub(super) agent: Name,
    child: Child,
    group: Pid,
    /// Both streams, stdout first.
    streams: [Stream; 2],
    ended: Option<Ended>,
    /// Why it was put out of the race, if not by how it ended.
    broken: Option<String>,
    /// Whether the group has no process any more, as far as we know.
    gone: bool,
    /// Whether it is out of the race, however it ends.
    given_up: bool,
}

/// How a command ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    status: ExitStatus,
    /// In which of our looks we saw it.
    turn: u64,
    /// How long its streams may be held open.
    until: Deadline,
}

#[derive(Debug)]
struct Stream {
    /// None once it is closed.
    pipe: Option<OwnedFd>,
    spool: SpooledTempFile,
    len: u64,
    /// Whether nothing more is taken down.
    deaf: bool,
}

impl Runner {
    pub(super) fn start(
        race: &str,
        place: usize,
        agent: Name,
        words: &[OsString],
    ) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0).env(kin::MARK, kin::mark(race, place));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
        let group = Pid::from_raw(raw).ok_or(io::ErrorKind::InvalidData)?;
        let streams = [
            Stream::of(child.stdout.take().map(OwnedFd::from))?,
            Stream::of(child.stderr.take().map(OwnedFd::from))?,
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

    /// What it may be heard through.
    pub(super) fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.streams.iter().filter_map(|stream| Some(stream.pipe.as_ref()?.as_fd()))
    }

    /// Takes down what there is. Whoever says too much, or what we have no room for, is
    /// out of the race.
    pub(super) fn hear(&mut self) {
        let heard: Vec<io::Result<()>> = self.streams.iter_mut().map(Stream::hear).collect();
        if self.given_up {
            return;
        }
        if let Some(error) = heard.into_iter().find_map(io::Result::err) {
            self.put_out(format!("{}: {error}", spooling()));
        } else if self.streams.iter().any(|stream| stream.len > MOST) {
            self.put_out(format!("it wrote more than {MOST} bytes"));
        }
    }

    /// Whatever it does now, it does not win.
    pub(super) fn put_out(&mut self, why: String) {
        self.broken = Some(why);
        self.give_up();
        self.ask_to_end();
    }

    /// Sees whether it has ended, in this turn. What a failed one left behind is asked to
    /// end, too.
    pub(super) fn look(&mut self, turn: u64) -> Result<()> {
        if self.ended.is_none()
            && let Some(status) = self.child.try_wait().doing(|| "waiting".to_owned())?
        {
            self.ended = Some(Ended { status, turn, until: Deadline::after(HELD_OPEN) });
            if !status.success() {
                self.ask_to_end();
            }
        }
        Ok(())
    }

    pub(super) fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// Whether it runs, or has succeeded.
    pub(super) fn may_win(&self) -> bool {
        !self.given_up && self.ended.is_none_or(|ended| ended.status.success())
    }

    pub(super) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Whether it has succeeded, and all that it wrote is here.
    pub(super) fn has_answered(&self) -> bool {
        let heard = || self.streams.iter().all(|stream| stream.pipe.is_none());
        self.may_win() && self.ended.is_some_and(|ended| heard() || ended.until.passed())
    }

    /// When it succeeded, to be compared with others: the first has won.
    pub(super) fn success(&self) -> Option<(u64, usize)> {
        self.ended.filter(|_| self.may_win()).map(|ended| (ended.turn, self.place))
    }

    /// TERM, and a stopped one must go on to heed it.
    pub(super) fn ask_to_end(&mut self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Sends a signal to all of the group.
    pub(super) fn signal(&mut self, signal: Signal) {
        self.gone = self.gone || kill_process_group(self.group, signal).is_err();
    }

    /// Whether no process of the group is left.
    pub(super) fn is_gone(&mut self) -> bool {
        if !self.gone && !self.is_running() {
            // Those that we adopted: one that nobody has waited for is still there.
            while let Ok(Some(_)) = waitpgid(self.group, WaitOptions::NOHANG) {}
            self.gone = test_kill_process_group(self.group).is_err();
        }
        self.gone
    }

    /// What it wrote, up to the limit that a result may have; none beyond that.
    pub(super) fn result(&mut self, most: u64) -> Result<Option<Vec<u8>>> {
        let out = &mut self.streams[0];
        if out.len > most {
            return Ok(None);
        }
        let mut result = Vec::new();
        out.spool.seek(SeekFrom::Start(0)).doing(spooling)?;
        out.spool.read_to_end(&mut result).doing(spooling)?;
        Ok(Some(result))
    }

    /// What it wrote.
    pub(super) fn into_output(self) -> Result<Output> {
        let [mut out, mut err] = self.streams;
        out.spool.seek(SeekFrom::Start(0)).doing(spooling)?;
        err.spool.seek(SeekFrom::Start(0)).doing(spooling)?;
        Ok(Output { out: out.spool, err: err.spool })
    }

    /// Why it has not succeeded, with its last words.
    pub(super) fn why(&mut self) -> String {
        if let Some(why) = &self.broken {
            return format!("{}: {why}", self.agent);
        }
        let end = match self.ended {
            None => "ended by us".to_owned(),
            Some(Ended { status, .. }) => match (status.code(), status.signal()) {
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

impl Stream {
    fn of(pipe: Option<OwnedFd>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Self { pipe, spool: SpooledTempFile::new(IN_MEMORY), len: 0, deaf: false })
    }

    /// As much as there is, but not for ever: others want to be heard, too. What can't be
    /// kept is read all the same, so that nobody is held up.
    fn hear(&mut self) -> io::Result<()> {
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

fn spooling() -> String {
    "setting a command's output aside".to_owned()
}
