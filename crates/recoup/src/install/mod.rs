//! Installs Recoup into clients with one command and removes it with another. Every change is
//! worked out before a file is touched, and each file is replaced atomically.
//!
//! ```text
//! client ──► settings files ──► InstallPlan ──► FileChange ──► diff, consent ──► apply, receipt
//! receipt, or what is known to be ours ──► UndoPlan ──► FileChange ──► apply
//! ```

pub(crate) mod answers;
mod apply;
mod backups;
mod change;
mod client;
mod edit;
mod entries;
mod exclude;
mod extension;
mod found;
mod guard;
mod held;
mod inside;
mod peers;
mod places;
mod plan;
mod program;
pub(crate) mod purge;
mod receipt;
mod undo;
mod version;

pub(crate) use apply::{Copies, Turn, put_in, settle};
pub(crate) use backups::DIR as BACKUPS;
pub(crate) use change::Change;
pub(crate) use client::{Client, Holds, Level, Slot};
pub(crate) use found::{HookCommand, Installation, Noted, Server, installed, noted};
pub(crate) use peers::{PEERS, Peer};
pub(crate) use places::{Places, is_program};
pub(crate) use plan::{Plan, Wish};
pub(crate) use program::path as program_path;
pub(crate) use undo::{Undo, Wanted};
pub(crate) use version::ask_claude_code;

use edit::Fresh;
use entries::servers::{SERVER, Start, entry};

/// Configuration for any MCP client, ready to be pasted.
pub(crate) fn for_any_client(program: &str) -> String {
    let start = Start { program, with_hooks: false };
    let ours = Fresh::Object(entry(client::Shape::Plain, &start, &start.args(&[])));
    Fresh::Object(vec![("mcpServers", Fresh::Object(vec![(SERVER, ours)]))]).pretty("")
}
