//! A connection to one MCP server, as a client: it starts with the first call, and anew if the server
//! has died, a few times.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, ErrorKind, Result};
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::message::METHOD_NOT_FOUND;
use super::session::{McpSession, RpcAnswer};
use crate::llm::ProxySettings;
use crate::toolbox::ServerAddress;

/// Starts of one server in all: one that dies again and again is left alone.
const MAX_STARTS: u32 = 3;
/// Pages of a list of tools.
const MAX_PAGES: usize = 100;

/// Called with each notification of the server: method and parameters.
pub(crate) type NotificationListener = Arc<dyn Fn(&str, Option<&RawValue>) + Send + Sync>;

/// A server, and how it is reached.
#[derive(Clone)]
pub(crate) struct McpServerOptions {
    /// Name in the configuration, for messages.
    pub(crate) name: String,
    pub(crate) address: ServerAddress,
    /// The project's root: working directory of a command that names none.
    pub(crate) root: PathBuf,
    pub(crate) proxy: Option<ProxySettings>,
    /// Values that messages must not show.
    pub(crate) withheld: SecretValues,
    /// Variables of our environment that a command gets only by its own `env`.
    pub(crate) withheld_variables: Vec<String>,
    pub(crate) on_notification: NotificationListener,
}

impl McpServerOptions {
    /// The root that the server is told: its `cwd`. Without one it is told none, because servers that
    /// know a root forget the directories that their arguments allow.
    pub(crate) fn told_root(&self) -> Option<Url> {
        match &self.address {
            ServerAddress::Command { cwd: Some(cwd), .. } => {
                Url::from_directory_path(self.root.join(cwd)).ok()
            }
            ServerAddress::Command { .. } | ServerAddress::Http { .. } => None,
        }
    }
}

impl fmt::Debug for McpServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerOptions").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The connection. Dropped, it ends the server.
#[derive(Debug)]
pub(crate) struct McpConnection {
    options: McpServerOptions,
    sessions: Mutex<SessionSlot>,
}

#[derive(Debug, Default)]
struct SessionSlot {
    current: Option<Arc<McpSession>>,
    starts: u32,
}

/// A page of `tools/list`.
#[derive(Deserialize)]
struct ToolsPage {
    tools: Vec<Box<RawValue>>,
    #[serde(rename = "nextCursor", default)]
    next_cursor: Option<String>,
}

impl McpConnection {
    /// The root that the server is told.
    pub(crate) fn told_root(&self) -> Option<Url> {
        self.options.told_root()
    }

    /// Starts nothing yet.
    pub(crate) fn new(options: McpServerOptions) -> Self {
        Self { options, sessions: Mutex::default() }
    }

    /// Sends a request, and waits for its answer: at most `timeout`, after which the server is told
    /// that nobody waits any more. Starts the server if it does not run.
    pub(crate) fn call(
        &self,
        method: &str,
        params: &RawValue,
        timeout: Duration,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<RpcAnswer> {
        self.session(is_cancelled)?.request(method, params, timeout, is_cancelled)
    }

    /// The server's tools, from all pages, as it defines them; none of a server that has no tools.
    pub(crate) fn list_tools(
        &self,
        timeout: Duration,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Box<RawValue>>> {
        let refused = |why: &str| {
            let message = format!("MCP server {}: tools/list: {why}", self.options.name);
            Error::new(ErrorKind::Invalid, message)
        };
        let mut tools = Vec::new();
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let raw = to_raw_value(&params).map_err(|error| refused(&error.to_string()))?;
            let page = match self.call("tools/list", &raw, timeout, is_cancelled)? {
                RpcAnswer::Result(result) => serde_json::from_str::<ToolsPage>(result.get())
                    .map_err(|error| refused(&format!("this is no list of tools: {error}")))?,
                RpcAnswer::Error { code, .. } if code == i64::from(METHOD_NOT_FOUND) => {
                    return Ok(tools);
                }
                RpcAnswer::Error { code, message } => {
                    return Err(refused(&format!("{message} (code {code})")));
                }
            };
            tools.extend(page.tools);
            match page.next_cursor {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(tools),
            }
        }
        Err(refused(&format!("more than {MAX_PAGES} pages")))
    }

    /// The session, started if there is none. Callers wait here while one of them starts it.
    fn session(&self, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Result<Arc<McpSession>> {
        let mut slot = self.sessions.lock();
        if let Some(session) = slot.current.as_ref() {
            let Some(ended) = session.end_error("it does not run any more") else {
                return Ok(Arc::clone(session));
            };
            if slot.starts >= MAX_STARTS {
                return Err(ended);
            }
        } else if slot.starts >= MAX_STARTS {
            let message = format!("MCP server {} could not be started", self.options.name);
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        slot.starts += 1;
        let session = McpSession::start(&self.options)?;
        let ready = session.initialize(is_cancelled);
        if let Err(error) = ready {
            session.begin_close();
            return Err(error);
        }
        slot.current = Some(Arc::clone(&session));
        Ok(session)
    }

    /// Begins the server's end without waiting for it.
    pub(crate) fn begin_close(&self) {
        if let Some(session) = &self.sessions.lock().current {
            session.begin_close();
        }
    }
}

impl Drop for McpConnection {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.get_mut().current.take() {
            session.begin_close();
            session.await_end();
        }
    }
}
