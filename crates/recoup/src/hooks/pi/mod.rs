//! Pi: its wire formats.

pub(super) mod reply;
pub mod transcript;
pub(super) mod wire;
