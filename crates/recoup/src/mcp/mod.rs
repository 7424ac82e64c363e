//! The MCP server: memory and cache for any agent that speaks the protocol.
//!
//! ```text
//! client ──► stdio or http ──► rmcp ──► server ──► a tool, a resource or a prompt ──► the engine
//! ```
//! The protocol is the official SDK's. Ours are the stdio transport, which bounds the memory that
//! a client can make us use, and the tools. Nothing is opened before a tool needs it.

mod agents;
mod consent;
mod http;
mod in_flight;
mod prompts;
mod resources;
mod server;
mod stdio;
mod tools;
mod workers;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use recoup_core::Result;
use recoup_core::base::FaultLog;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::name::fresh_id;
use recoup_core::base::project::Project;
use recoup_core::cache::Cache;
use recoup_core::memory::Memory;
use rmcp::ErrorData;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use self::agents::AgentTool;
use self::consent::ConsentSigner;
use self::workers::MemoryUpkeep;
use self::workers::{EngineThreads, WorkerLimits};
use crate::app::App;
use crate::config::FlagOverrides;
use crate::toolbox::NamePattern;

pub(crate) use http::{HttpOptions, serve as serve_http};
pub(crate) use tools::ToolSet;

/// Limit of a message in bytes, on any transport: the SDK's own.
const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// File in our own directory with the token of the HTTP server.
pub(crate) const TOKEN_FILE: &str = "mcp-token";

pub(crate) use stdio::{StdioStreams, serve as serve_stdio};

/// Services that tools use, opened once.
#[derive(Debug)]
pub(crate) struct McpServices {
    app: &'static App,
    memory: Memory,
    cache: Cache,
    /// Identifier of this server process, unlike that of any earlier or later one.
    session: String,
}

impl McpServices {
    /// The current project.
    fn project(&self) -> &Project {
        &self.app.settings.project
    }
}

/// Options of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerOptions {
    /// Hooks deliver the rules, so the agent need not ask for them.
    pub(crate) with_hooks: bool,
    /// A person can be asked, if the client supports it.
    pub(crate) may_ask: bool,
    /// Tools to list.
    pub(crate) tools: ToolSet,
}

/// The effect of a fault in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigStrictness {
    /// The tool fails: results could be cached in the wrong place.
    Strict,
    /// The faulty part is left out: for tools that need no configuration.
    Lenient,
}

/// State of the server, shared by all connections. Services are opened on first use; a failure is
/// reported each time, because the user may fix its cause meanwhile.
#[derive(Clone)]
pub(crate) struct ServerState {
    overrides: Arc<FlagOverrides>,
    /// Receives faults and warnings.
    faults: Arc<dyn FaultLog>,
    opened: Arc<OnceLock<McpServices>>,
    opened_lenient: Arc<OnceLock<McpServices>>,
    seal: Arc<OnceLock<Option<ConsentSigner>>>,
    /// Agents that are served as tools.
    agents: Arc<[Arc<AgentTool>]>,
    turns: WorkerLimits,
    threads: EngineThreads,
    upkeep: Arc<MemoryUpkeep>,
    /// Limits long-lived resource subscriptions.
    listeners: Arc<Semaphore>,
    /// Limits open questions to the user.
    questions: Arc<Semaphore>,
    /// Cancelled when the only client has left.
    leaving: CancellationToken,
}

/// Maximum number of subscribers: each checks files twice a second.
const LISTENERS: usize = 32;

/// Maximum number of questions to a user at once.
const QUESTIONS: usize = 16;

impl ServerState {
    pub(crate) fn new(overrides: FlagOverrides, faults: Arc<dyn FaultLog>) -> Self {
        Self {
            overrides: Arc::new(overrides),
            faults,
            opened: Arc::default(),
            opened_lenient: Arc::default(),
            seal: Arc::default(),
            agents: Arc::default(),
            turns: WorkerLimits::default(),
            threads: EngineThreads::default(),
            upkeep: Arc::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            leaving: CancellationToken::new(),
        }
    }

    /// Serves the agent files of `dirs` as tools, too. They may use tools that are not read-only only
    /// if one of the patterns names them. Settings are loaded at once.
    pub(crate) fn with_agents(
        mut self,
        dirs: &[PathBuf],
        allowed: Vec<NamePattern>,
    ) -> Result<Self> {
        if !dirs.is_empty() {
            let app = self.services(ConfigStrictness::Strict)?.app;
            self.agents = AgentTool::load_all(app, dirs, allowed)?.into();
        }
        Ok(self)
    }

    fn services(&self, strictness: ConfigStrictness) -> Result<&McpServices> {
        match self.open_in(&self.opened, ConfigStrictness::Strict) {
            Err(_) if strictness == ConfigStrictness::Lenient => {
                self.open_in(&self.opened_lenient, strictness)
            }
            opened => opened,
        }
    }

    fn open_in<'a>(
        &self,
        place: &'a OnceLock<McpServices>,
        strictness: ConfigStrictness,
    ) -> Result<&'a McpServices> {
        if let Some(opened) = place.get() {
            return Ok(opened);
        }
        let faults = Arc::clone(&self.faults);
        let app = match strictness {
            ConfigStrictness::Strict => App::open(&self.overrides, faults)?,
            ConfigStrictness::Lenient => App::open_lenient(&self.overrides, faults)?,
        };
        app.report_warnings();
        let session = fresh_id(&SystemClock);
        let opened = McpServices { app, memory: app.memory(), cache: app.cache(), session };
        Ok(place.get_or_init(|| opened))
    }

    /// Reserves a subscription, unless there are too many.
    fn reserve_listener(&self) -> Result<OwnedSemaphorePermit, ErrorData> {
        let full = "too many subscriptions: end one first";
        self.listeners
            .clone()
            .try_acquire_owned()
            .map_err(|_| ErrorData::invalid_request(full, None))
    }

    /// Signer that ties answers to questions, one for the process: a client may send the answer on
    /// another connection.
    fn consent_signer(&self) -> Option<&ConsentSigner> {
        self.seal.get_or_init(ConsentSigner::generate).as_ref()
    }
}

impl fmt::Debug for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerState").field("opened", &self.opened).finish_non_exhaustive()
    }
}
