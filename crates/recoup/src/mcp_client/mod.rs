//! Other MCP servers: the transports to them, which the proxy shares, and a client of our own.
//!
//! Both transports carry lines, one JSON-RPC message each. [`McpConnection`] is the client: it starts
//! a server on first need, several threads may call at once, and every fault names the server.

mod connection;
mod guard;
mod http;
pub(crate) mod message;
mod server_process;
mod session;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

pub(crate) use connection::{McpConnection, McpServerOptions};
pub(crate) use guard::{KILL_AFTER, run_guard};
pub(crate) use http::{HttpFault, HttpServerOptions, HttpUpstream, build_client};
pub(crate) use server_process::{ServerExit, ServerInput, ServerProcess};
pub(crate) use session::{RpcAnswer, header_map};

/// How a transport ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEnd {
    /// The server says nothing more, or is lost.
    Closed,
    /// Everything is over.
    Exited,
}

/// Called when a transport ends.
pub(crate) type EndListener = Arc<dyn Fn(ServerEnd) + Send + Sync>;

/// The way to a server.
#[derive(Debug)]
pub(crate) enum Upstream {
    Process(ServerInput),
    Http(HttpUpstream),
}

impl Upstream {
    /// Sends bytes if `may_send` still agrees when it is our turn: a line, or over a pipe also a
    /// part of one.
    pub(crate) fn send_if(&self, bytes: &[u8], may_send: impl FnOnce() -> bool) {
        match self {
            Self::Process(input) => input.write_if(bytes, may_send),
            Self::Http(upstream) => upstream.send_if(bytes, may_send),
        }
    }

    pub(crate) fn send(&self, bytes: &[u8]) {
        self.send_if(bytes, || true);
    }

    pub(crate) fn close(&self) {
        match self {
            Self::Process(input) => input.close(),
            Self::Http(upstream) => upstream.close(),
        }
    }
}
