//! A running race: starts the commands, waits for them, and decides who wins.

use std::io;
use std::mem;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, SystemClock};
use recoup_core::base::ids;
use recoup_core::coord::{Bid, Elected};
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use super::guard::Guard;
use super::kin::Kin;
use super::runner::Runner;
use super::signals::Signals;
use super::{Begun, Outcome, Race, agent_name};
use crate::process::detached;

/// Interval of checks for results of others in the session.
const TICK: Duration = Duration::from_millis(200);
/// Upper limit of timeouts.
const LONGEST: Duration = Duration::from_hours(24 * 365);
/// Maximum size of an output that is shared as a result.
const SHARED_MOST: u64 = 16 << 20;

/// A running race.
pub(crate) struct Contest<'a> {
    pub(super) race: Race<'a>,
    /// Unique id of this race.
    id: String,
    deadline: Option<Deadline>,
    pub(super) signals: Signals,
    pub(super) guard: Option<Guard>,
    pub(super) runners: Vec<Runner>,
    pub(super) kin: Kin,
    /// Place of the winner, whose processes are left alone.
    pub(super) winner: Option<usize>,
    /// Signal that asked us to end.
    pub(super) interrupted: Option<i32>,
    begun: Begun,
    /// Number of checks for ended commands.
    turn: u64,
    /// Commands that have failed, by place, and why.
    failed: Vec<(usize, String)>,
    /// True if a session error was reported.
    warned: bool,
}

impl<'a> Contest<'a> {
    pub(super) fn prepare(race: Race<'a>) -> Result<Self> {
        // Before anything starts, so that no signal is missed.
        let signals = Signals::listen()?;
        detached::adopt_orphans();
        let id = ids::fresh(&SystemClock);
        Ok(Self {
            deadline: race.timeout.map(|time| Deadline::after(time.min(LONGEST))),
            race,
            kin: Kin::of(&id),
            id,
            signals,
            guard: None,
            runners: Vec::new(),
            winner: None,
            interrupted: None,
            begun: Begun::No,
            turn: 0,
            failed: Vec::new(),
            warned: false,
        })
    }

    /// Runs the race until its outcome is known.
    pub(crate) fn decide(&mut self) -> Result<Outcome> {
        let outcome = self.until_decided()?;
        if let Outcome::Interrupted(signal) = outcome {
            self.interrupted = Some(signal);
        }
        Ok(outcome)
    }

    fn until_decided(&mut self) -> Result<Outcome> {
        if let Some(outcome) = self.wait_for_theirs()? {
            return Ok(outcome);
        }
        self.start_all();
        let mut look_again = Deadline::after(TICK);
        loop {
            self.wait(self.patience(look_again))?;
            if let Some(signal) = self.signals.ending() {
                return Ok(Outcome::Interrupted(signal));
            }
            self.hear_all()?;
            let late = self.deadline.is_some_and(Deadline::passed);
            match self.first() {
                Some(at) if self.runners[at].has_answered() => {
                    if let Some(outcome) = self.answered(at, late)? {
                        return Ok(outcome);
                    }
                }
                None if !self.runners.iter().any(Runner::may_win) => {
                    return Ok(Outcome::Failed(self.failures()));
                }
                None if late => return Ok(Outcome::TimedOut),
                // A command has succeeded, but its output is not complete yet.
                Some(_) | None => {}
            }
            if look_again.passed() {
                look_again = Deadline::after(TICK);
                if let Some(outcome) = self.theirs() {
                    return Ok(outcome);
                }
            }
        }
    }

    /// Waits for the result if the session is already won: nothing has to start then, unless that
    /// winner never delivers.
    fn wait_for_theirs(&mut self) -> Result<Option<Outcome>> {
        loop {
            if let Some(outcome) = self.theirs() {
                return Ok(Some(outcome));
            }
            let found = self.race.early_exit.winner(&self.race.session);
            let somebody = self.survive(found).flatten().is_some();
            if !somebody {
                return Ok(None);
            }
            self.wait(TICK)?;
            if let Some(signal) = self.signals.ending() {
                return Ok(Some(Outcome::Interrupted(signal)));
            }
            if self.deadline.is_some_and(Deadline::passed) {
                return Ok(Some(Outcome::TimedOut));
            }
        }
    }

    /// Result of another participant in the session.
    fn theirs(&mut self) -> Option<Outcome> {
        let found = self.race.early_exit.answer(&self.race.session);
        let answer = self.survive(found).flatten()?;
        answer.result.is_some().then_some(Outcome::Theirs(answer, self.begun))
    }

    /// Index of the command that succeeded first.
    fn first(&self) -> Option<usize> {
        let succeeded = self.runners.iter().enumerate();
        let succeeded = succeeded.filter_map(|(at, runner)| Some((runner.success()?, at)));
        succeeded.min().map(|(_, at)| at)
    }

    fn start_all(&mut self) {
        self.begun = Begun::Yes;
        match Guard::start(&self.id, self.race.grace) {
            Ok(guard) => self.guard = Some(guard),
            Err(error) => (self.race.warn)(&error),
        }
        for (place, words) in mem::take(&mut self.race.commands).into_iter().enumerate() {
            let agent = agent_name(place, &words[0]);
            match Runner::start(&self.id, place, agent.clone(), &words) {
                Ok(runner) => {
                    if let Some(guard) = &mut self.guard {
                        guard.watch(runner.group());
                    }
                    self.runners.push(runner);
                    let registered = self.race.early_exit.register(&self.race.session, &agent);
                    self.survive(registered);
                }
                Err(error) => {
                    let command = Path::new(&words[0]);
                    let is_missing = error.kind() == io::ErrorKind::NotFound && !command.exists();
                    let why = if is_missing { "command not found" } else { &error.to_string() };
                    let why = format!("not started: {}: {why}", command.display());
                    // At once: if another command wins, a misspelt one would go unnoticed.
                    (self.race.warn)(&Error::new(ErrorKind::Absent, format!("{agent}: {why}")));
                    self.failed.push((place, format!("{agent}: not started")));
                }
            }
        }
    }

    /// Warns once about a session error: the race goes on without its session.
    fn survive<T>(&mut self, done: Result<T>) -> Option<T> {
        done.map_err(|error| {
            if !mem::replace(&mut self.warned, true) {
                (self.race.warn)(&error.context("the race goes on without its session"));
            }
        })
        .ok()
    }

    fn hear_all(&mut self) -> Result<()> {
        self.turn += 1;
        for runner in &mut self.runners {
            runner.hear();
            runner.look(self.turn)?;
            // Output that came between the two.
            runner.hear();
        }
        for mut runner in self.take_gone() {
            self.failed.push((runner.place, runner.why()));
        }
        Ok(())
    }

    /// Removes commands that can't win and have no process left. Their groups are forgotten at
    /// once, because process ids are reused.
    pub(super) fn take_gone(&mut self) -> Vec<Runner> {
        let gone = |runner: &mut Runner| !runner.may_win() && runner.is_gone();
        let gone: Vec<Runner> = self.runners.extract_if(.., gone).collect();
        for runner in &gone {
            self.forget(runner.group());
        }
        gone
    }

    fn forget(&mut self, group: Pid) {
        if let Some(guard) = &mut self.guard {
            guard.forget(group);
        }
    }

    /// Reasons of failure, one line for each command, in their order.
    fn failures(&mut self) -> Vec<String> {
        let mut failed = mem::take(&mut self.failed);
        failed.extend(self.runners.iter_mut().map(|runner| (runner.place, runner.why())));
        failed.sort();
        failed.into_iter().map(|(_, why)| why).collect()
    }

    /// Claims the win for a command that has succeeded. None if another participant was faster but
    /// has no result yet, because it may never have one.
    fn answered(&mut self, at: usize, late: bool) -> Result<Option<Outcome>> {
        let agent = self.runners[at].agent.clone();
        let result = match self.runners[at].result(SHARED_MOST) {
            Ok(result) => result,
            Err(error) => {
                self.runners[at].put_out(error.to_string());
                return Ok(None);
            }
        };
        let elected = match result {
            Some(result) => {
                let bid = Bid { agent: &agent, lease: None, result: Some(&result) };
                self.race.early_exit.signal(&self.race.session, bid)
            }
            None => Err(Error::new(
                ErrorKind::Invalid,
                format!("the output has more than {SHARED_MOST} bytes"),
            )),
        };
        match elected {
            Ok(Elected::Won) => {}
            Ok(Elected::Lost(_)) => match self.theirs() {
                Some(theirs) => return Ok(Some(theirs)),
                None if !late => {
                    // One result is enough, whichever it will be.
                    let others = self.runners.iter_mut().filter(|runner| runner.is_running());
                    others.for_each(Runner::ask_to_end);
                    return Ok(None);
                }
                None => {}
            },
            Err(error) => {
                (self.race.warn)(&error.context("the result is not shared with the session"));
            }
        }
        let winner = self.runners.remove(at);
        // Its remaining processes are left alone, as after any command.
        self.winner = Some(winner.place);
        if let Some(guard) = &mut self.guard {
            guard.spare(winner.place);
        }
        self.forget(winner.group());
        winner.into_output().map(|output| Some(Outcome::Ours(output)))
    }

    /// Time until the next check that no event announces.
    fn patience(&self, look_again: Deadline) -> Duration {
        // A passed deadline does not count: a command has succeeded before it.
        let deadline = self.deadline.filter(|deadline| !deadline.passed());
        let until = deadline.into_iter().chain([look_again]);
        until.map(Deadline::remaining).min().unwrap_or(TICK)
    }

    /// Waits for a stream, the end of a command or a signal.
    fn wait(&self, at_most: Duration) -> Result<()> {
        self.wait_also(None, at_most)
    }

    /// Like [`Self::wait`], or until `room` can be written.
    pub(super) fn wait_also(&self, room: Option<BorrowedFd<'_>>, at_most: Duration) -> Result<()> {
        let mut fds = vec![PollFd::from_borrowed_fd(self.signals.fd(), PollFlags::IN)];
        fds.extend(room.map(|sink| PollFd::from_borrowed_fd(sink, PollFlags::OUT)));
        let pipes = self.runners.iter().flat_map(Runner::pipes);
        fds.extend(pipes.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN)));
        let time = Timespec {
            tv_sec: i64::try_from(at_most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(at_most.subsec_nanos()),
        };
        match poll(&mut fds, Some(&time)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => Err(error.into()).doing(|| "waiting for the commands".to_owned())?,
        }
        drop(fds);
        self.signals.drain();
        Ok(())
    }
}
