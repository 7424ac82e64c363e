//! The older transport, HTTP with server-sent events (2024-11-05): one stream for everything that the
//! server says, whose first event names the address for what the client says.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Response, Url};
use tokio::time::timeout;

use super::OutgoingMessage;
use super::fault::HttpFault;
use super::streamable::{HttpConnection, is_event_stream};
use crate::llm::sse::{EventParser, ServerEvent};
use crate::mcp_client::ServerEnd;

/// Time limit for the first event.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(10);

impl HttpConnection {
    /// Opens the stream; returns the address for messages, or none if the server has no such stream.
    pub(super) async fn open_older_stream(self: &Arc<Self>) -> Option<Url> {
        let request = self.client.get(self.options.url.clone());
        let request = request.headers(self.options.headers.clone());
        let opened = timeout(ENDPOINT_TIMEOUT, async {
            let response = request.header(ACCEPT, "text/event-stream").send().await.ok()?;
            if !response.status().is_success() || !is_event_stream(&response) {
                return None;
            }
            self.read_endpoint(response).await
        });
        opened.await.ok().flatten()
    }

    async fn read_endpoint(self: &Arc<Self>, mut response: Response) -> Option<Url> {
        let mut parser = EventParser::default();
        while let Ok(Some(piece)) = response.chunk().await {
            let mut events = parser.push(&piece).into_iter();
            let Some(event) = events.by_ref().find(|event| event.name == "endpoint") else {
                continue;
            };
            let text = String::from_utf8(event.data).ok()?;
            let endpoint = response.url().join(text.trim()).ok()?;
            // Credentials are for the host that was named.
            if endpoint.origin() != self.options.url.origin() {
                return None;
            }
            let this = Arc::clone(self);
            let early: Vec<_> = events.collect();
            tokio::spawn(async move {
                for event in early.into_iter().filter(ServerEvent::is_message) {
                    this.pass_older(event.data).await;
                }
                while let Ok(Some(piece)) = response.chunk().await {
                    for event in parser.push(&piece).into_iter().filter(ServerEvent::is_message) {
                        this.pass_older(event.data).await;
                    }
                }
                // The stream is the session: without it the server is gone.
                (this.on_end)(ServerEnd::Closed);
            });
            return Some(endpoint);
        }
        None
    }

    /// Sends a message to the address that the stream named, and waits for its answer over the
    /// stream.
    pub(super) async fn post_older(&self, endpoint: Url, message: &OutgoingMessage) {
        let answer = message.id.as_deref().map(|id| self.expect_older_answer(id));
        let request = self.client.post(endpoint).headers(self.options.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(message.body.clone());
        match request.send().await {
            Ok(response) if response.status().is_success() => {
                if let Some(answer) = answer {
                    let _ = answer.await;
                }
            }
            Ok(response) => {
                let fault = HttpFault::of_refusal(response, self.options.credentials_hint).await.0;
                self.answer_fault(message, &fault).await;
            }
            Err(error) => self.answer_fault(message, &HttpFault::of_request(error)).await,
        }
    }
}
