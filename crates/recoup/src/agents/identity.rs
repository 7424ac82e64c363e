//! Identity of an agent: a hash over everything that can change its answers, other agents and tools
//! included. Neither its name nor its path, and no time-outs, retries, keys or TTLs.

use recoup_core::Result;
use recoup_core::key::agent::AgentIdentity;
use recoup_core::key::{RuleFingerprint, RuleSetFingerprint};
use recoup_core::memory::recall::inject::rules_digest;
use serde_json::json;

use super::agent_file::{AgentFile, RunLimits};
use super::runner::AgentRunner;
use crate::llm::{ModelName, Sampling};

impl AgentRunner<'_> {
    /// The parts of an identity that follow from the file itself.
    pub(crate) fn own_identity(&self, agent: &AgentFile) -> AgentIdentity {
        let mut identity = AgentIdentity::default();
        identity.push_shown("system prompt", &agent.system);
        for (number, turn) in agent.turns.iter().enumerate() {
            let name = format!("turn {}", number + 1);
            let clear = if turn.clear { "(after clearing) " } else { "" };
            identity.push_shown(&name, &format!("{clear}{}", turn.text));
        }
        let models: Vec<String> =
            self.models_of(agent).iter().map(|name| self.full_name(name)).collect();
        identity.push_models(models.iter().map(String::as_str));
        // Every limit that can cut an answer or a tool's result; how long things may take is none.
        let RunLimits {
            max_turns,
            max_tool_calls_per_turn,
            max_output_tokens,
            tool_response_max_bytes,
            max_retries: _,
            llm_timeout: _,
            tool_timeout: _,
            max_time: _,
            max_tokens: _,
            max_cost: _,
        } = &agent.limits;
        let Sampling { temperature, top_p, top_k, repeat_penalty } = &agent.sampling;
        let given =
            |name: &str, value: Option<String>| value.map(|value| format!("{name}={value}"));
        let settings = [
            given("temperature", temperature.map(|it| it.to_string())),
            given("top_p", top_p.map(|it| it.to_string())),
            given("top_k", top_k.map(|it| it.to_string())),
            given("repeat_penalty", repeat_penalty.map(|it| it.to_string())),
            given("reasoning", agent.reasoning.map(|it| json!(it).to_string())),
            given("max_turns", Some(max_turns.to_string())),
            given("max_tool_calls_per_turn", Some(max_tool_calls_per_turn.to_string())),
            given("max_output_tokens", Some(max_output_tokens.to_string())),
            given("tool_response_max_bytes", Some(tool_response_max_bytes.to_string())),
            given("max_repeats", Some(agent.max_repeats.to_string())),
        ];
        identity.push_settings(settings.into_iter().flatten());
        identity
    }

    /// Identity of an agent. Starts a server only if nobody has ever seen its tools.
    pub(crate) fn identity_of(&self, agent: &AgentFile) -> Result<AgentIdentity> {
        let mut known = self.identities.lock();
        if let Some(identity) = known.get(&agent.path) {
            return Ok(identity.clone());
        }
        drop(known);
        let mut identity = self.own_identity(agent);
        for part in self.toolset(agent)?.identity()? {
            identity.push_digest(&part.name, part.digest);
        }
        let others =
            [("agent", &agent.agents), ("advisor", &agent.advisors), ("router", &agent.router)];
        for (role, agents) in others {
            for other in agents {
                identity.push_digest(&format!("{role} {}", other.tool_name), self.as_tool(other)?);
            }
        }
        if let Some(other) = &agent.handoff {
            identity.push_digest("handoff", self.as_tool(other)?);
        }
        identity.rules = self.rules_of(agent)?.map(|rules| {
            let included = rules.included().iter();
            let included = included.map(|it| RuleFingerprint::new(it.id.as_str(), &it.line));
            RuleSetFingerprint {
                digest: rules_digest(Some(rules), None),
                rules: included.collect(),
            }
        });
        known = self.identities.lock();
        Ok(known.entry(agent.path.clone()).or_insert(identity).clone())
    }

    /// A model with its provider, and with the provider's URL if that is not the usual one: the same
    /// name elsewhere may be another model.
    fn full_name(&self, name: &ModelName) -> String {
        let ModelName { provider, model } = name;
        let known = self.app.settings.agents.providers.iter().find(|it| it.name == *provider);
        match known {
            Some(known) if known.url != known.provider.default_url() => {
                format!("{provider}/{model}@{}", known.url)
            }
            _ => format!("{provider}/{model}"),
        }
    }
}
