//! What is remembered.

mod hooked;
mod inject;
mod private;
mod refuse;
mod topic;
