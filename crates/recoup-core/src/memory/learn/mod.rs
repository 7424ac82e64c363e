//! What can be told from what happened, without asking anybody: which commands are
//! of a kind, what failed and why, where an agent was in trouble, which rules it
//! cited. Pure functions over entries and texts.

pub mod citation;
pub mod command;
pub mod failure;
pub mod tail;
pub mod trouble;
