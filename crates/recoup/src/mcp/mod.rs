//! The MCP server: memory and cache for any agent that speaks the protocol.
//!
//! ```text
//! client ──► stdio or http ──► rmcp ──► server ──► a tool, a resource or a prompt ──► the engine
//! ```
//! The protocol is the official SDK's. What is ours is the transport on stdio, which bounds
//! what a client can make us keep, and what the tools do. Nothing is opened before a tool
//! asks for it.

mod consent;
mod http;
mod instructions;
mod load;
mod prompts;
mod resources;
mod seal;
mod server;
mod stdio;
mod threads;
mod tools;
mod turns;
mod unknown;
mod upkeep;
mod watch;

use std::fmt;
use std::sync::{Arc, OnceLock};

use recoup_core::Result;
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{Cache, Explanation, View};
use recoup_core::key::Scope;
use recoup_core::memory::{Forgotten, Memory, NoteId, NoteScope};
use rmcp::ErrorData;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use self::seal::Seal;
use self::threads::Threads;
use self::turns::Turns;
use self::upkeep::Upkeep;

pub(crate) use http::{Http, serve as serve_http};
pub(crate) use tools::ToolSet;

/// How long a message may be, in bytes, in whichever way it comes: the SDK's own limit.
const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// The file with the token of the HTTP server, in our own directory.
pub(crate) const TOKEN_FILE: &str = "mcp-token";

pub(crate) use stdio::{Streams, serve as serve_stdio};

/// What the server works with, and what only those above it can say.
pub(crate) trait Surroundings: fmt::Debug + Send + Sync {
    /// What is remembered.
    fn memory(&self) -> &Memory;
    /// What is cached.
    fn cache(&self) -> &Cache;
    /// Makes the directory of `memory`, before the first write.
    fn prepare_memory(&self) -> Result<()>;
    /// The same for the cache.
    fn prepare_cache(&self) -> Result<()>;
    /// Removes a memory for good, from wherever its words may be.
    fn forget(&self, id: &NoteId) -> Result<Forgotten>;
    /// Memories of this scope have changed: what was made of them elsewhere must, too.
    fn changed(&self, scope: &NoteScope);
    /// Identifier of this server process, unlike that of any earlier or later one.
    fn session(&self) -> &str;
    /// The client that this name of an MCP client stands for, if the user allows its agents to
    /// record rules.
    fn may_record(&self, client: &str) -> Option<&'static str>;
    /// The project at hand.
    fn project(&self) -> &Project;
    /// What people know any project by: where it is, or its id.
    fn name_of(&self, project: &ProjectId) -> String;
    /// Who shares what is cached.
    fn scope(&self) -> Scope;
    /// From where source files are seen.
    fn view(&self) -> View;
    /// How long results are kept unless somebody says otherwise.
    fn ttl(&self) -> Ttl;
    /// An explanation in words: a report, and lines for people.
    fn explain(&self, explanation: &Explanation) -> (Value, Vec<String>);
}

/// How the server is to behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Hooks give the rules to the agent: it need not ask for them.
    pub(crate) with_hooks: bool,
    /// There is a person who can be asked, if the client has a way to.
    pub(crate) may_ask: bool,
    /// The tools that are listed.
    pub(crate) tools: ToolSet,
}

/// Opens what the server works with.
type Open = dyn Fn(ConfigCare) -> Result<Box<dyn Surroundings>> + Send + Sync;

/// The effect of a fault in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigCare {
    /// The tool fails: results could be cached in the wrong place.
    Strict,
    /// The faulty part is left out: for tools that need no configuration.
    Lenient,
}

/// The surroundings, from their first use on. What is wrong with them is said each time,
/// and may be mended meanwhile.
#[derive(Clone)]
pub(crate) struct Desk {
    open: Arc<Open>,
    opened: Arc<OnceLock<Box<dyn Surroundings>>>,
    opened_lenient: Arc<OnceLock<Box<dyn Surroundings>>>,
    seal: Arc<OnceLock<Option<Seal>>>,
    turns: Turns,
    threads: Threads,
    upkeep: Arc<Upkeep>,
    /// Who follows resources for as long as they like.
    listeners: Arc<Semaphore>,
    /// What the user is being asked.
    questions: Arc<Semaphore>,
    /// Cancelled when the one client has left.
    leaving: CancellationToken,
}

/// How many may listen at once: each looks at files twice a second.
const LISTENERS: usize = 32;

/// How many questions a user is asked at once.
const QUESTIONS: usize = 16;

impl Desk {
    pub(crate) fn new(
        open: impl Fn(ConfigCare) -> Result<Box<dyn Surroundings>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            open: Arc::new(open),
            opened: Arc::default(),
            opened_lenient: Arc::default(),
            seal: Arc::default(),
            turns: Turns::default(),
            threads: Threads::default(),
            upkeep: Arc::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            leaving: CancellationToken::new(),
        }
    }

    fn surroundings(&self, care: ConfigCare) -> Result<&dyn Surroundings> {
        match self.open_in(&self.opened, ConfigCare::Strict) {
            Err(_) if care == ConfigCare::Lenient => self.open_in(&self.opened_lenient, care),
            opened => opened,
        }
    }

    fn open_in<'a>(
        &self,
        place: &'a OnceLock<Box<dyn Surroundings>>,
        care: ConfigCare,
    ) -> Result<&'a dyn Surroundings> {
        if let Some(opened) = place.get() {
            return Ok(&**opened);
        }
        let opened = (self.open)(care)?;
        Ok(&**place.get_or_init(|| opened))
    }

    /// A place among those who follow resources, unless there are too many.
    fn listen(&self) -> Result<OwnedSemaphorePermit, ErrorData> {
        let full = "too many listen at once: end a subscription first";
        self.listeners
            .clone()
            .try_acquire_owned()
            .map_err(|_| ErrorData::invalid_request(full, None))
    }

    /// What ties answers to questions, one for the process: a client may bring the answer on
    /// another connection.
    fn seal(&self) -> Option<&Seal> {
        self.seal.get_or_init(Seal::fresh).as_ref()
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("opened", &self.opened).finish_non_exhaustive()
    }
}
