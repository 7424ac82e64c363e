//! The integration tests of the program, in one binary.
#![allow(clippy::disallowed_methods, reason = "tests set the scene with plain files")]
