//! A running race: starts the commands, waits for them, and decides who wins. At its end the output
//! is written, and meanwhile all remaining processes are asked to end, then killed.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use recoup_core::base::clock::{Deadline, SystemClock};
use recoup_core::base::name::fresh_id;
use recoup_core::early_exit::{ElectionBid, ElectionOutcome};
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use super::guard::GuardHandle;
use super::process_tree::{ProcessIdentity, RaceProcesses, end_all};
use super::runner::RaceRunner;
use super::{OutputQueue, RaceOptions, RaceOutcome, RaceProgress, agent_name};
use crate::process::{self, IgnoredSignals};

/// Interval of checks for results of others in the session.
const SESSION_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Upper limit of timeouts.
const MAX_TIMEOUT: Duration = Duration::from_hours(24 * 365);
/// Maximum size of an output that is shared as a result.
const SHARED_MOST: u64 = 16 << 20;

/// A running race.
pub(crate) struct RunningRace<'a> {
    race: RaceOptions<'a>,
    /// Unique id of this race.
    id: String,
    deadline: Option<Deadline>,
    signals: RaceSignals,
    guard: Option<GuardHandle>,
    runners: Vec<RaceRunner>,
    processes: RaceProcesses,
    /// Place of the winner, whose processes are left alone.
    winner: Option<usize>,
    /// Signal that asked us to end.
    interrupted: Option<i32>,
    begun: RaceProgress,
    /// Number of checks for ended commands.
    turn: u64,
    /// Commands that have failed, by place, and why.
    failed: Vec<(usize, String)>,
    /// True if a session error was reported.
    warned: bool,
}

impl<'a> RunningRace<'a> {
    /// Prepares the race. After [`Self::decide`], call [`Self::finish`] whatever it returned: then no
    /// process is left but those of the winner.
    pub(crate) fn prepare(race: RaceOptions<'a>) -> Result<Self> {
        // Before anything starts, so that no signal is missed.
        let signals = RaceSignals::listen()?;
        process::adopt_orphans();
        let id = fresh_id(&SystemClock);
        Ok(Self {
            deadline: race.timeout.map(|time| Deadline::after(time.min(MAX_TIMEOUT))),
            race,
            processes: RaceProcesses::of(&id),
            id,
            signals,
            guard: None,
            runners: Vec::new(),
            winner: None,
            interrupted: None,
            begun: RaceProgress::No,
            turn: 0,
            failed: Vec::new(),
            warned: false,
        })
    }

    /// Runs the race until its outcome is known.
    pub(crate) fn decide(&mut self) -> Result<RaceOutcome> {
        let outcome = self.run_until_decided()?;
        if let RaceOutcome::Interrupted(signal) = outcome {
            self.interrupted = Some(signal);
        }
        Ok(outcome)
    }

    fn run_until_decided(&mut self) -> Result<RaceOutcome> {
        if let Some(outcome) = self.wait_for_session_winner()? {
            return Ok(outcome);
        }
        self.start_all();
        let mut look_again = Deadline::after(SESSION_CHECK_INTERVAL);
        loop {
            // A passed deadline does not count: a command has succeeded before it.
            let deadline = self.deadline.filter(|deadline| !deadline.has_passed());
            let checks = deadline.into_iter().chain([look_again]).map(Deadline::remaining);
            self.wait(checks.min().unwrap_or(SESSION_CHECK_INTERVAL))?;
            if let Some(signal) = self.signals.take_terminating_signal() {
                return Ok(RaceOutcome::Interrupted(signal));
            }
            self.read_all()?;
            let late = self.deadline.is_some_and(Deadline::has_passed);
            let succeeded = self.runners.iter().enumerate();
            let succeeded = succeeded.filter_map(|(at, it)| Some((it.success_order()?, at)));
            match succeeded.min().map(|(_, at)| at) {
                Some(at) if self.runners[at].has_answered() => {
                    if let Some(outcome) = self.claim_win(at, late)? {
                        return Ok(outcome);
                    }
                }
                None if !self.runners.iter().any(RaceRunner::may_win) => {
                    // One line for each command, in their order.
                    let mut failed = mem::take(&mut self.failed);
                    let last = self.runners.iter_mut().map(|it| (it.place, it.failure_reason()));
                    failed.extend(last);
                    failed.sort();
                    let lines = failed.into_iter().map(|(_, why)| why).collect();
                    return Ok(RaceOutcome::Failed(lines));
                }
                None if late => return Ok(RaceOutcome::TimedOut),
                // A command has succeeded, but its output is not complete yet.
                Some(_) | None => {}
            }
            if look_again.has_passed() {
                look_again = Deadline::after(SESSION_CHECK_INTERVAL);
                if let Some(outcome) = self.session_result() {
                    return Ok(outcome);
                }
            }
        }
    }

    /// Waits for the result if the session is already won: nothing has to start then, unless that
    /// winner never delivers.
    fn wait_for_session_winner(&mut self) -> Result<Option<RaceOutcome>> {
        loop {
            if let Some(outcome) = self.session_result() {
                return Ok(Some(outcome));
            }
            let found = self.race.early_exit.winner(&self.race.session);
            let somebody = self.warn_once(found).flatten().is_some();
            if !somebody {
                return Ok(None);
            }
            self.wait(SESSION_CHECK_INTERVAL)?;
            if let Some(signal) = self.signals.take_terminating_signal() {
                return Ok(Some(RaceOutcome::Interrupted(signal)));
            }
            if self.deadline.is_some_and(Deadline::has_passed) {
                return Ok(Some(RaceOutcome::TimedOut));
            }
        }
    }

    /// Result of another participant in the session.
    fn session_result(&mut self) -> Option<RaceOutcome> {
        let found = self.race.early_exit.answer(&self.race.session);
        let answer = self.warn_once(found).flatten()?;
        answer.result.is_some().then_some(RaceOutcome::Theirs(answer, self.begun))
    }

    fn start_all(&mut self) {
        self.begun = RaceProgress::Yes;
        match GuardHandle::start(&self.id, self.race.grace) {
            Ok(guard) => self.guard = Some(guard),
            Err(error) => (self.race.warn)(&error),
        }
        for (place, words) in mem::take(&mut self.race.commands).into_iter().enumerate() {
            let agent = agent_name(place, &words[0]);
            match RaceRunner::start(&self.id, place, agent.clone(), &words) {
                Ok(runner) => {
                    if let Some(guard) = &mut self.guard {
                        guard.watch(runner.group());
                    }
                    self.runners.push(runner);
                    let registered = self.race.early_exit.register(&self.race.session, &agent);
                    self.warn_once(registered);
                }
                Err(error) => {
                    let command = Path::new(&words[0]);
                    let is_missing = error.kind() == io::ErrorKind::NotFound && !command.exists();
                    let why = if is_missing { "command not found" } else { &error.to_string() };
                    let why = format!("can't start {}: {why}", command.display());
                    // At once: if another command wins, a misspelt one would go unnoticed.
                    (self.race.warn)(&Error::new(ErrorKind::Absent, format!("{agent}: {why}")));
                    self.failed.push((place, format!("{agent}: not started")));
                }
            }
        }
    }

    /// Warns once about a session error: the race goes on without its session.
    fn warn_once<T>(&mut self, done: Result<T>) -> Option<T> {
        done.map_err(|error| {
            if !mem::replace(&mut self.warned, true) {
                (self.race.warn)(&error.context("the race continues without its session"));
            }
        })
        .ok()
    }

    fn read_all(&mut self) -> Result<()> {
        self.turn += 1;
        for runner in &mut self.runners {
            runner.read_streams();
            runner.check_exit(self.turn)?;
            // Output that came between the two.
            runner.read_streams();
        }
        for mut runner in self.take_ended() {
            self.failed.push((runner.place, runner.failure_reason()));
        }
        Ok(())
    }

    /// Removes commands that can't win and have no process left. Their groups are forgotten at
    /// once, because process ids are reused.
    fn take_ended(&mut self) -> Vec<RaceRunner> {
        let gone = |runner: &mut RaceRunner| !runner.may_win() && runner.is_gone();
        let gone: Vec<RaceRunner> = self.runners.extract_if(.., gone).collect();
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

    /// Claims the win for a command that has succeeded. None if another participant was faster but
    /// has no result yet, because it may never have one.
    fn claim_win(&mut self, at: usize, late: bool) -> Result<Option<RaceOutcome>> {
        let agent = self.runners[at].agent.clone();
        let result = match self.runners[at].stdout_result(SHARED_MOST) {
            Ok(result) => result,
            Err(error) => {
                self.runners[at].disqualify(error.to_string());
                return Ok(None);
            }
        };
        let elected = match result {
            Some(result) => {
                let bid = ElectionBid { agent: &agent, lease: None, result: Some(&result) };
                self.race.early_exit.signal(&self.race.session, bid)
            }
            None => Err(Error::new(
                ErrorKind::Invalid,
                format!("the output is larger than {SHARED_MOST} bytes"),
            )),
        };
        match elected {
            Ok(ElectionOutcome::Won) => {}
            Ok(ElectionOutcome::Lost(_)) => match self.session_result() {
                Some(theirs) => return Ok(Some(theirs)),
                None if !late => {
                    // One result is enough, whichever it will be.
                    let others = self.runners.iter_mut().filter(|runner| runner.is_running());
                    others.for_each(RaceRunner::ask_to_end);
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
        winner.into_output().map(|output| Some(RaceOutcome::Ours(output)))
    }

    /// Waits for a stream, the end of a command or a signal.
    fn wait(&self, at_most: Duration) -> Result<()> {
        self.wait_or_writable(None, at_most)
    }

    /// Like [`Self::wait`], or until `room` can be written.
    fn wait_or_writable(&self, room: Option<BorrowedFd<'_>>, at_most: Duration) -> Result<()> {
        let mut fds = vec![PollFd::from_borrowed_fd(self.signals.fd(), PollFlags::IN)];
        fds.extend(room.map(|sink| PollFd::from_borrowed_fd(sink, PollFlags::OUT)));
        let pipes = self.runners.iter().flat_map(RaceRunner::pipes);
        fds.extend(pipes.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN)));
        match poll(&mut fds, Timespec::try_from(at_most).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                Err(error.into()).with_context(|| "waiting for the commands".to_owned())?;
            }
        }
        drop(fds);
        // Discards the wake-ups so far.
        let mut told = [0; 64];
        while (&self.signals.wake).read(&mut told).is_ok_and(|read| read > 0) {}
        Ok(())
    }
}

/// Interval of checks for ended processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Interval of searches for processes that have left their group.
const SEARCH_INTERVAL: Duration = Duration::from_millis(100);
/// Time limit for killed processes to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// Upper limit of grace periods.
const MAX_GRACE: Duration = Duration::from_hours(24 * 365);

/// Progress of the termination.
struct TerminationState {
    /// When remaining processes are killed; none means never.
    grace: Option<Deadline>,
    /// Time limit for their disappearance, once they are killed.
    killed: Option<Deadline>,
    strays: Vec<ProcessIdentity>,
    /// Strays that were asked to end.
    asked: HashSet<ProcessIdentity>,
    /// Next search; none means at once.
    search: Option<Deadline>,
}

impl RunningRace<'_> {
    /// Writes the output and ends all processes. Returns the signal by which we are to end.
    pub(crate) fn finish(mut self, mut delivery: OutputQueue) -> Result<Option<i32>> {
        let mut delivered = Ok(());
        let mut ending = TerminationState {
            grace: self.race.grace.map(|grace| Deadline::after(grace.min(MAX_GRACE))),
            killed: None,
            strays: Vec::new(),
            asked: HashSet::new(),
            search: None,
        };
        // Before any process ends, while parents are still known.
        self.find_strays(&mut ending);
        for runner in &mut self.runners {
            runner.give_up();
            runner.ask_to_end();
        }
        loop {
            delivered = delivered.and(delivery.write_some());
            let all_have_ended = self.continue_termination(&mut ending)?;
            if delivery.next_sink().is_none() && all_have_ended {
                break;
            }
            if let Some(signal) = self.signals.take_terminating_signal() {
                delivery.clear();
                match self.interrupted.replace(signal) {
                    None => {}
                    // A second signal means that the user is in a hurry.
                    Some(_) if self.race.grace.is_some() => self.kill(&mut ending),
                    Some(_) => return Ok(self.interrupted),
                }
                continue;
            }
            self.wait_or_writable(delivery.next_sink(), CHECK_INTERVAL)?;
        }
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
        delivered.map(|()| self.interrupted)
    }

    /// Continues the termination; true if no process is left that we could end.
    fn continue_termination(&mut self, ending: &mut TerminationState) -> Result<bool> {
        for runner in &mut self.runners {
            // Discarded output: it must not block its writer.
            runner.read_streams();
            runner.check_exit(u64::MAX)?;
        }
        let were_there = !self.runners.is_empty();
        self.take_ended();
        // Orphans of the last command have just become our children.
        if were_there && self.runners.is_empty() {
            ending.search = None;
        }
        if ending.search.is_none_or(Deadline::has_passed) {
            self.find_strays(ending);
        }
        if self.runners.is_empty() && ending.strays.is_empty() {
            return Ok(true);
        }
        if ending.killed.is_none() && ending.grace.is_some_and(Deadline::has_passed) {
            self.kill(ending);
        }
        // The rest is left to the kernel and the guard.
        Ok(ending.killed.is_some_and(Deadline::has_passed))
    }

    /// Finds processes that have left their group, and asks each to end once.
    fn find_strays(&mut self, ending: &mut TerminationState) {
        let leader = |group: Pid| group.as_raw_nonzero().get();
        let leaders: HashMap<i32, usize> =
            self.runners.iter().map(|runner| (leader(runner.group()), runner.place)).collect();
        ending.strays = self.processes.strays(&leaders, self.winner);
        end_all(&ending.strays, ending.killed.is_some(), &mut ending.asked);
        ending.search = Some(Deadline::after(SEARCH_INTERVAL));
    }

    fn kill(&mut self, ending: &mut TerminationState) {
        self.runners.iter_mut().for_each(|runner| runner.signal(Signal::KILL));
        ending.killed.get_or_insert_with(|| Deadline::after(KILL_TIMEOUT));
        ending.search = None;
    }
}

/// Signals that ask us to end.
const TERMINATING_SIGNALS: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Receiver of signals that ask us to end, and of SIGCHLD for commands that have ended.
#[derive(Debug)]
struct RaceSignals {
    wake: UnixStream,
    last: Arc<AtomicUsize>,
}

impl RaceSignals {
    /// Starts to receive signals, except those that were ignored when we were started (`nohup`).
    fn listen() -> Result<Self> {
        let listening = || "listening for signals".to_owned();
        let (wake, write) = UnixStream::pair().with_context(listening)?;
        wake.set_nonblocking(true).with_context(listening)?;
        let (last, ignored) = (Arc::new(AtomicUsize::new(0)), IgnoredSignals::at_start());
        for signal in TERMINATING_SIGNALS.into_iter().filter(|signal| ignored.is_delivered(*signal))
        {
            // The flag first: it must be set when the pipe wakes us.
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&last), number).with_context(listening)?;
            pipe::register(signal, write.try_clone().with_context(listening)?)
                .with_context(listening)?;
        }
        pipe::register(SIGCHLD, write).with_context(listening)?;
        Ok(Self { wake, last })
    }

    /// Readable when a signal has arrived.
    fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// The last signal that asked us to end since the previous call.
    fn take_terminating_signal(&self) -> Option<i32> {
        match self.last.swap(0, Ordering::SeqCst) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}
