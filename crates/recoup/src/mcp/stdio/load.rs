//! How much a client has us do and keep at once. When it is too much, the client is not
//! read from until some of it is done.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId, ServerJsonRpcMessage,
};
use tokio::sync::Notify;

/// How many requests are worked on at once. Each may have a large answer.
const REQUESTS: usize = 16;
/// How many bytes wait to be read by the client.
const UNREAD: usize = 4 * 1024 * 1024;

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Load {
    requests: Mutex<HashSet<RequestId>>,
    /// What the client was asked, each on behalf of a request that waits for the answer.
    questions: Mutex<HashSet<RequestId>>,
    unread: AtomicUsize,
    eased: Notify,
}

impl Load {
    /// A message came in.
    pub(super) fn asked(&self, message: &ClientJsonRpcMessage) {
        match message {
            // Listening lasts as long as the client likes, and is no work.
            ClientJsonRpcMessage::Request(request)
                if !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) =>
            {
                locked(&self.requests).insert(request.id.clone());
            }
            // What is cancelled is not answered.
            ClientJsonRpcMessage::Notification(it) => {
                if let ClientNotification::CancelledNotification(cancelled) = &it.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    locked(&self.requests).remove(id);
                }
            }
            ClientJsonRpcMessage::Response(response) => {
                locked(&self.questions).remove(&response.id);
            }
            ClientJsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    locked(&self.questions).remove(id);
                }
            }
            ClientJsonRpcMessage::Request(_) => {}
        }
    }

    /// A message of so many bytes goes out.
    pub(super) fn answered(&self, message: &ServerJsonRpcMessage, bytes: usize) {
        let answered = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(request) => {
                locked(&self.questions).insert(request.id.clone());
                None
            }
            ServerJsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            locked(&self.requests).remove(id);
        }
        self.unread.fetch_add(bytes, Ordering::Relaxed);
        self.eased.notify_one();
    }

    /// The client has taken so many bytes.
    pub(super) fn written(&self, bytes: usize) {
        self.unread.fetch_sub(bytes, Ordering::Relaxed);
        self.eased.notify_one();
    }

    /// Waits until there is room for one more.
    pub(super) async fn room(&self) {
        while self.is_full() {
            self.eased.notified().await;
        }
    }

    /// The answer to a question must come in, however many wait for theirs.
    fn is_full(&self) -> bool {
        let most = REQUESTS + locked(&self.questions).len();
        self.unread.load(Ordering::Relaxed) >= UNREAD || locked(&self.requests).len() >= most
    }
}

fn locked(ids: &Mutex<HashSet<RequestId>>) -> MutexGuard<'_, HashSet<RequestId>> {
    ids.lock().unwrap_or_else(PoisonError::into_inner)
}
