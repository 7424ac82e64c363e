//! The integration tests of the engine, in one binary.
#![allow(clippy::disallowed_methods, reason = "tests set the scene with plain files")]

mod canonical;
mod project;
mod ttl;
