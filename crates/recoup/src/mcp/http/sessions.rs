//! Sessions, which clients often do not end: beyond the limit, the least recently used are closed.
//! Idle ones are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// Maximum number of sessions.
const MOST: usize = 64;
const HEADER: &str = "mcp-session-id";

/// The open sessions.
#[derive(Debug, Clone)]
pub(super) struct HttpSessions {
    pub(super) manager: Arc<LocalSessionManager>,
    /// Ids, least recently used first.
    used: Arc<Mutex<VecDeque<Arc<str>>>>,
}

impl HttpSessions {
    pub(super) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = None;
        Self { manager: Arc::new(manager), used: Arc::default() }
    }

    /// Marks a session as used; headers of the request or response name it.
    pub(super) async fn mark_used(&self, headers: &HeaderMap) {
        let Some(id) = headers.get(HEADER).and_then(|id| id.to_str().ok()) else { return };
        let id: Arc<str> = id.into();
        // Unknown ids must not displace sessions of ours.
        if !self.manager.has_session(&id).await.unwrap_or(false) {
            return self.forget_session(&id);
        }
        if let Some(oldest) = self.move_to_newest(id) {
            let _ = self.manager.close_session(&oldest).await;
        }
    }

    /// Moves a session to the end. Returns the one to close for it.
    fn move_to_newest(&self, id: Arc<str>) -> Option<Arc<str>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|other| *other != id);
        used.push_back(id);
        (used.len() > MOST).then(|| used.pop_front())?
    }

    fn forget_session(&self, id: &str) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| **other != *id);
    }
}
