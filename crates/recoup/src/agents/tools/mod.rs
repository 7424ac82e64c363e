//! All tools of one run: MCP servers, REST endpoints and OpenAPI documents, through the tool cache.
//!
//! Servers start when they are needed: a call whose result is cached needs none, and the tools of a
//! server are remembered. The tool cache has two hooks, `look_up_result` and `keep_result` in
//! `cached_calls`.

mod cached_calls;
mod content;
mod large_output;
mod openapi;
mod permission;
mod repeats;
mod rest;
mod server;
#[cfg(test)]
mod tests;
mod tool_names;

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use recoup_core::base::clock::Deadline;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::{Cache, CacheMode, Ttl};
use recoup_core::key::canonical::canonical_value;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use self::cached_calls::{ResultLookup, keep_result, look_up_result};
use self::large_output::{LargeOutputs, READ_OUTPUT};
pub(crate) use self::permission::{PermissionAnswer, PermissionPrompt, ToolPermission};
use self::repeats::RepeatedCalls;
use self::rest::RestTool;
pub(super) use self::rest::{RestRequest, parse_url};
use self::server::AgentServer;
use super::agent_file::AgentFile;
use super::calls::joined;
use crate::app::App;
use crate::app::tools::ToolCacheRequest;
use crate::config::AgentSettings;
use crate::llm::{CalledServer, Cassette, ModelTool, ToolCallRequest};
use crate::toolbox::{RestToolDefinition, ServerDefinition, ToolCache};

/// Namespace of REST tools, in names.
const REST: &str = "rest";

/// Servers that several agents of one run share. Dropped with the last of them.
#[derive(Debug, Default)]
pub(crate) struct ServerPool(Mutex<Vec<Arc<AgentServer>>>);

impl Drop for ServerPool {
    fn drop(&mut self) {
        // All end at the same time, and are waited for one by one.
        self.0.get_mut().iter().for_each(|server| server.begin_close());
    }
}

/// How the tools of a run are used.
#[derive(Debug)]
pub(crate) struct ToolsetOptions {
    /// Shared by the agents of a run.
    pub(crate) pool: Arc<ServerPool>,
    /// Shared by the agents of a run.
    pub(crate) cache: Cache,
    /// Recorded exchanges, which answer instead of servers.
    pub(crate) cassette: Option<Arc<Cassette>>,
    pub(crate) permission: Arc<ToolPermission>,
    pub(crate) mode: CacheMode,
    pub(crate) max_age: Option<Ttl>,
}

/// Limits of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolCallLimits {
    pub(crate) timeout: Duration,
    /// Size of a result as the model sees it.
    pub(crate) max_bytes: usize,
    /// End of the whole run.
    pub(crate) deadline: Option<Deadline>,
}

/// A tool's answer, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolReply {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// True if it came from the cache, or repeats an earlier answer of this run.
    pub(crate) from_cache: bool,
    /// Reason why an answer that is made with it is not kept: the tool could not be used, or has
    /// changed something.
    pub(crate) unkept: Option<String>,
}

impl ToolReply {
    /// A result of the tool itself, and nothing else to say about it.
    fn of_text(text: String) -> Self {
        Self { text, is_error: false, from_cache: false, unkept: None }
    }
}

/// A named part of an agent's identity: a tool or a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolsetPart {
    pub(crate) name: String,
    pub(crate) digest: Sha256Digest,
}

/// The tools of one agent.
#[derive(Debug)]
pub(crate) struct Toolset {
    servers: Vec<Arc<AgentServer>>,
    _pool: Arc<ServerPool>,
    rest_tools: Vec<Arc<RestTool>>,
    cassette: Option<Arc<Cassette>>,
    permission: Arc<ToolPermission>,
    repeats: RepeatedCalls,
    large_outputs: Option<LargeOutputs>,
    /// The tools as they were when they were first needed: what a model was told stays true.
    index: Mutex<Option<Arc<Vec<IndexedTool>>>>,
}

/// A tool under the name that the model knows.
#[derive(Debug)]
struct IndexedTool {
    spec: ModelTool,
    /// Digest of its definition; with the endpoint's identity for a REST tool.
    digest: Sha256Digest,
    is_read_only: bool,
    /// True if it declares that it writes.
    declares_writes: bool,
    target: ToolTarget,
}

#[derive(Debug)]
enum ToolTarget {
    Server { server: Arc<AgentServer>, tool: String },
    Rest(Arc<RestTool>),
    ReadOutput,
}

/// Reason why a call has no result.
enum CallFailure {
    /// The model is told.
    Told(Error),
    /// The run ends.
    Fatal(Error),
}

impl From<Error> for CallFailure {
    fn from(error: Error) -> Self {
        Self::Told(error)
    }
}

/// A call on its way.
struct OngoingCall<'a> {
    /// `{"name", "arguments"}`, as MCP has it.
    params: &'a RawValue,
    arguments: &'a Value,
    timeout: Duration,
    is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl Toolset {
    /// The tools that an agent names. Starts nothing. The names were checked when the file was read.
    pub(crate) fn open(app: &App, agent: &AgentFile, options: ToolsetOptions) -> Result<Self> {
        let open_cache = |request: ToolCacheRequest<'_>| app.tool_cache(request);
        let place = (app.settings.project.root(), &app.settings.agents);
        Self::open_with(agent, options, place, &open_cache)
    }

    fn open_with(
        agent: &AgentFile,
        options: ToolsetOptions,
        place @ (root, settings): (&Path, &AgentSettings),
        open_cache: &dyn Fn(ToolCacheRequest<'_>) -> Result<ToolCache>,
    ) -> Result<Self> {
        let mut rest_tools = Vec::new();
        let mut wanted: Vec<&ServerDefinition> = agent.servers.iter().collect();
        for tool in &agent.tools {
            let name = &tool.name;
            let is_own = agent.servers.iter().any(|server| server.name == *name);
            let server = settings.servers.iter().find(|server| server.name == *name);
            let rest = settings.rest_tools.iter().find(|rest| rest.name == *name);
            let document = settings.openapi.iter().find(|document| document.name == *name);
            let mut add_rest = |rest: &RestToolDefinition| -> Result<()> {
                let tool = RestTool::open(rest, &options, root, open_cache)?;
                rest_tools.push(Arc::new(tool));
                Ok(())
            };
            match (server, rest, document) {
                _ if is_own => {}
                (Some(server), ..) => wanted.push(server),
                (None, Some(rest), _) => add_rest(rest)?,
                (None, None, Some(document)) => {
                    openapi::read_operations(document, root)?.iter().try_for_each(add_rest)?;
                }
                (None, None, None) => {
                    let message = format!("{}: tools: unknown tool {name:?}", agent.path.display());
                    return Err(Error::usage(message));
                }
            }
        }
        let open_server = |definition: &ServerDefinition| {
            let mut pool = options.pool.0.lock();
            if let Some(server) = pool.iter().find(|server| server.definition == *definition) {
                return Ok(Arc::clone(server));
            }
            let server = Arc::new(AgentServer::open(definition, &options, place, open_cache)?);
            pool.push(Arc::clone(&server));
            Ok(server)
        };
        Ok(Self {
            servers: wanted.into_iter().map(open_server).collect::<Result<_>>()?,
            _pool: options.pool,
            rest_tools,
            cassette: options.cassette,
            permission: options.permission,
            repeats: RepeatedCalls::new(agent.max_repeats),
            large_outputs: agent.keeps_large_outputs.then(LargeOutputs::default),
            index: Mutex::default(),
        })
    }

    /// Digests of all that can change an agent's answer, by name: servers, and the tools as the model
    /// sees them. Starts those servers whose tools are not remembered.
    pub(crate) fn identity(&self) -> Result<Vec<ToolsetPart>> {
        let index = self.index()?;
        let servers = self.servers.iter().map(|server| {
            let digest = json!(server.cache.server_digest()).to_string();
            let digest = Sha256Digest::of(digest.as_bytes());
            ToolsetPart { name: format!("server {}", server.definition.name), digest }
        });
        let tools = index.iter().map(|IndexedTool { spec, digest, .. }| ToolsetPart {
            name: format!("tool {}", spec.name),
            digest: *digest,
        });
        Ok(servers.chain(tools).collect())
    }

    /// The tools as a model is told of them.
    pub(crate) fn specs(&self) -> Result<Vec<ModelTool>> {
        Ok(self.index()?.iter().map(|tool| tool.spec.clone()).collect())
    }

    /// True for a tool that declares itself read-only: several of those may run at once.
    pub(crate) fn is_read_only(&self, name: &str) -> bool {
        self.index()
            .is_ok_and(|index| index.iter().any(|tool| tool.spec.name == name && tool.is_read_only))
    }

    /// True if a server's tools turned out to be others than those that were remembered: an answer
    /// must not be kept under the identity that was made of them.
    pub(crate) fn is_outdated(&self) -> bool {
        self.servers.iter().any(|server| server.is_outdated())
    }

    /// Calls a tool. A failure is an answer that says so; an error, which ends the run, only if a
    /// recording has to answer and does not know the call.
    pub(crate) fn call(
        &self,
        call: &ToolCallRequest,
        limits: &ToolCallLimits,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<ToolReply> {
        let mut answer = match self.call_tool(call, limits, is_cancelled) {
            Ok(answer) => answer,
            Err(CallFailure::Fatal(error)) => return Err(error),
            Err(CallFailure::Told(error)) => {
                // A mistake of the model in its call would be the same another time.
                let unkept = (error.kind() != ErrorKind::Usage)
                    .then(|| format!("{} could not be used", call.name));
                ToolReply { is_error: true, unkept, ..ToolReply::of_text(error.to_string()) }
            }
        };
        if call.name != READ_OUTPUT {
            let text = std::mem::take(&mut answer.text);
            answer.text = large_output::limit(text, limits.max_bytes, self.large_outputs.as_ref());
        }
        Ok(answer)
    }

    fn call_tool(
        &self,
        call: &ToolCallRequest,
        limits: &ToolCallLimits,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<ToolReply, CallFailure> {
        let index = self.index()?;
        let Some(tool) = index.iter().find(|tool| tool.spec.name == call.name) else {
            let names: Vec<&str> = index.iter().map(|tool| tool.spec.name.as_str()).collect();
            let message = format!("no tool {:?}; there are: {}", call.name, names.join(", "));
            return Err(Error::usage(message).into());
        };
        let nothing = json!({});
        let arguments = match &call.arguments {
            Value::Null => &nothing,
            Value::String(text) if text.trim().is_empty() => &nothing,
            arguments @ Value::Object(_) => arguments,
            _ => return Err(Error::usage("the arguments must be a JSON object").into()),
        };
        if let (ToolTarget::ReadOutput, Some(outputs)) = (&tool.target, &self.large_outputs) {
            return Ok(outputs.read(arguments, limits.max_bytes)?);
        }
        let key = canonical_value(&json!([call.name, arguments]))?;
        if let Some(text) = self.repeats.replay(&key) {
            return Ok(ToolReply { from_cache: true, ..ToolReply::of_text(text) });
        }
        let (server, tool_name, cache, own_timeout) = match &tool.target {
            ToolTarget::Server { server, tool } => {
                let ServerDefinition { name, request_timeout, .. } = &server.definition;
                (name.as_str(), tool, &server.cache, *request_timeout)
            }
            ToolTarget::Rest(rest) => {
                (REST, &rest.definition.name, &rest.cache, rest.definition.timeout)
            }
            ToolTarget::ReadOutput => return Err(Error::usage("nothing is kept aside").into()),
        };
        let server = CalledServer { name: server, identity: cache.server_digest() };
        let recorded = self.cassette.as_ref().map_or(Ok(None), |cassette| {
            cassette.find_tool(server, tool_name, arguments).map_err(CallFailure::Fatal)
        })?;
        let (result, from_cache) = if let Some(result) = recorded {
            (result, false)
        } else {
            if !tool.is_read_only {
                self.permission.check(&call.name, arguments)?;
            }
            let params = to_raw_value(&json!({ "name": tool_name, "arguments": arguments }))
                .map_err(|error| Error::usage("the arguments").with_source(error))?;
            let remaining = limits.deadline.map_or(Duration::MAX, Deadline::remaining);
            if remaining.is_zero() {
                let message = "the time of the run is over";
                return Err(Error::new(ErrorKind::Unavailable, message).into());
            }
            let call = OngoingCall {
                params: &params,
                arguments,
                timeout: own_timeout.unwrap_or(limits.timeout).min(remaining),
                is_cancelled,
            };
            let (result, from_cache) = match look_up_result(cache, &call)? {
                ResultLookup::Hit(result) => (result, true),
                ResultLookup::Call(missed) => {
                    let asked = match &tool.target {
                        ToolTarget::Server { server, .. } => server.ask(&call),
                        ToolTarget::Rest(rest) => rest.ask(&call),
                        ToolTarget::ReadOutput => Err(Error::usage("nothing is kept aside")),
                    };
                    (keep_result(cache, missed, &call, asked)?, false)
                }
            };
            if let Some(cassette) = &self.cassette {
                // The tool has run. If this fails, the next exchange with the model does too, and
                // ends the run.
                let _ = cassette.keep_tool(server, tool_name, arguments, &result);
            }
            (result, from_cache)
        };
        let (text, is_error) = content::to_text(&result);
        if !tool.is_read_only && !from_cache {
            // What was read before may have changed.
            self.repeats.forget();
        }
        if !is_error {
            self.repeats.keep(key, &text);
        }
        let unkept = (tool.declares_writes && !from_cache)
            .then(|| format!("{} writes, which a cached answer would not repeat", call.name));
        Ok(ToolReply { is_error, from_cache, unkept, ..ToolReply::of_text(text) })
    }

    /// The tools under their names, made on first need.
    fn index(&self) -> Result<Arc<Vec<IndexedTool>>> {
        let mut slot = self.index.lock();
        if let Some(index) = &*slot {
            return Ok(Arc::clone(index));
        }
        let (mut names, mut index) = (Vec::new(), Vec::new());
        // Those that have to start do so at the same time.
        let lists: Vec<_> = thread::scope(|scope| {
            let list = |server: &Arc<AgentServer>| match server.known_tools() {
                Ok(None) => {
                    let server = Arc::clone(server);
                    (None, Some(scope.spawn(move || server.tools())))
                }
                known => (Some(known.map(Option::unwrap_or_default)), None),
            };
            let lists: Vec<_> = self.servers.iter().map(list).collect();
            lists.into_iter().filter_map(|(known, asking)| known.or(asking.map(joined))).collect()
        });
        for (server, list) in self.servers.iter().zip(lists) {
            for definition in list?.iter() {
                names.push((server.definition.name.clone(), definition.name.clone()));
                let (server, tool) = (Arc::clone(server), definition.name.clone());
                index.push(IndexedTool {
                    spec: ModelTool {
                        name: String::new(),
                        description: definition.description.clone(),
                        input_schema: definition.input_schema.clone(),
                    },
                    digest: definition.digest(),
                    is_read_only: definition.is_read_only(),
                    declares_writes: definition.declares_writes(),
                    target: ToolTarget::Server { server, tool },
                });
            }
        }
        for rest in &self.rest_tools {
            let RestToolDefinition { name, description, parameters, .. } = &rest.definition;
            names.push((REST.to_owned(), name.clone()));
            index.push(IndexedTool {
                spec: ModelTool {
                    name: String::new(),
                    description: description.clone(),
                    input_schema: parameters.clone(),
                },
                digest: Sha256Digest::of(
                    json!([name, description, parameters, rest.cache.server_digest()])
                        .to_string()
                        .as_bytes(),
                ),
                is_read_only: rest.is_read_only(),
                declares_writes: !rest.is_read_only(),
                target: ToolTarget::Rest(Arc::clone(rest)),
            });
        }
        for (tool, name) in index.iter_mut().zip(tool_names::exposed_names(&names)) {
            tool.spec.name = name;
        }
        if self.large_outputs.is_some() {
            let spec = large_output::spec();
            index.push(IndexedTool {
                spec,
                digest: Sha256Digest::of(READ_OUTPUT.as_bytes()),
                is_read_only: true,
                declares_writes: false,
                target: ToolTarget::ReadOutput,
            });
        }
        Ok(Arc::clone(slot.insert(Arc::new(index))))
    }
}
