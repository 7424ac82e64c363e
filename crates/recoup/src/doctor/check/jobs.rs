//! Checks what hooks left behind: jobs for the worker, and faults that they logged during the last
//! day, as hooks fail silently.

use std::collections::BTreeMap;
use std::path::Path;

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::base::fsx;

use crate::doctor::DoctorContext;
use crate::doctor::finding::{DoctorFinding, RepairAction};
use crate::hooks::worker::MAX_RUNTIME;
use crate::human;
use crate::jobs::{self, HookLog, WorkerBacklog};

/// In milliseconds: an older job is reported, as the next hook in its project may be far off.
const LONG_WAIT: u64 = 60 * 60 * 1000;

/// Checks the jobs that hooks have left to the worker.
pub(super) fn find_backlog(context: &DoctorContext) -> Vec<DoctorFinding> {
    let backlogs = match jobs::list_backlogs(&context.home) {
        Ok(backlogs) => backlogs,
        Err(error) => {
            let what = format!("{}: {error}", context.display_path(&context.home.join("queue")));
            return vec![
                DoctorFinding::fail("unusable", what)
                    .remedy("grant this user read and write access"),
            ];
        }
    };
    let jobs: usize = backlogs.iter().map(|it| it.jobs).sum();
    let mut found: Vec<DoctorFinding> =
        backlogs.iter().flat_map(|it| check_backlog(it, context)).collect();
    if found.is_empty() {
        let working = backlogs.iter().filter(|it| it.is_worked_on).count();
        let what = match (jobs, working) {
            (0, 0) => "no jobs are waiting".to_owned(),
            (jobs, 0) => format!("{jobs} jobs wait for the next hook in their project"),
            (jobs, _) => format!("running, {jobs} jobs left"),
        };
        found.push(DoctorFinding::ok(what));
    }
    found[0].facts.insert("jobs", jobs.into());
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
        false if *jobs > 0 && age(oldest) > LONG_WAIT => Some(BacklogTrouble::Waiting(age(oldest))),
        _ => None,
    }
}

fn check_backlog(backlog: &WorkerBacklog, context: &DoctorContext) -> Vec<DoctorFinding> {
    let WorkerBacklog { project, root, jobs, lost, kept, .. } = backlog;
    let dir = context.home.join("queue").join(project);
    let place = context.display_path(root.as_ref().unwrap_or(&dir));
    let offer_worker = |found: DoctorFinding| match root.as_ref().filter(|root| root.is_dir()) {
        Some(root) => {
            found.fix(RepairAction::Work { project: project.clone(), root: root.clone() })
        }
        None => found,
    };
    let troubled = find_trouble(backlog, SystemClock.now()).map(|trouble| match trouble {
        BacklogTrouble::Stuck(age) => {
            let what = format!(
                "a worker has been busy with one job of {place} for {}",
                human::long_duration(age)
            );
            DoctorFinding::warn("stuck", what).remedy(
                "a worker normally ends within three minutes: look for a hanging \
                 `recoup hook --work`",
            )
        }
        BacklogTrouble::Waiting(age) => {
            let noun = if *jobs == 1 { "job" } else { "jobs" };
            let what = format!(
                "{jobs} {noun} of {place} waiting, the oldest for {}",
                human::long_duration(age)
            );
            let found = DoctorFinding::warn("waiting", what).remedy(
                "the next hook there starts a worker; `recoup doctor --fix` starts one now",
            );
            offer_worker(found)
        }
    });
    let given_up = (*lost > 0).then(|| {
        let what = format!("{lost} of them can't be read, or crashed their worker three times");
        DoctorFinding::warn("given-up", what)
            .remedy("the next worker drops them: their content is lost")
            .fact("lost", *lost)
    });
    let unstored = (*kept > 0).then(|| {
        let noun = if *kept == 1 { "statement" } else { "statements" };
        let what = format!(
            "{kept} {noun} of {place} could not be stored: kept in {}",
            context.display_path(&dir)
        );
        let found = DoctorFinding::warn("not-stored", what)
            .remedy(
                "`recoup doctor --fix` tries again; if that fails, please report it with \
                 `recoup doctor --bundle`",
            )
            .fact("kept", *kept);
        offer_worker(found)
    });
    troubled.into_iter().chain(given_up).chain(unstored).collect()
}

/// Upper limit for reading a log file, with some reserve.
const MAX_LOG_BYTES: u64 = 4 << 20;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Kinds of log lines: the end of the first part, a phrase in the second, and the kind. The first
/// match wins. The rest of a line is an error's own text.
const KINDS: [(&str, &str, &str); 14] = [
    ("a hook", "took too long", "took-too-long"),
    ("a hook panicked", "", "panicked"),
    ("the worker", "given up after", "job-given-up"),
    ("the worker", "a job failed", "job-failed"),
    ("the worker", "can't be read", "job-unreadable"),
    ("a payload was not understood", "", "payload-not-understood"),
    ("a payload was not read", "", "payload-not-read"),
    ("a hook", "unknown argument", "unknown-argument"),
    ("a hook", "unknown client", "unknown-client"),
    ("memory", "", "memory"),
    ("the worker", "", "worker"),
    ("", "nothing was written down", "not-written"),
    ("", "not left to the worker", "worker-not-told"),
    ("", "the worker was not started", "worker"),
];

/// Reports the faults that hooks logged during the last day.
pub(super) fn find_faults(context: &DoctorContext) -> Vec<DoctorFinding> {
    let lines = match lines_of_last_day(&context.home) {
        Ok(lines) => lines,
        Err(why) => {
            return vec![DoctorFinding::warn("unreadable", why).remedy("move the file away")];
        }
    };
    let Some(last) = lines.last() else {
        return vec![DoctorFinding::ok("no errors in hooks during the last day")];
    };
    let noun = if lines.len() == 1 { "error" } else { "errors" };
    let what = format!("{} {noun} in hooks during the last day; the latest: {last}", lines.len());
    let log = context.display_path(&context.home.join("logs/hooks.log"));
    let mut found = DoctorFinding::warn("faults", what).remedy(format!("all of them are in {log}"));
    for (kind, count) in count_by_kind(&lines) {
        found = found.fact(kind, count);
    }
    vec![found]
}

/// Counts faults of the last day by kind, without their text.
pub(in crate::doctor) fn count_faults_of_last_day(home: &Path) -> BTreeMap<&'static str, u64> {
    count_by_kind(&lines_of_last_day(home).unwrap_or_default())
}

fn count_by_kind(lines: &[String]) -> BTreeMap<&'static str, u64> {
    let mut kinds = BTreeMap::new();
    for line in lines {
        *kinds.entry(kind_of(line)).or_default() += 1;
    }
    kinds
}

fn kind_of(line: &str) -> &'static str {
    let mut parts = line.split(": ");
    let (first, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let fits = |(end, words, _): &&(&str, &str, _)| first.ends_with(end) && second.contains(words);
    KINDS.iter().find(fits).map_or("other", |(_, _, kind)| kind)
}

/// Log lines of the last day without their times, oldest first.
fn lines_of_last_day(home: &Path) -> Result<Vec<String>, String> {
    let since = SystemClock.now().as_millis().saturating_sub_unsigned(DAY);
    let mut lines = Vec::new();
    for path in HookLog::below(home).paths() {
        let text = fsx::read_regular(&path, MAX_LOG_BYTES).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(text.as_deref().unwrap_or_default()).into_owned();
        let recent = text.lines().filter_map(|line| line.split_once(' ')).filter(|(at, _)| {
            Timestamp::parse(at).is_some_and(|at| at >= Timestamp::from_millis(since))
        });
        lines.extend(recent.map(|(_, rest)| rest.trim_start_matches("- ").to_owned()));
    }
    Ok(lines)
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

    #[test]
    fn a_line_becomes_its_kind_and_nothing_else() {
        assert_eq!(kind_of("- a hook: it took too long, and was given up"), "took-too-long");
        assert_eq!(kind_of("- the worker: job 1-a was given up after 3 tries"), "job-given-up");
        assert_eq!(kind_of("claude-code Stop: nothing was written down: full"), "not-written");
        let argument = "- a hook: unknown argument ignored: expected --client NAME";
        assert_eq!(kind_of(argument), "unknown-argument");
        assert_eq!(kind_of("pi a hook: unknown client: expected codex"), "unknown-client");
        assert_eq!(kind_of("wombat"), "other");
        assert_eq!(kind_of("memory: its list can't be read: memory"), "memory");
        assert_eq!(kind_of("the worker: a job failed: a job can't be read"), "job-failed");
        let of_event = "codex Stop: something was not left to the worker: it took too long";
        assert_eq!(kind_of(of_event), "worker-not-told");
    }
}
