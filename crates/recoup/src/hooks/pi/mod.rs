//! Pi: its wire formats.

pub(super) mod reply;
pub(super) mod session_file;
pub mod transcript;
pub(super) mod wire;
