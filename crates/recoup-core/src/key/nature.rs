//! Types of the parts of keys, for explaining how two of them differ.

use super::agent_run::AgentRunRecipe;
use super::command::CommandRecipe;
use super::result::ResultRecipe;
use super::{KeyRecipe as _, Kind};

/// Type of a key part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// Words: those that differ can be named.
    Text,
    /// A list with this between its items: those that are new or gone can be named.
    List(char),
    /// Presence only, as [`SET`] or [`NOT_SET`].
    Switch,
    /// A file that counts with its size and time; its path is all that is shown.
    File,
    /// The rules that an agent is given, a line for each: those that are new or gone can be
    /// named.
    Rules,
    /// Bytes of which nothing is shown.
    Hidden,
}

/// The value of a [`PartKind::Switch`] that is on.
pub const SET: &str = "set";
/// The value of a [`PartKind::Switch`] that is off.
pub const NOT_SET: &str = "not set";

impl Kind {
    /// Type of the part with this name in keys of this kind. A kind whose parts can't be explained
    /// does not compile.
    pub fn part_kind(self, part: &str) -> PartKind {
        match self {
            Self::Result => ResultRecipe::part_kind(part),
            Self::AgentRun => AgentRunRecipe::part_kind(part),
            Self::Command => CommandRecipe::part_kind(part),
        }
    }
}
