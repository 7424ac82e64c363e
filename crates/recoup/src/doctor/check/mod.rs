//! The checks, one file each, in the order of the report.

mod configuration;
mod database;
mod disk;
mod hooks;
mod installed;
mod judge;
mod ledger;
mod log;
mod malformed;
mod mcp;
mod memory;
mod mirror;
mod permissions;
mod program;
mod stores;
mod worker;

use std::time::Duration;

use super::DoctorContext;
use super::finding::DoctorFinding;

pub(super) use log::count_faults_of_last_day;

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
/// Limit for checks that start other programs, each with a limit of its own.
const OTHERS: Duration = Duration::from_mins(5);

/// All checks, in the order of the report.
pub(crate) const CHECKS: [DoctorCheck; 14] = [
    DoctorCheck { name: "program", limit: LONG, find: program::find },
    DoctorCheck { name: "configuration", limit: SHORT, find: configuration::find },
    DoctorCheck { name: "permissions", limit: SHORT, find: permissions::find },
    DoctorCheck { name: "disk", limit: SHORT, find: disk::find },
    DoctorCheck { name: "memory", limit: LONG, find: memory::find },
    DoctorCheck { name: "cache", limit: LONG, find: stores::find },
    DoctorCheck { name: "ledger", limit: SHORT, find: ledger::find },
    DoctorCheck { name: "installed", limit: SHORT, find: installed::find },
    DoctorCheck { name: "hooks", limit: OTHERS, find: hooks::find },
    DoctorCheck { name: "mcp", limit: OTHERS, find: mcp::find },
    DoctorCheck { name: "synced", limit: SHORT, find: mirror::find },
    DoctorCheck { name: "worker", limit: SHORT, find: worker::find },
    DoctorCheck { name: "log", limit: SHORT, find: log::find },
    DoctorCheck { name: "judge", limit: SHORT, find: judge::find },
];
