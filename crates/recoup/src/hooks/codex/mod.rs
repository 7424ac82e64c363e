//! Codex: its wire formats.

mod outcome;
pub(super) mod reply;
pub mod transcript;
pub(super) mod wire;
