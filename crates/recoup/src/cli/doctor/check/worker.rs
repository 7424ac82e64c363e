//! What hooks have left for later, and whether somebody does it.

use recoup_core::base::clock::{Clock as _, SystemClock};

use crate::cli::doctor::Around;
use crate::cli::doctor::finding::{Finding, Fix};
use crate::cli::human;
use crate::hooks::worker::LONGEST;
use crate::hooks::worker::backlog::{self, Backlog};

const CHECK: &str = "worker";

/// What waits for longer is waited for by nobody: the next hook in its project may be far off.
const LONG: u64 = 60 * 60 * 1000;

pub(super) fn find(around: &Around) -> Vec<Finding> {
    let backlogs = match backlog::all(&around.home) {
        Ok(backlogs) => backlogs,
        Err(error) => {
            let what = format!("{}: {error}", around.shown(&around.home.join("queue")));
            return vec![
                Finding::fail(CHECK, "unusable", what).remedy("let this user read and write it"),
            ];
        }
    };
    let jobs: usize = backlogs.iter().map(|it| it.jobs).sum();
    let mut found: Vec<Finding> = backlogs.iter().flat_map(|it| look_at(it, around)).collect();
    if found.is_empty() {
        let working = backlogs.iter().filter(|it| it.is_worked_on).count();
        let what = match (jobs, working) {
            (0, 0) => "nothing waits for it".to_owned(),
            (jobs, 0) => format!("{jobs} jobs wait for the next hook in their project"),
            (jobs, _) => format!("at work, {jobs} jobs left"),
        };
        found.push(Finding::ok(CHECK, what));
    }
    found[0].facts.push(("jobs", jobs.into()));
    found
}

fn look_at(backlog: &Backlog, around: &Around) -> Vec<Finding> {
    let Backlog { project, root, jobs, lost, oldest, is_worked_on } = backlog;
    let age = oldest.map_or(0, |then| SystemClock.now().millis_since(then));
    let place = root.as_ref().map_or_else(
        || around.shown(&around.home.join("queue").join(project)),
        |root| around.shown(root),
    );
    let mut found = Vec::new();
    let too_long = 2 * u64::try_from(LONGEST.as_millis()).unwrap_or(u64::MAX);
    if *is_worked_on && *jobs > 0 && age > too_long {
        let what = format!("somebody has worked for {} on a job of {place}", human::long(age));
        found.push(
            Finding::warn(CHECK, "stuck", what)
                .remedy("a worker ends by itself after three minutes: look for a process `recoup hook --work` that is stopped, and end it"),
        );
    } else if !is_worked_on && *jobs > 0 && age > LONG {
        let what = format!("{jobs} jobs of {place} wait for {} already", human::long(age));
        let waiting = Finding::warn(CHECK, "waiting", what)
            .remedy("the next hook there starts a worker; `recoup doctor --fix` does it now");
        found.push(match root {
            Some(root) if root.is_dir() => {
                waiting.fix(Fix::Work { project: project.clone(), root: root.clone() })
            }
            _ => waiting,
        });
    }
    if *lost > 0 {
        let what =
            format!("{lost} jobs of {place} ended their worker three times, or can't be read");
        found.push(
            Finding::warn(CHECK, "given-up", what)
                .remedy("the next worker drops them; what they were about is lost, and the log says why")
                .fact("lost", *lost),
        );
    }
    found
}
