//! The key of an agent's answer: everything of the agent that can change it, and the question.

use std::collections::BTreeMap;

use serde_json::json;

use super::canonical::{canonical, canonical_value};
use super::{Key, KeyPart, KeyRecipe, Kind, PartKind, RuleSetFingerprint, part};
use crate::base::digest::Sha256Digest;
use crate::error::Result;

/// Prefix of the parts of variables.
const VARIABLE: &str = "variable ";
/// Names of the parts that are lists.
const MODELS: &str = "models";
pub(super) const SETTINGS: &str = "settings";
/// Name of the part with the format of the answer.
pub(super) const FORMAT: &str = "format";

/// Inputs that determine an agent's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAnswerRecipe {
    /// The agent.
    pub identity: AgentIdentity,
    /// The user's prompt, after variables; several turns joined by
    /// [`TURN_SEPARATOR`](super::agent_run::TURN_SEPARATOR).
    pub prompt: String,
    /// Values of the variables in the agent's own text.
    pub variables: BTreeMap<String, String>,
    /// Format of the answer.
    pub format: String,
    /// JSON schema that the answer has to match.
    pub schema: Option<String>,
    /// Digest of the conversation before the prompt.
    pub history: Option<Sha256Digest>,
}

/// Everything of an agent that can change its answers, transitively. Neither its name nor the path of
/// its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentIdentity {
    /// Named parts: prompts, models, settings, and digests of tools and of other agents.
    pub parts: Vec<KeyPart>,
    /// Rules that the agent is given; `None` if it is given none.
    pub rules: Option<RuleSetFingerprint>,
}

impl AgentIdentity {
    /// Adds a part that may be shown.
    pub fn push_shown(&mut self, name: &str, value: &str) {
        self.parts.push(KeyPart::shown(name, value));
    }

    /// Adds the models in the order in which they are asked.
    pub fn push_models<'a>(&mut self, models: impl IntoIterator<Item = &'a str>) {
        let models: Vec<&str> = models.into_iter().collect();
        self.push_shown(MODELS, &models.join(" "));
    }

    /// Adds settings, each as `name=value`.
    pub fn push_settings(&mut self, settings: impl IntoIterator<Item = String>) {
        let settings: Vec<String> = settings.into_iter().collect();
        self.push_shown(SETTINGS, &settings.join(" "));
    }

    /// Adds the digest of something that is described elsewhere, such as a tool or another agent.
    pub fn push_digest(&mut self, name: &str, digest: Sha256Digest) {
        self.parts.push(KeyPart { name: name.to_owned(), digest, preview: None });
    }

    /// Hash over all parts.
    pub fn digest(&self) -> Sha256Digest {
        let Self { parts, rules } = self;
        let parts: Vec<_> = parts.iter().map(|part| (&part.name, part.digest)).collect();
        let rules = rules.as_ref().map(|rules| rules.digest);
        Sha256Digest::of(json!({ "parts": parts, "rules": rules }).to_string().as_bytes())
    }
}

impl KeyRecipe for AgentAnswerRecipe {
    const KIND: Kind = Kind::Agent;

    fn key(&self) -> Result<Key> {
        let Self { identity, prompt, variables, format, schema, history } = self;
        // Canonical text must not be read again (see `canonical`), so only its digest goes in.
        let schema = schema.as_deref().map(canonical).transpose()?;
        let schema = schema.map(|schema| Sha256Digest::of(schema.as_bytes()));
        let mut inputs = json!({
            "v": 1,
            "kind": Self::KIND.as_str(),
            "agentHash": identity.digest(),
            "request": { "userPrompt": prompt, "format": format, "schema": schema },
        });
        if !variables.is_empty() {
            inputs["request"]["variables"] = json!(variables);
        }
        if let Some(history) = history {
            inputs["request"]["history"] = json!(history);
        }
        Ok(Key::from_digest(Sha256Digest::of(canonical_value(&inputs)?.as_bytes())))
    }

    /// The prompt, by which people know a question, last.
    fn parts(&self) -> Vec<KeyPart> {
        let Self { identity, prompt, variables, format, schema, history } = self;
        let mut parts = identity.parts.clone();
        parts.extend(identity.rules.as_ref().map(RuleSetFingerprint::to_part));
        parts.push(KeyPart::shown(FORMAT, format));
        parts.extend(schema.as_deref().map(|schema| KeyPart::hidden("schema", schema)));
        parts.extend(history.map(|history| KeyPart::hidden("history", &history.to_hex())));
        let variable =
            |(name, value): (&String, &String)| KeyPart::shown(&format!("{VARIABLE}{name}"), value);
        parts.extend(variables.iter().map(variable));
        parts.push(KeyPart::shown("prompt", prompt));
        parts
    }

    fn part_kind(part: &str) -> PartKind {
        match part {
            MODELS | SETTINGS => PartKind::List(' '),
            "schema" | "history" => PartKind::Hidden,
            part::RULES_PART => PartKind::Rules,
            _ => PartKind::Text,
        }
    }
}
