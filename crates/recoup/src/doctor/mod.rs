//! `recoup doctor`: checks everything that must work together, and reports what is wrong and what
//! to do. Checks change nothing, and have time limits.
//!
//! Each check is a file in `check/` and returns findings. A finding has text for the person who
//! asked, and facts for a bug report (`bundle.rs`), which are never made from text that a person
//! wrote.

mod bundle;
mod check;
mod doctor_context;
mod finding;
mod fix;
mod installed_command;
mod interrupt_cleanup;
mod probe;
mod sandbox;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

use recoup_core::base::FaultLog;

pub(crate) use bundle::render_bundle;
pub(crate) use check::{CHECKS, DoctorCheck};
pub(crate) use doctor_context::DoctorContext;
pub(crate) use finding::{DoctorFinding, FindingState};
pub(crate) use fix::{RepairAttempt, run_repairs};

/// Time limit for collecting the context.
const CONTEXT_LIMIT: Duration = Duration::from_secs(10);

/// The version of this program.
const OUR_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Signal handlers are installed once, however often the context is collected.
static WATCH: Once = Once::new();

/// Collects the context; a failure is returned as a finding.
/// Databases report what they recover from to `faults`.
pub(crate) fn collect_context(
    faults: Arc<dyn FaultLog>,
) -> Result<Arc<DoctorContext>, Box<DoctorFinding>> {
    WATCH.call_once(interrupt_cleanup::clean_up_on_signals);
    match run_with_limit(CONTEXT_LIMIT, || DoctorContext::collect(faults)) {
        Ok(Ok(context)) => Ok(Arc::new(context)),
        Ok(Err(error)) => Err(Box::new(
            DoctorFinding::fail("no-home", error.to_string())
                .remedy("set HOME, or set RECOUP_HOME to a directory that recoup may use"),
        )),
        Err(lost) => Err(Box::new(unanswered_finding(lost, CONTEXT_LIMIT))),
    }
}

/// Runs a check within its time limit.
pub(crate) fn run_check(check: &DoctorCheck, context: &Arc<DoctorContext>) -> Vec<DoctorFinding> {
    let (find, seen) = (check.find, Arc::clone(context));
    let found = run_with_limit(check.limit, move || find(&seen))
        .unwrap_or_else(|lost| vec![unanswered_finding(lost, check.limit)]);
    found.into_iter().map(|it| it.of_check(check.name)).collect()
}

fn unanswered_finding(lost: TimeLimitError, limit: Duration) -> DoctorFinding {
    match lost {
        TimeLimitError::TooLate => {
            let what = format!("no result within {} s", limit.as_secs());
            DoctorFinding::fail("too-late", what)
                .remedy("something that this check uses hangs: a file system, a disk or a server")
        }
        TimeLimitError::Failed => DoctorFinding::fail("check-failed", "the check itself failed")
            .remedy("please report it, and attach the file from `recoup doctor --bundle FILE`"),
    }
}

/// Reason for a missing result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeLimitError {
    /// The time was up.
    TooLate,
    /// The work panicked, or its thread could not be started.
    Failed,
}

/// Runs `act` on a thread, and returns its result if it comes in time.
fn run_with_limit<T: Send + 'static>(
    limit: Duration,
    act: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TimeLimitError> {
    let (answer, arrived) = mpsc::sync_channel(1);
    let work = move || {
        // The receiver may have given up.
        let _ = answer.send(act());
    };
    thread::Builder::new().spawn(work).map_err(|_| TimeLimitError::Failed)?;
    arrived.recv_timeout(limit).map_err(|why| match why {
        RecvTimeoutError::Timeout => TimeLimitError::TooLate,
        RecvTimeoutError::Disconnected => TimeLimitError::Failed,
    })
}
