//! Identity of an entry: a key within a scope, and the inputs that the key was made from.
//!
//! A [`KeyRecipe`] turns named inputs into a [`Key`], and also says what the
//! inputs were ([`KeyPart`]), so that a miss can be explained. One file for each
//! kind of recipe.

pub mod agent;
pub mod agent_run;
pub mod canonical;
pub mod command;
mod id;
pub mod model_request;
mod part;
pub mod result;
pub mod tool;

use crate::error::Result;

pub use id::{EntryId, Key, Kind, Scope};
pub use part::{KeyPart, NOT_SET, PartKind, RuleFingerprint, RuleSetFingerprint, SET, parse_rules};

/// Named inputs that determine a key. Every kind of key is a recipe, so every
/// kind can be explained.
pub trait KeyRecipe {
    /// The kind of entry that such a key names.
    const KIND: Kind;

    /// Computes the key.
    fn key(&self) -> Result<Key>;

    /// The inputs by name, in the order in which people think of them.
    fn parts(&self) -> Vec<KeyPart>;

    /// Type of the part with this name, so that two of them can be compared.
    fn part_kind(part: &str) -> PartKind;
}
