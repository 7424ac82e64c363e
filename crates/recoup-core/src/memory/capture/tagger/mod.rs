//! Tagger: a small network that reads a prompt token by token, in context, and finds the words that
//! are worth keeping, what is taken back, and requests to do something again.

pub mod concept_table;
pub mod decoding;
pub mod network;
pub mod tokens;
