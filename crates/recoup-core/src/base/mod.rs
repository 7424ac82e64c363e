//! Foundations: time, names, project identity and files.

pub mod clock;
pub mod digest;
mod fault_log;
#[doc(hidden)]
pub mod fsx;
pub(crate) mod glob;
pub mod name;
pub mod project;
#[doc(hidden)]
pub mod text;
pub mod ttl;

pub use fault_log::{FaultLog, IgnoreFaults};
