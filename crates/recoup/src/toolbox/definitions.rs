//! Tools as the configuration defines them: MCP servers, REST endpoints and OpenAPI documents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::policy::NamePattern;

/// An MCP server that can be started or reached.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerDefinition {
    pub(crate) name: String,
    pub(crate) address: ServerAddress,
    /// Tools that agents see; empty for all.
    pub(crate) allowed: Vec<NamePattern>,
    /// Tools that agents do not see, whatever is allowed.
    pub(crate) denied: Vec<NamePattern>,
    /// Schemas that replace the server's own, by tool.
    pub(crate) schemas: BTreeMap<String, Value>,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) is_enabled: bool,
}

/// Address of a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerAddress {
    Command {
        words: Vec<String>,
        /// Variables for the process, already expanded; their values may be secret.
        env: BTreeMap<String, String>,
        /// Working directory; none for the project's root.
        cwd: Option<PathBuf>,
    },
    Http {
        url: String,
        /// Headers, already expanded; their values may be secret.
        headers: BTreeMap<String, String>,
    },
}

/// A REST endpoint as a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RestToolDefinition {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) method: String,
    /// With `${parameters.NAME}` for the arguments.
    pub(crate) url: String,
    /// Names in the query, each with the argument that is added when it is given.
    pub(crate) query: BTreeMap<String, String>,
    /// Headers, already expanded; their values may be secret.
    pub(crate) headers: BTreeMap<String, String>,
    /// JSON schema of the arguments.
    pub(crate) parameters: Value,
    /// Template of a JSON body, with `${parameters.NAME}`.
    pub(crate) body: Option<Value>,
    pub(crate) timeout: Option<Duration>,
}

/// An OpenAPI document whose operations are REST tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenApiDefinition {
    /// Name in agent files: `openapi:NAME`.
    pub(crate) name: String,
    /// The document, relative to the project's root.
    pub(crate) spec: PathBuf,
    /// Address of the API; none for the document's first server.
    pub(crate) base_url: Option<String>,
    /// Headers, already expanded; their values may be secret.
    pub(crate) headers: BTreeMap<String, String>,
    /// Methods in small letters; empty for all.
    pub(crate) methods: Vec<String>,
    /// Tags of operations; empty for all.
    pub(crate) tags: Vec<String>,
}
