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

use super::Around;
use super::finding::Finding;

pub(super) use log::kinds_of_day;

/// One check: its name, time limit and function.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Check {
    pub(in crate::cli) name: &'static str,
    pub(super) limit: Duration,
    pub(super) find: fn(&Around) -> Vec<Finding>,
}

/// Limit for checks that only look at a few files.
const SHORT: Duration = Duration::from_secs(10);
/// Limit for checks that read whole databases, for which they have a limit of their own.
const LONG: Duration = Duration::from_secs(30);
/// Limit for checks that start other programs, each with a limit of its own.
const OTHERS: Duration = Duration::from_mins(5);

/// All checks, in the order of the report.
pub(in crate::cli) const CHECKS: [Check; 14] = [
    Check { name: "program", limit: LONG, find: program::find },
    Check { name: "configuration", limit: SHORT, find: configuration::find },
    Check { name: "permissions", limit: SHORT, find: permissions::find },
    Check { name: "disk", limit: SHORT, find: disk::find },
    Check { name: "memory", limit: LONG, find: memory::find },
    Check { name: "cache", limit: LONG, find: stores::find },
    Check { name: "ledger", limit: SHORT, find: ledger::find },
    Check { name: "installed", limit: SHORT, find: installed::find },
    Check { name: "hooks", limit: OTHERS, find: hooks::find },
    Check { name: "mcp", limit: OTHERS, find: mcp::find },
    Check { name: "synced", limit: SHORT, find: mirror::find },
    Check { name: "worker", limit: SHORT, find: worker::find },
    Check { name: "log", limit: SHORT, find: log::find },
    Check { name: "judge", limit: SHORT, find: judge::find },
];
