//! The tests of the workspace as a whole, and of `cargo xtask` from outside.
//! One binary: twelve of them would link twelve times.

#![allow(
    clippy::disallowed_methods,
    reason = "tests lay out trees of their own; the product's house rules are not for them"
)]

mod architecture;
mod command;
mod docs;
mod files;
mod housekeeping;
mod licences;
mod naming;
mod tools;
