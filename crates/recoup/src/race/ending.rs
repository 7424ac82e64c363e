//! The end of a race: the output is written, and meanwhile all remaining processes are asked to
//! end, then killed.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use rustix::process::Signal;

use super::contest::RunningRace;
use super::output_queue::OutputQueue;
use super::process_tree::ProcessIdentity;

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
        let leader = |group: rustix::process::Pid| group.as_raw_nonzero().get();
        let leaders: HashMap<i32, usize> =
            self.runners.iter().map(|runner| (leader(runner.group()), runner.place)).collect();
        ending.strays = self.kin.strays(&leaders, self.winner);
        for stray in &ending.strays {
            if ending.killed.is_some() {
                stray.signal(Signal::KILL);
            } else if ending.asked.insert(*stray) {
                stray.signal(Signal::TERM);
                stray.signal(Signal::CONT);
            }
        }
        ending.search = Some(Deadline::after(SEARCH_INTERVAL));
    }

    fn kill(&mut self, ending: &mut TerminationState) {
        self.runners.iter_mut().for_each(|runner| runner.signal(Signal::KILL));
        ending.killed.get_or_insert_with(|| Deadline::after(KILL_TIMEOUT));
        ending.search = None;
    }
}
