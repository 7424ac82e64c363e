//! The MCP server: memory and cache for any agent that speaks the protocol.
//!
//! ```text
//! client ──► stdio or http ──► rmcp ──► server ──► a tool, a resource or a prompt ──► the engine
//! ```
//! The protocol is the official SDK's. Ours are the stdio transport, which bounds the memory that
//! a client can make us use, and the tools. Nothing is opened before a tool needs it.

mod consent;
mod http;
mod in_flight;
mod instructions;
mod prompts;
mod resources;
mod seal;
mod server;
mod stdio;
mod threads;
mod tools;
mod unknown;
mod upkeep;
mod watch;
mod worker_limits;

use std::fmt;
use std::sync::{Arc, OnceLock};

use recoup_core::Result;
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{Cache, LookupExplanation, PathContext};
use recoup_core::key::Scope;
use recoup_core::memory::{ForgetReport, Memory, NoteId, NoteScope};
use rmcp::ErrorData;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use self::seal::ConsentSigner;
use self::threads::EngineThreads;
use self::upkeep::MemoryUpkeep;
use self::worker_limits::WorkerLimits;

pub(crate) use http::{HttpOptions, serve as serve_http};
pub(crate) use tools::ToolSet;

/// Limit of a message in bytes, on any transport: the SDK's own.
const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// File in our own directory with the token of the HTTP server.
pub(crate) const TOKEN_FILE: &str = "mcp-token";

pub(crate) use stdio::{StdioStreams, serve as serve_stdio};

/// Services that the server uses, and decisions that belong to higher levels.
pub(crate) trait ServerServices: fmt::Debug + Send + Sync {
    fn memory(&self) -> &Memory;
    fn cache(&self) -> &Cache;
    /// Creates the directory of the memory, before the first write.
    fn prepare_memory(&self) -> Result<()>;
    /// Creates the directory of the cache, before the first write.
    fn prepare_cache(&self) -> Result<()>;
    /// Removes a memory for good, wherever it is stored.
    fn forget(&self, id: &NoteId) -> Result<ForgetReport>;
    /// Updates everything derived from the memories of a scope, after a change.
    fn notify_changed(&self, scope: &NoteScope);
    /// Identifier of this server process, unlike that of any earlier or later one.
    fn session(&self) -> &str;
    /// Returns the client behind an MCP client's name, if the user allows its agents to record
    /// rules.
    fn recording_client(&self, client: &str) -> Option<&'static str>;
    /// The current project.
    fn project(&self) -> &Project;
    /// Name of any project for people: its path, or its id.
    fn project_name(&self, project: &ProjectId) -> String;
    /// Scope of cached results.
    fn scope(&self) -> Scope;
    /// Directories against which source paths are resolved.
    fn view(&self) -> PathContext;
    /// Default TTL of results.
    fn ttl(&self) -> Ttl;
    /// Renders an explanation: a report, and lines for people.
    fn explain(&self, explanation: &LookupExplanation) -> (Value, Vec<String>);
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

/// Opens the services.
type OpenServices = dyn Fn(ConfigStrictness) -> Result<Box<dyn ServerServices>> + Send + Sync;

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
    open: Arc<OpenServices>,
    opened: Arc<OnceLock<Box<dyn ServerServices>>>,
    opened_lenient: Arc<OnceLock<Box<dyn ServerServices>>>,
    seal: Arc<OnceLock<Option<ConsentSigner>>>,
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
    pub(crate) fn new(
        open: impl Fn(ConfigStrictness) -> Result<Box<dyn ServerServices>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            open: Arc::new(open),
            opened: Arc::default(),
            opened_lenient: Arc::default(),
            seal: Arc::default(),
            turns: WorkerLimits::default(),
            threads: EngineThreads::default(),
            upkeep: Arc::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            leaving: CancellationToken::new(),
        }
    }

    fn services(&self, care: ConfigStrictness) -> Result<&dyn ServerServices> {
        match self.open_in(&self.opened, ConfigStrictness::Strict) {
            Err(_) if care == ConfigStrictness::Lenient => self.open_in(&self.opened_lenient, care),
            opened => opened,
        }
    }

    fn open_in<'a>(
        &self,
        place: &'a OnceLock<Box<dyn ServerServices>>,
        care: ConfigStrictness,
    ) -> Result<&'a dyn ServerServices> {
        if let Some(opened) = place.get() {
            return Ok(&**opened);
        }
        let opened = (self.open)(care)?;
        Ok(&**place.get_or_init(|| opened))
    }

    /// Reserves a subscription, unless there are too many.
    fn reserve_listener(&self) -> Result<OwnedSemaphorePermit, ErrorData> {
        let full = "too many listen at once: end a subscription first";
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
