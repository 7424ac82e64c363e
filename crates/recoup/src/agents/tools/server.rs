//! An MCP server of a run: its tools, remembered or asked for, and calls of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use recoup_core::cache::CacheMode;
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{OngoingCall, ToolsetOptions};
use crate::app::tools::{ServerCredential, ToolCacheRequest, ToolProtocol};
use crate::config::{AgentSettings, env};
use crate::llm::Cassette;
use crate::mcp_client::{McpConnection, McpServerOptions, RpcAnswer};
use crate::toolbox::{
    FullToolDefinition, RootsState, ServerAddress, ServerDefinition, ServerIdentity, ToolCache,
};

/// Time for a list of tools.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// A server, which starts when it is needed.
#[derive(Debug)]
pub(super) struct AgentServer {
    pub(super) definition: ServerDefinition,
    pub(super) cache: ToolCache,
    connection: McpConnection,
    mode: CacheMode,
    cassette: Option<Arc<Cassette>>,
    /// The tools that agents see, as they were first known.
    tools: Mutex<Option<Arc<Vec<FullToolDefinition>>>>,
    /// True if the tools have to be asked for before the next call.
    is_unsure: Arc<AtomicBool>,
    is_outdated: AtomicBool,
}

impl AgentServer {
    pub(super) fn open(
        definition: &ServerDefinition,
        options: &ToolsetOptions,
        (root, settings): (&Path, &AgentSettings),
        open_cache: &dyn Fn(ToolCacheRequest<'_>) -> Result<ToolCache>,
    ) -> Result<Self> {
        let ServerDefinition { name, address, .. } = definition;
        let (server, directory, named, sort) = match address {
            ServerAddress::Command { words, env, cwd } => {
                let directory = cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
                let words: Vec<_> = words.iter().map(Into::into).collect();
                let server = ServerIdentity::of_command(&words, &directory, root);
                (server, directory, env, "env")
            }
            ServerAddress::Http { url, headers, .. } => {
                (ServerIdentity::of_url(url), root.to_owned(), headers, "header")
            }
        };
        let cache = open_cache(ToolCacheRequest {
            name,
            server,
            directory,
            config: None,
            credential_variables: &[],
            credentials: credentials(named, sort),
            mode: options.mode,
            max_age: options.max_age,
            protocol: ToolProtocol::AgentMcp,
            cache: Some(options.cache.clone()),
        })?;
        let is_unsure = Arc::new(AtomicBool::new(true));
        let (told, unsure) = (cache.clone(), Arc::clone(&is_unsure));
        let on_notification = move |method: &str, params: Option<&RawValue>| {
            told.server_changed(method, params);
            if method == "notifications/tools/list_changed" {
                unsure.store(true, Ordering::Release);
            }
        };
        let withheld = match address {
            ServerAddress::Command { env, .. } => SecretValues::of_credentials(
                env.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())),
            ),
            ServerAddress::Http { headers, .. } => {
                SecretValues::of_values(headers.values().map(|value| value.clone().into_bytes()))
            }
        };
        let connection = McpConnection::new(McpServerOptions {
            name: name.clone(),
            address: address.clone(),
            root: root.to_owned(),
            proxy: env::proxy(),
            withheld: env::credentials().and(withheld),
            withheld_variables: settings
                .providers
                .iter()
                .filter_map(|it| it.key_env.clone())
                .collect(),
            on_notification: Arc::new(on_notification),
        });
        if let Some(root) = connection.told_root() {
            // The answers of later runs must not depend on whether it has asked already.
            cache.set_roots(RootsState::Known(vec![root.to_string()]));
        }
        Ok(Self {
            definition: definition.clone(),
            cache,
            connection,
            mode: options.mode,
            cassette: options.cassette.clone(),
            tools: Mutex::default(),
            is_unsure,
            is_outdated: AtomicBool::new(false),
        })
    }

    /// The tools that agents see, if they are known without the server: recorded or remembered ones.
    pub(super) fn known_tools(&self) -> Result<Option<Arc<Vec<FullToolDefinition>>>> {
        let mut tools = self.tools.lock();
        if tools.is_some() {
            return Ok(tools.clone());
        }
        let name = &self.definition.name;
        if let Some(cassette) = &self.cassette
            && let Some(recorded) = cassette.find_tool_list(name)?
        {
            let raw = recorded.iter().filter_map(|tool| to_raw_value(tool).ok());
            *tools = Some(Arc::new(self.visible(&raw.collect::<Vec<_>>())));
            return Ok(tools.clone());
        }
        if matches!(self.mode, CacheMode::Use | CacheMode::NoStore | CacheMode::OnlyIfCached)
            && let Some(raw) = self.cache.recall_definitions()
        {
            return self.first_known(&mut tools, &raw).map(Some);
        }
        if self.mode == CacheMode::OnlyIfCached {
            let message = format!("the tools of the MCP server {name} are not known yet");
            return Err(Error::new(ErrorKind::Absent, message));
        }
        Ok(None)
    }

    /// The tools that agents see; the server is asked if they are not known.
    pub(super) fn tools(&self) -> Result<Arc<Vec<FullToolDefinition>>> {
        if let Some(tools) = self.known_tools()? {
            return Ok(tools);
        }
        let mut tools = self.tools.lock();
        if let Some(tools) = &*tools {
            // Another agent has asked meanwhile.
            return Ok(Arc::clone(tools));
        }
        // A program that is not there is a mistake of who configured it.
        let raw = self.list_tools(&|| false).map_err(|error| match error.kind() {
            ErrorKind::Absent => Error::usage(error.to_string()),
            _ => error,
        })?;
        self.first_known(&mut tools, &raw)
    }

    fn first_known(
        &self,
        tools: &mut Option<Arc<Vec<FullToolDefinition>>>,
        raw: &[Box<RawValue>],
    ) -> Result<Arc<Vec<FullToolDefinition>>> {
        if let Some(cassette) = &self.cassette {
            let values = raw.iter().filter_map(|tool| serde_json::from_str(tool.get()).ok());
            cassette.keep_tool_list(&self.definition.name, &values.collect::<Vec<Value>>())?;
        }
        Ok(Arc::clone(tools.insert(Arc::new(self.visible(raw)))))
    }

    /// Begins its end, if it runs.
    pub(super) fn begin_close(&self) {
        self.connection.begin_close();
    }

    /// True if the server's tools turned out to be others than the first that were known.
    pub(super) fn is_outdated(&self) -> bool {
        self.is_outdated.load(Ordering::Acquire)
    }

    /// Asks the server to run a tool.
    pub(super) fn ask(&self, call: &OngoingCall<'_>) -> Result<RpcAnswer> {
        if self.is_unsure.load(Ordering::Acquire) {
            // It runs now, or is about to: its tools may not be the remembered ones.
            let listed = self.visible(&self.list_tools(call.is_cancelled)?);
            let first = self.tools.lock().clone();
            if first.is_some_and(|first| *first != listed) {
                self.is_outdated.store(true, Ordering::Release);
            }
        }
        self.connection.call("tools/call", call.params, call.timeout, call.is_cancelled)
    }

    fn list_tools(&self, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Result<Vec<Box<RawValue>>> {
        // Before it is asked: what changes meanwhile is asked for again.
        self.is_unsure.store(false, Ordering::Release);
        let listed = self.connection.list_tools(LIST_TIMEOUT, is_cancelled);
        match &listed {
            Ok(tools) => self.cache.learn_definitions(tools),
            Err(_) => self.is_unsure.store(true, Ordering::Release),
        }
        listed
    }

    /// The tools that agents may use, with the schemas that replace the server's own.
    fn visible(&self, raw: &[Box<RawValue>]) -> Vec<FullToolDefinition> {
        let ServerDefinition { allowed, denied, schemas, .. } = &self.definition;
        let is_visible = |tool: &FullToolDefinition| {
            (allowed.is_empty() || allowed.iter().any(|pattern| pattern.matches(&tool.name)))
                && !denied.iter().any(|pattern| pattern.matches(&tool.name))
        };
        let tools = raw.iter().filter_map(|raw| serde_json::from_str(raw.get()).ok());
        let mut tools: Vec<FullToolDefinition> = tools.filter(is_visible).collect();
        for tool in &mut tools {
            if let Some(schema) = schemas.get(&tool.name) {
                tool.input_schema = schema.clone();
            }
        }
        tools
    }
}

/// Values by name that tell one user of a server from another.
pub(super) fn credentials(named: &BTreeMap<String, String>, sort: &str) -> Vec<ServerCredential> {
    let credential = |(name, value): (&String, &String)| ServerCredential {
        name: format!("{sort} {name}"),
        value: value.clone().into_bytes(),
        // `NODE_ENV=production` is no reason not to keep a result.
        may_be_plain: true,
    };
    named.iter().map(credential).collect()
}
