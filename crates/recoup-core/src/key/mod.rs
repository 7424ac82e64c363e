//! Identity of an entry: a key within a scope, and the inputs that the key was made from.
//!
//! A [`Recipe`] turns named inputs into a [`Key`], and also says what the
//! inputs were ([`Part`]), so that a miss can be explained. One file for each
//! kind of recipe.

pub mod agent_run;
pub mod canonical;
pub mod command;
mod id;
mod kind;
mod nature;
mod part;
pub mod result;
mod rules;
mod scope;

pub use id::{Id, Key};
pub use kind::Kind;
pub use nature::{NOT_SET, Nature, SET};
pub use part::Part;
pub use rules::{Rule, Rules, rules_in};
pub use scope::Scope;

use crate::error::Result;

/// Named inputs that determine a key. Every kind of key is a recipe, so every
/// kind can be explained.
pub trait Recipe {
    /// The kind of entry that such a key names.
    const KIND: Kind;

    /// Computes the key.
    fn key(&self) -> Result<Key>;

    /// The inputs by name, in the order in which people think of them.
    fn parts(&self) -> Vec<Part>;

    /// Type of the part with this name, so that two of them can be compared.
    fn nature(part: &str) -> Nature;
}
