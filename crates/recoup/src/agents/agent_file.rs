//! An agent as its file describes it, the same for every dialect.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use recoup_core::cache::Ttl;
use serde_json::Value;

use crate::llm::{ModelName, Reasoning, Sampling};
use crate::toolbox::ServerDefinition;

/// Format of an agent file, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentDialect {
    /// `.ai`
    Ai,
    /// `.agent.md`
    AgentMd,
    /// `.lifecycle.yaml`
    Lifecycle,
    /// Any other: our own.
    Own,
}

/// An agent file, read and checked, with every agent that it refers to.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the files, on its own")]
pub(crate) struct AgentFile {
    pub(crate) path: PathBuf,
    pub(crate) dialect: AgentDialect,
    /// From the front matter, or the file's stem.
    pub(crate) name: String,
    /// Name under which other agents call it: letters, digits, `_` and `-`.
    pub(crate) tool_name: String,
    pub(crate) description: Option<String>,
    pub(crate) usage: Option<String>,
    /// In fallback order; never empty.
    pub(crate) models: Vec<ModelName>,
    /// System prompt, after includes and before variables.
    pub(crate) system: String,
    /// Further turns of the user, after includes and before variables.
    pub(crate) turns: Vec<UserTurn>,
    /// Names of MCP servers and REST tools of the configuration.
    pub(crate) tools: Vec<NamedTool>,
    /// Servers in the front matter itself.
    pub(crate) servers: Vec<ServerDefinition>,
    /// Agents that it may call as tools.
    pub(crate) agents: Vec<Arc<AgentFile>>,
    /// Agents that run before it, and whose answers it is given.
    pub(crate) advisors: Vec<Arc<AgentFile>>,
    /// Agent that takes over with its answer.
    pub(crate) handoff: Option<Arc<AgentFile>>,
    /// Agents of which it chooses one to take over.
    pub(crate) router: Vec<Arc<AgentFile>>,
    pub(crate) input: MessageFormat,
    pub(crate) output: MessageFormat,
    pub(crate) limits: RunLimits,
    pub(crate) sampling: Sampling,
    pub(crate) reasoning: Option<Reasoning>,
    /// False for `caching: none`.
    pub(crate) prompt_cache: bool,
    /// TTL of its answers; none if the file says nothing.
    pub(crate) cache: Option<Ttl>,
    /// The user's own key, before variables.
    pub(crate) cache_key: Option<String>,
    /// Files that the answer depends on.
    pub(crate) sources: Vec<String>,
    pub(crate) tags: Vec<String>,
    /// True if the project's rules are injected.
    pub(crate) memory: bool,
    /// True if earlier conversation does not count for the key.
    pub(crate) ignores_history: bool,
    pub(crate) variables: VariableSyntax,
    /// Variables of the environment that the file's own text names; included files may use them.
    pub(crate) environment: Vec<String>,
    /// Variables that the file itself sets (`parameters` of `.lifecycle.yaml`).
    pub(crate) parameters: Vec<(String, String)>,
    /// Maximum number of replays of the same tool call in a run.
    pub(crate) max_repeats: u32,
    pub(crate) outputs: Vec<DeclaredOutput>,
    pub(crate) hooks: RunHooks,
    /// True if results of tools that are too large are kept aside, for a tool that reads them.
    pub(crate) keeps_large_outputs: bool,
    /// Other files that were read for it: included texts and schemas.
    pub(crate) included: Vec<PathBuf>,
    /// Things in the file that are not supported here, for the user.
    pub(crate) notices: Vec<String>,
}

impl AgentFile {
    /// All agents that the file names, in any role.
    pub(crate) fn referred_agents(&self) -> impl Iterator<Item = &Self> {
        let Self { agents, advisors, router, handoff, .. } = self;
        agents.iter().chain(advisors).chain(router).chain(handoff).map(AsRef::as_ref)
    }
}

/// A tool that an agent names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedTool {
    pub(crate) name: String,
    pub(crate) line: Option<u64>,
}

/// A turn of the user in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserTurn {
    pub(crate) text: String,
    /// True if the conversation begins anew with it.
    pub(crate) clear: bool,
}

/// Format of the input or output.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct MessageFormat {
    pub(crate) kind: FormatKind,
    /// JSON schema; only with JSON.
    pub(crate) schema: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FormatKind {
    #[default]
    Text,
    Markdown,
    Json,
}

impl FormatKind {
    /// Name in files and keys.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Json => "json",
        }
    }

    /// Finds a format by its name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::Text, Self::Markdown, Self::Json].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Limits of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunLimits {
    pub(crate) max_turns: u32,
    pub(crate) max_tool_calls_per_turn: u32,
    pub(crate) max_retries: u32,
    pub(crate) max_output_tokens: u32,
    pub(crate) tool_response_max_bytes: usize,
    pub(crate) llm_timeout: Duration,
    pub(crate) tool_timeout: Duration,
    /// Of the whole run; none for no limit.
    pub(crate) max_time: Option<Duration>,
    pub(crate) max_tokens: Option<u64>,
    /// In millionths of a dollar.
    pub(crate) max_cost: Option<u64>,
}

/// Syntax of variables in prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableSyntax {
    /// `.ai` files expand none.
    None,
    /// `${name}`
    Dollar,
    /// `{{name}}`
    Braces,
}

/// Destination of the answer beside stdout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeclaredOutput {
    File { path: String },
    Http { url: String, method: String, headers: Vec<(String, String)> },
}

/// Commands around a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RunHooks {
    pub(crate) pre_run: Vec<String>,
    pub(crate) post_success: Vec<String>,
    pub(crate) post_error: Vec<String>,
}
