//! What went wrong in hooks during the last day: nobody else sees it.

use std::collections::BTreeMap;
use std::path::Path;

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::base::fsx;

use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;

const CHECK: &str = "log";

/// As long as the log's files get, and a little more.
const LARGEST: u64 = 4 << 20;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// What a line may be about, by words that are in it: the first that fits.
const KINDS: [(&str, &str); 12] = [
    ("took too long", "took-too-long"),
    ("panicked", "panicked"),
    ("given up after", "job-given-up"),
    ("a job failed", "job-failed"),
    ("can't be read", "job-unreadable"),
    ("not understood", "payload-not-understood"),
    ("was not read", "payload-not-read"),
    ("an argument is not known", "unknown-argument"),
    ("nothing was written down", "not-written"),
    ("not left to the worker", "worker-not-told"),
    ("the worker", "worker"),
    ("memory", "memory"),
];

pub(super) fn find(around: &Around) -> Vec<Finding> {
    let lines = match of_day(&around.home) {
        Ok(lines) => lines,
        Err(why) => {
            return vec![Finding::warn(CHECK, "unreadable", why).remedy("move it out of the way")];
        }
    };
    let Some(last) = lines.last() else {
        return vec![Finding::ok(CHECK, "nothing went wrong in hooks during the last day")];
    };
    let noun = if lines.len() == 1 { "thing" } else { "things" };
    let what = format!(
        "{} {noun} went wrong in hooks during the last day; the latest: {last}",
        lines.len()
    );
    let log = around.shown(&around.home.join("logs/hooks.log"));
    let mut found = Finding::warn(CHECK, "faults", what).remedy(format!("{log} has them all"));
    for (kind, count) in counted(&lines) {
        found = found.fact(kind, count);
    }
    vec![found]
}

/// How often each kind of thing went wrong during the last day, without its words.
pub(in crate::cli::doctor) fn kinds_of_day(home: &Path) -> BTreeMap<&'static str, u64> {
    counted(&of_day(home).unwrap_or_default())
}

fn counted(lines: &[String]) -> BTreeMap<&'static str, u64> {
    let mut kinds = BTreeMap::new();
    for line in lines {
        *kinds.entry(kind_of(line)).or_default() += 1;
    }
    kinds
}

fn kind_of(line: &str) -> &'static str {
    KINDS.iter().find(|(words, _)| line.contains(words)).map_or("other", |(_, kind)| kind)
}

/// The lines of the last day without their times, the oldest first.
fn of_day(home: &Path) -> Result<Vec<String>, String> {
    let since = SystemClock.now().as_millis().saturating_sub_unsigned(DAY);
    let mut lines = Vec::new();
    for name in ["hooks.1.log", "hooks.log"] {
        let path = home.join("logs").join(name);
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
    }
}
