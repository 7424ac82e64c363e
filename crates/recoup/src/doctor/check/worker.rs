//! Checks the jobs that hooks have left to the worker.

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};

use crate::doctor::DoctorContext;
use crate::doctor::finding::{DoctorFinding, RepairAction};
use crate::hooks::worker::MAX_RUNTIME;
use crate::human;
use crate::jobs::{self, WorkerBacklog};

const CHECK: &str = "worker";

/// In milliseconds: an older job is reported, as the next hook in its project may be far off.
const LONG: u64 = 60 * 60 * 1000;

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let backlogs = match jobs::list_backlogs(&context.home) {
        Ok(backlogs) => backlogs,
        Err(error) => {
            let what = format!("{}: {error}", context.display_path(&context.home.join("queue")));
            return vec![
                DoctorFinding::fail(CHECK, "unusable", what)
                    .remedy("let this user read and write it"),
            ];
        }
    };
    let jobs: usize = backlogs.iter().map(|it| it.jobs).sum();
    let mut found: Vec<DoctorFinding> =
        backlogs.iter().flat_map(|it| check_backlog(it, context)).collect();
    if found.is_empty() {
        let working = backlogs.iter().filter(|it| it.is_worked_on).count();
        let what = match (jobs, working) {
            (0, 0) => "nothing waits for it".to_owned(),
            (jobs, 0) => format!("{jobs} jobs wait for the next hook in their project"),
            (jobs, _) => format!("at work, {jobs} jobs left"),
        };
        found.push(DoctorFinding::ok(CHECK, what));
    }
    found[0].facts.push(("jobs", jobs.into()));
    found
}

/// A problem with a project's backlog.
#[derive(Debug, PartialEq, Eq)]
enum BacklogTrouble {
    /// A worker has been at one job for so many milliseconds.
    Stuck(u64),
    /// No worker has run for so many milliseconds.
    Waiting(u64),
}

fn find_trouble(backlog: &WorkerBacklog, now: Timestamp) -> Option<BacklogTrouble> {
    let WorkerBacklog { jobs, oldest, begun, is_worked_on, .. } = backlog;
    let age = |then: &Option<Timestamp>| then.map_or(0, |then| now.millis_since(then));
    // A worker limits its own run time, whatever it waits for.
    let longest = 2 * u64::try_from(MAX_RUNTIME.as_millis()).unwrap_or(u64::MAX);
    match is_worked_on {
        true if age(begun) > longest => Some(BacklogTrouble::Stuck(age(begun))),
        false if *jobs > 0 && age(oldest) > LONG => Some(BacklogTrouble::Waiting(age(oldest))),
        _ => None,
    }
}

fn check_backlog(backlog: &WorkerBacklog, context: &DoctorContext) -> Vec<DoctorFinding> {
    let WorkerBacklog { project, root, jobs, lost, kept, .. } = backlog;
    let dir = context.home.join("queue").join(project);
    let place = context.display_path(root.as_ref().unwrap_or(&dir));
    let troubled = find_trouble(backlog, SystemClock.now()).map(|trouble| match trouble {
        BacklogTrouble::Stuck(age) => {
            let what = format!("somebody has been at one job of {place} for {}", human::long_duration(age));
            DoctorFinding::warn(CHECK, "stuck", what).remedy(
                "a worker ends after three minutes, unless it is stopped: look for `recoup hook --work`",
            )
        }
        BacklogTrouble::Waiting(age) => {
            let noun = if *jobs == 1 { "job" } else { "jobs" };
            let what = format!("{jobs} {noun} of {place} left, the oldest {} ago", human::long_duration(age));
            let found = DoctorFinding::warn(CHECK, "waiting", what)
                .remedy("the next hook there starts a worker; `recoup doctor --fix` does it now");
            match root.as_ref().filter(|root| root.is_dir()) {
                Some(root) => found.fix(RepairAction::Work { project: project.clone(), root: root.clone() }),
                None => found,
            }
        }
    });
    let given_up = (*lost > 0).then(|| {
        let what = format!("{lost} of them can't be read, or ended their worker three times");
        DoctorFinding::warn(CHECK, "given-up", what)
            .remedy("the next worker drops them: what they were about is lost")
            .fact("lost", *lost)
    });
    let unstored = (*kept > 0).then(|| {
        let noun = if *kept == 1 { "statement" } else { "statements" };
        let what = format!("{kept} {noun} of {place} could not be stored: kept in {}", context.display_path(&dir));
        let found = DoctorFinding::warn(CHECK, "not-stored", what)
            .remedy("`recoup doctor --fix` tries again; `recoup doctor --bundle` is what we need if it fails")
            .fact("kept", *kept);
        match root.as_ref().filter(|root| root.is_dir()) {
            Some(root) => found.fix(RepairAction::Work { project: project.clone(), root: root.clone() }),
            None => found,
        }
    });
    troubled.into_iter().chain(given_up).chain(unstored).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_stuck_when_it_is_at_one_job_for_too_long() {
        let now = Timestamp::from_seconds(1_000_000);
        let ago = |seconds: i64| Some(Timestamp::from_seconds(1_000_000 - seconds));
        let backlog = |oldest, begun, is_worked_on| WorkerBacklog {
            project: String::new(),
            root: None,
            jobs: 2,
            lost: 0,
            kept: 0,
            oldest,
            begun,
            is_worked_on,
        };
        assert_eq!(find_trouble(&backlog(ago(9_000), ago(100), true), now), None);
        assert_eq!(
            find_trouble(&backlog(ago(9_000), ago(400), true), now),
            Some(BacklogTrouble::Stuck(400_000))
        );
        assert_eq!(find_trouble(&backlog(ago(60), None, false), now), None);
        assert_eq!(
            find_trouble(&backlog(ago(9_000), ago(9_000), false), now),
            Some(BacklogTrouble::Waiting(9_000_000))
        );
    }
}
