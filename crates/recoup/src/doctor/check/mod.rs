//! The checks, in the order of the report.

mod client_files;
mod configuration;
mod databases;
mod home;
mod hooks;
mod jobs;
mod mcp;
mod program;

use std::time::Duration;

use super::DoctorContext;
use super::finding::DoctorFinding;

pub(super) use jobs::count_faults_of_last_day;

/// One check: its name, time limit and function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DoctorCheck {
    pub(crate) name: &'static str,
    pub(super) limit: Duration,
    pub(super) find: fn(&DoctorContext) -> Vec<DoctorFinding>,
}

/// Limit for checks that only look at a few files.
const SHORT: Duration = Duration::from_secs(10);
/// Limit for checks that read whole databases, for which they have a limit of their own.
const LONG: Duration = Duration::from_secs(30);
/// Limit for checks that start this program, each time with a limit of its own.
const PROBES: Duration = Duration::from_mins(2);

/// All checks, in the order of the report.
pub(crate) const CHECKS: [DoctorCheck; 14] = [
    DoctorCheck { name: "program", limit: LONG, find: program::find },
    DoctorCheck { name: "configuration", limit: SHORT, find: configuration::check_configuration },
    DoctorCheck { name: "permissions", limit: SHORT, find: home::check_permissions },
    DoctorCheck { name: "disk", limit: SHORT, find: home::check_disk },
    DoctorCheck { name: "memory", limit: LONG, find: databases::check_memory },
    DoctorCheck { name: "cache", limit: LONG, find: databases::check_stores },
    DoctorCheck { name: "ledger", limit: SHORT, find: home::check_ledger },
    DoctorCheck { name: "installed", limit: SHORT, find: client_files::find_record },
    DoctorCheck { name: "hooks", limit: PROBES, find: hooks::find },
    DoctorCheck { name: "mcp", limit: PROBES, find: mcp::find },
    DoctorCheck { name: "synced", limit: SHORT, find: configuration::check_mirror },
    DoctorCheck { name: "worker", limit: SHORT, find: jobs::find_backlog },
    DoctorCheck { name: "log", limit: SHORT, find: jobs::find_faults },
    DoctorCheck { name: "judge", limit: SHORT, find: configuration::check_judge },
];
