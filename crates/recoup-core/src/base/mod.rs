//! Foundations: time, names, project identity and files.

pub mod clock;
pub mod digest;
pub mod fsx;
pub(crate) mod glob;
pub mod name;
pub mod project;
pub mod text;
pub mod ttl;

// Names under which callers know parts of `name`.
pub use name as ids;
pub use name as machine;
