//! Recall: search of notes, selection of the rules that apply, and the block that is injected.

pub mod inject;
mod rules;
pub mod search;
