//! The key of an agent run, as the file-cache format defines it: four fields, each closed by a NUL byte.

use super::{Key, KeyPart, KeyRecipe, Kind, PartKind};
use crate::base::digest::Sha256Hasher;
use crate::error::{Error, Result};

/// Stands between the turns of a multi-turn run.
pub const TURN_SEPARATOR: char = '\x01';

/// Inputs that determine the answer of one agent run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRunRecipe {
    /// The agent's name.
    pub agent: String,
    /// The system prompt.
    pub system: String,
    /// The user prompt; the turns of a longer run joined by [`TURN_SEPARATOR`].
    pub user: String,
    /// The model's name.
    pub model: String,
}

impl AgentRunRecipe {
    fn fields(&self) -> [(&'static str, &str); 4] {
        let Self { agent, system, user, model } = self;
        [("agent", agent), ("system", system), ("user", user), ("model", model)]
    }
}

impl KeyRecipe for AgentRunRecipe {
    const KIND: Kind = Kind::AgentRun;

    fn key(&self) -> Result<Key> {
        let mut hasher = Sha256Hasher::new();
        for (name, value) in self.fields() {
            if value.contains('\0') {
                return Err(Error::usage(format!(
                    "the field {name:?} contains a NUL byte, which is reserved as a separator"
                )));
            }
            hasher.update(value.as_bytes());
            hasher.update(b"\0");
        }
        Ok(Key::from_digest(hasher.finish()))
    }

    fn parts(&self) -> Vec<KeyPart> {
        self.fields().into_iter().map(|(name, value)| KeyPart::shown(name, value)).collect()
    }

    fn part_kind(_: &str) -> PartKind {
        PartKind::Text
    }
}

/// [`AgentRunRecipe`] as a function: 64 lower-case hex digits.
pub fn agent_run_key(agent: &str, system: &str, user: &str, model: &str) -> Result<String> {
    let recipe = AgentRunRecipe {
        agent: agent.to_owned(),
        system: system.to_owned(),
        user: user.to_owned(),
        model: model.to_owned(),
    };
    recipe.key().map(|key| key.as_str().to_owned())
}
