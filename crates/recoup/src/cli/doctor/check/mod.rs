//! The checks, one file each, in the order in which they are told.

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

/// One thing to look at.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Check {
    pub(in crate::cli) name: &'static str,
    pub(super) limit: Duration,
    pub(super) find: fn(&Around) -> Vec<Finding>,
}

/// For what only looks at a few files.
const SHORT: Duration = Duration::from_secs(10);
/// For what reads all of something, and has a limit of its own for that.
const LONG: Duration = Duration::from_secs(30);
/// For what starts other programs, each of which has a limit of its own.
const OTHERS: Duration = Duration::from_mins(5);

/// All there are.
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
