//! Reports faults that hooks logged during the last day: hooks fail silently.

use std::collections::BTreeMap;
use std::path::Path;

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::base::fsx;

use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::jobs::HookLog;

const CHECK: &str = "log";

/// Upper limit for reading a log file, with some reserve.
const LARGEST: u64 = 4 << 20;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Kinds of log lines: the end of the first part, a phrase in the second, and the kind. The first
/// match wins. The rest of a line is an error's own text.
const KINDS: [(&str, &str, &str); 13] = [
    ("a hook", "took too long", "took-too-long"),
    ("a hook panicked", "", "panicked"),
    ("the worker", "given up after", "job-given-up"),
    ("the worker", "a job failed", "job-failed"),
    ("the worker", "can't be read", "job-unreadable"),
    ("a payload was not understood", "", "payload-not-understood"),
    ("a payload was not read", "", "payload-not-read"),
    ("a hook", "an argument is not known", "unknown-argument"),
    ("memory", "", "memory"),
    ("the worker", "", "worker"),
    ("", "nothing was written down", "not-written"),
    ("", "not left to the worker", "worker-not-told"),
    ("", "the worker was not started", "worker"),
];

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let lines = match lines_of_last_day(&context.home) {
        Ok(lines) => lines,
        Err(why) => {
            return vec![
                DoctorFinding::warn(CHECK, "unreadable", why).remedy("move it out of the way"),
            ];
        }
    };
    let Some(last) = lines.last() else {
        return vec![DoctorFinding::ok(CHECK, "nothing went wrong in hooks during the last day")];
    };
    let noun = if lines.len() == 1 { "thing" } else { "things" };
    let what = format!(
        "{} {noun} went wrong in hooks during the last day; the latest: {last}",
        lines.len()
    );
    let log = context.display_path(&context.home.join("logs/hooks.log"));
    let mut found =
        DoctorFinding::warn(CHECK, "faults", what).remedy(format!("{log} has them all"));
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
        let text = fsx::read_regular(&path, LARGEST).map_err(|error| error.to_string())?;
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
    fn a_line_becomes_its_kind_and_nothing_else() {
        assert_eq!(kind_of("- a hook: it took too long, and was given up"), "took-too-long");
        assert_eq!(kind_of("- the worker: job 1-a was given up after 3 tries"), "job-given-up");
        assert_eq!(kind_of("claude-code Stop: nothing was written down: full"), "not-written");
        assert_eq!(kind_of("wombat"), "other");
        assert_eq!(kind_of("memory: its list can't be read: memory"), "memory");
        assert_eq!(kind_of("the worker: a job failed: a job can't be read"), "job-failed");
        let of_event = "codex Stop: something was not left to the worker: it took too long";
        assert_eq!(kind_of(of_event), "worker-not-told");
    }
}
