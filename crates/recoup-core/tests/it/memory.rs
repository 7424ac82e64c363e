//! What is remembered.

mod search;
