//! Claude Code: its wire formats.

mod entries;
mod outcome;
pub mod transcript;
