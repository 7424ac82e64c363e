//! The race while it goes on.

use std::mem;
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use recoup_core::coord::{Bid, Elected};
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::guard::Guard;
use super::runner::{self, Runner};
use super::signals::Signals;
use super::{Outcome, Race, agent_name};

/// How often we look what others in the session have found.
const TICK: Duration = Duration::from_millis(200);
/// The same while we end those who lost.
const ENDING_TICK: Duration = Duration::from_millis(20);
/// Longer than anybody waits.
const LONGEST: Duration = Duration::from_hours(24 * 365);
/// The longest output that is shared as a result.
const SHARED_MOST: u64 = 16 << 20;

pub(super) struct Contest<'a> {
    race: Race<'a>,
    deadline: Option<Deadline>,
    signals: Signals,
    guard: Option<Guard>,
    runners: Vec<Runner>,
    /// Those that are out of it, and why.
    failed: Vec<(usize, String)>,
    /// Whether it was said that the session can't be used.
    warned: bool,
}

impl<'a> Contest<'a> {
    pub(super) fn start(race: Race<'a>) -> Result<Self> {
        // Before anything starts, so that none of it is missed.
        let signals = Signals::listen()?;
        runner::adopt_orphans();
        let deadline = race.timeout.map(|time| Deadline::after(time.min(LONGEST)));
        let (runners, failed) = (Vec::new(), Vec::new());
        Ok(Self { race, deadline, signals, guard: None, runners, failed, warned: false })
    }

    pub(super) fn run(mut self) -> Result<Outcome> {
        let ran = self.until_decided();
        // Whatever happened, nobody is left running.
        let ended = self.end_all();
        let outcome = ran?;
        ended?;
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
            if let Some(place) = self.runners.iter().position(Runner::has_answered) {
                if let Some(outcome) = self.finish(place, late)? {
                    return Ok(outcome);
                }
            } else if !self.runners.iter().any(Runner::may_win) {
                return Ok(Outcome::Failed(self.failures()));
            }
            if late {
                return Ok(Outcome::TimedOut);
            }
            if look_again.passed() {
                look_again = Deadline::after(TICK);
                if let Some(outcome) = self.theirs() {
                    return Ok(outcome);
                }
            }
        }
    }

    /// While somebody else in the session has won already, nothing of ours needs to
    /// start: unless that one never comes to its result.
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

    /// What somebody else in the session has found.
    fn theirs(&mut self) -> Option<Outcome> {
        let found = self.race.early_exit.answer(&self.race.session);
        let answer = self.survive(found).flatten()?;
        answer.result.is_some().then_some(Outcome::Theirs(answer))
    }

    fn start_all(&mut self) {
        match Guard::start(self.race.grace) {
            Ok(guard) => self.guard = Some(guard),
            Err(error) => (self.race.warn)(&error),
        }
        for (place, words) in mem::take(&mut self.race.commands).into_iter().enumerate() {
            let agent = agent_name(place, &words[0]);
            match Runner::start(place, agent.clone(), &words) {
                Ok(runner) => {
                    if let Some(guard) = &mut self.guard {
                        guard.watch(runner.group());
                    }
                    self.runners.push(runner);
                    let registered = self.race.early_exit.register(&self.race.session, &agent);
                    self.survive(registered);
                }
                Err(error) => self.failed.push((place, format!("{agent}: not started: {error}"))),
            }
        }
    }

    /// The session is for others: without it the race is still ours.
    fn survive<T>(&mut self, done: Result<T>) -> Option<T> {
        done.map_err(|error| {
            if !mem::replace(&mut self.warned, true) {
                (self.race.warn)(&error.context("the race goes on without its session"));
            }
        })
        .ok()
    }

    fn hear_all(&mut self) -> Result<()> {
        for runner in &mut self.runners {
            runner.hear()?;
            runner.look()?;
            // What came between the two.
            runner.hear()?;
        }
        for mut runner in self.take_gone() {
            self.failed.push((runner.place, runner.why()));
        }
        Ok(())
    }

    /// Those who can't win any more, and of whom no process is left. They are
    /// forgotten at once: another process may come to have that number.
    fn take_gone(&mut self) -> Vec<Runner> {
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

    /// A line on each command, in their order.
    fn failures(&mut self) -> Vec<String> {
        let mut failed = mem::take(&mut self.failed);
        failed.extend(self.runners.iter_mut().map(|runner| (runner.place, runner.why())));
        failed.sort();
        failed.into_iter().map(|(_, why)| why).collect()
    }

    /// One of ours has succeeded: it wins, unless another has been faster. None while
    /// that one has no result, because it may never have one.
    fn finish(&mut self, place: usize, late: bool) -> Result<Option<Outcome>> {
        let agent = self.runners[place].agent.clone();
        let elected = match self.runners[place].result(SHARED_MOST)? {
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
                    // One answer is enough, whichever it will be.
                    let others = self.runners.iter_mut().filter(|runner| runner.is_running());
                    others.for_each(|runner| runner.signal(Signal::TERM));
                    return Ok(None);
                }
                None => {}
            },
            Err(error) => {
                (self.race.warn)(&error.context("the result is not shared with the session"));
            }
        }
        let winner = self.runners.remove(place);
        // What it left behind is its own business, as after any command.
        self.forget(winner.group());
        winner.into_output().map(|output| Some(Outcome::Ours(output)))
    }

    /// Until the next thing to do that nobody tells us about.
    fn patience(&self, look_again: Deadline) -> Duration {
        let until = self.deadline.into_iter().chain([look_again]);
        until.map(Deadline::remaining).min().unwrap_or(TICK)
    }

    /// Asks all that are left to end, and makes those who will not.
    fn end_all(&mut self) -> Result<()> {
        self.runners.iter_mut().for_each(|runner| runner.signal(Signal::TERM));
        let mut grace = Deadline::after(self.race.grace);
        let mut killed = false;
        loop {
            for runner in &mut self.runners {
                // Nobody will read it: it only must not hold up who writes it.
                let _ = runner.hear();
                runner.look()?;
                runner.give_up();
            }
            self.take_gone();
            if self.runners.is_empty() {
                return Ok(());
            }
            // Whoever asks twice is in a hurry.
            if (self.signals.ending().is_some() || grace.passed()) && !killed {
                self.runners.iter_mut().for_each(|runner| runner.signal(Signal::KILL));
                (killed, grace) = (true, Deadline::after(self.race.grace));
            } else if killed && grace.passed() {
                // In the kernel's hands, and the guard's.
                return Ok(());
            }
            self.wait(ENDING_TICK)?;
        }
    }

    /// Waits for a stream, the end of a command or a signal.
    fn wait(&self, at_most: Duration) -> Result<()> {
        let mut fds = vec![PollFd::from_borrowed_fd(self.signals.fd(), PollFlags::IN)];
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
