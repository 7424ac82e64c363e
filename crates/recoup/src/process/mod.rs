//! This process, and others of this program: what the edges need of both.

pub(crate) mod detached;
pub(crate) mod room;
pub(crate) mod signals;
