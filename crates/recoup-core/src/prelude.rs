//! The names that most users of the cache need: `use recoup_core::prelude::*`.

pub use crate::cache::{
    Cache, CacheMode, CacheOptions, LookupRequest, Outcome, PathContext, Permit, Ttl,
};
pub use crate::entry::{Body, Draft};
pub use crate::error::Error;
pub use crate::key::{EntryId, Key, Kind, Scope};
