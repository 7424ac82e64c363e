//! Codex: its wire formats.

mod outcome;
pub mod transcript;
