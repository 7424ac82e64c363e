//! `recoup doctor`: looks at everything that must work together, and says what is wrong and
//! what to do. Nothing is changed for it, and nothing is waited for without end.
//!
//! Each check is a file in `check/` and returns what it found. What it found has words for the
//! person who asked, and beside them facts from which a bug report is made (`bundle.rs`): no
//! fact can be made of a text that somebody wrote.

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

/// Where everything is found from.
const LOOKING_AROUND: Duration = Duration::from_secs(10);

/// Done once, however often one looks around.
static WATCH: Once = Once::new();

/// Looks around; where that is not possible, that is what was found.
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

/// What a check finds, within its time.
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
