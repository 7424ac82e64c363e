//! The end of a race: what is to be given out is given out, and meanwhile all who are
//! left are asked to end, and made to.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use rustix::process::Signal;

use super::contest::Contest;
use super::give::Delivery;
use super::kin::Process;

/// How often we look whether they have ended.
const TICK: Duration = Duration::from_millis(20);
/// How often we look for those who have left their group.
const SEARCH: Duration = Duration::from_millis(100);
/// How long the kernel may take for one that was killed.
const KILLED: Duration = Duration::from_secs(5);
/// Longer than anybody waits.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// How far it has come.
struct Ending {
    /// When those are killed who have not ended; none is never.
    grace: Option<Deadline>,
    /// Once they are: how long we wait for that.
    killed: Option<Deadline>,
    strays: Vec<Process>,
    /// Those of them who were asked to end.
    asked: HashSet<Process>,
    /// None is at once.
    search: Option<Deadline>,
}

impl Contest<'_> {
    /// Nobody is left running when this returns. Gives the signal by which we are to end.
    pub(crate) fn finish(mut self, mut delivery: Delivery) -> Result<Option<i32>> {
        let mut delivered = Ok(());
        let mut ending = Ending {
            grace: self.race.grace.map(|grace| Deadline::after(grace.min(LONGEST))),
            killed: None,
            strays: Vec::new(),
            asked: HashSet::new(),
            search: None,
        };
        // Before anybody ends: then we still see who was started by whom.
        self.search(&mut ending);
        for runner in &mut self.runners {
            runner.give_up();
            runner.ask_to_end();
        }
        loop {
            delivered = delivered.and(delivery.step());
            let all_have_ended = self.go_on_ending(&mut ending)?;
            if delivery.awaits().is_none() && all_have_ended {
                break;
            }
            if let Some(signal) = self.signals.ending() {
                delivery.stop();
                match self.interrupted.replace(signal) {
                    None => {}
                    // Whoever asks twice is in a hurry.
                    Some(_) if self.race.grace.is_some() => self.kill(&mut ending),
                    Some(_) => return Ok(self.interrupted),
                }
                continue;
            }
            self.wait_also(delivery.awaits(), TICK)?;
        }
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
        delivered.map(|()| self.interrupted)
    }

    /// Whether nobody is left, or nobody whom we could still end.
    fn go_on_ending(&mut self, ending: &mut Ending) -> Result<bool> {
        for runner in &mut self.runners {
            // Nobody will read it: it only must not hold up who writes it.
            runner.hear();
            runner.look(u64::MAX)?;
        }
        let were_there = !self.runners.is_empty();
        self.take_gone();
        // Whoever was left behind just now has become our child.
        if were_there && self.runners.is_empty() {
            ending.search = None;
        }
        if ending.search.is_none_or(Deadline::passed) {
            self.search(ending);
        }
        if self.runners.is_empty() && ending.strays.is_empty() {
            return Ok(true);
        }
        if ending.killed.is_none() && ending.grace.is_some_and(Deadline::passed) {
            self.kill(ending);
        }
        // In the kernel's hands, then, and the guard's.
        Ok(ending.killed.is_some_and(Deadline::passed))
    }

    /// Finds those who have left their group, and sees to it that each is asked to end.
    fn search(&mut self, ending: &mut Ending) {
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
        ending.search = Some(Deadline::after(SEARCH));
    }

    fn kill(&mut self, ending: &mut Ending) {
        self.runners.iter_mut().for_each(|runner| runner.signal(Signal::KILL));
        ending.killed.get_or_insert_with(|| Deadline::after(KILLED));
        ending.search = None;
    }
}
