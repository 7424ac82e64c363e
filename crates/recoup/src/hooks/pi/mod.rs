//! Pi: its wire formats.

pub mod transcript;
