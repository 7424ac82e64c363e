//! Hooked in with one command, out with another: what goes into the files of clients, worked
//! out before anything is touched, and written so that every file is the old one or the new.
//!
//! ```text
//! client ──► slots (files, and what belongs into each) ──► Plan ──► Changes ──► diff, consent ──► apply, receipt
//! receipt, or what is known to be ours ──► Undo ──► Changes ──► apply
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

/// The configuration that any client of MCP takes, ready to be pasted.
pub(crate) fn for_any_client(program: &str) -> String {
    let start = Start { program, with_hooks: false };
    let ours = Fresh::Object(entry(client::Shape::Plain, &start, &start.args(&[])));
    Fresh::Object(vec![("mcpServers", Fresh::Object(vec![(SERVER, ours)]))]).pretty("")
}
