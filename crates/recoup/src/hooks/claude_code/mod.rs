//! Claude Code: its wire formats.

pub(super) mod entries;
pub(super) mod fork;
mod outcome;
pub(super) mod reply;
pub mod transcript;
pub(super) mod wire;
