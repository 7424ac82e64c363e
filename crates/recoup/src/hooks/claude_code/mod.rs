//! Claude Code: its wire formats.

mod entries;
mod outcome;
pub(super) mod reply;
pub mod transcript;
pub(super) mod wire;
