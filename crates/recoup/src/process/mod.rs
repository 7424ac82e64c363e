//! Processes of this program: detached ones, polled streams, ignored signals.

pub(crate) mod detached;
pub(crate) mod room;
pub(crate) mod signals;
