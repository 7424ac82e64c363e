//! `recoup doctor`: checks everything that must work together, and reports what is wrong and what
//! to do. Checks change nothing, and have time limits.
//!
//! Each check is a file in `check/` and returns findings. A finding has text for the person who
//! asked, and facts for a bug report (`bundle.rs`), which are never made from text that a person
//! wrote.

mod around;
mod bundle;
mod check;
mod finding;
mod fix;
mod leave;
mod probe;
mod repository;
mod sandbox;
mod whom;
mod withheld;
mod within;

use std::sync::{Arc, Once};
use std::time::Duration;

pub(in crate::cli) use around::Around;
pub(in crate::cli) use bundle::bundle;
pub(in crate::cli) use check::{CHECKS, Check};
pub(in crate::cli) use finding::{Finding, State};
pub(in crate::cli) use fix::{Repair, repair};
use within::{Lost, within};

/// Time limit for collecting the context.
const LOOKING_AROUND: Duration = Duration::from_secs(10);

/// Signal handlers are installed once, however often the context is collected.
static WATCH: Once = Once::new();

/// Collects the context; a failure is returned as a finding.
pub(in crate::cli) fn look_around() -> Result<Arc<Around>, Box<Finding>> {
    const CHECK: &str = "home";
    WATCH.call_once(leave::when_interrupted);
    match within(LOOKING_AROUND, Around::find) {
        Ok(Ok(around)) => Ok(Arc::new(around)),
        Ok(Err(error)) => Err(Box::new(
            Finding::fail(CHECK, "no-home", error.to_string())
                .remedy("set HOME, or RECOUP_HOME to the directory that recoup may use"),
        )),
        Err(lost) => Err(Box::new(lost_in(CHECK, lost, LOOKING_AROUND))),
    }
}

/// Runs a check within its time limit.
pub(in crate::cli) fn run(check: &Check, around: &Arc<Around>) -> Vec<Finding> {
    let (find, seen) = (check.find, Arc::clone(around));
    let found = within(check.limit, move || find(&seen))
        .unwrap_or_else(|lost| vec![lost_in(check.name, lost, check.limit)]);
    found.into_iter().map(Finding::redacted).collect()
}

fn lost_in(check: &'static str, lost: Lost, limit: Duration) -> Finding {
    match lost {
        Lost::TooLate => {
            let what = format!("there was no answer within {} s", limit.as_secs());
            Finding::fail(check, "too-late", what)
                .remedy("something that it looks at hangs: a file system, a disk, a server")
        }
        Lost::Failed => Finding::fail(check, "check-failed", "the check itself failed")
            .remedy("please report it, with what `recoup doctor --bundle FILE` writes"),
    }
}
