//! Sessions, of which clients leave more behind than they end: the ones that were longest
//! without a request go when there are too many, and none for being idle.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// How many there are at once.
const MOST: usize = 64;
const HEADER: &str = "mcp-session-id";

/// The sessions that there are.
#[derive(Debug, Clone)]
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    /// By their last request, the oldest first.
    used: Arc<Mutex<VecDeque<Arc<str>>>>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = None;
        Self { manager: Arc::new(manager), used: Arc::default() }
    }

    /// A session was used, or begun: the headers of the request or of its answer say which.
    pub(super) async fn used(&self, headers: &HeaderMap) {
        let Some(id) = headers.get(HEADER).and_then(|id| id.to_str().ok()) else { return };
        let id: Arc<str> = id.into();
        // What is not ours must not push out what is.
        if !self.manager.has_session(&id).await.unwrap_or(false) {
            return self.ended(&id);
        }
        if let Some(oldest) = self.newest(id) {
            let _ = self.manager.close_session(&oldest).await;
        }
    }

    /// Puts it last; says which one has to go for it.
    fn newest(&self, id: Arc<str>) -> Option<Arc<str>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|other| *other != id);
        used.push_back(id);
        (used.len() > MOST).then(|| used.pop_front())?
    }

    fn ended(&self, id: &str) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| **other != *id);
    }
}
