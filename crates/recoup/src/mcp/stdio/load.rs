//! How much a client has us do and keep at once. When it is too much, the client is not
//! read from until some of it is done.
//!
//! A request weighs from when it came until its work is over, also when it was cancelled
//! meanwhile: its arguments are still there. What is to be worked on waits while the client
//! does not read its answers, because each may be large.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// How many bytes of requests are worked on, or wait for their turn.
const HELD: usize = 8 * 1024 * 1024;
/// What a request weighs however short it is.
const LEAST: usize = 4 * 1024;
/// How many bytes wait to be read by the client.
const UNREAD: usize = 4 * 1024 * 1024;

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Load {
    held: AtomicUsize,
    unread: AtomicUsize,
    eased: Notify,
}

/// The weight of one request, for as long as somebody has it.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct Burden(Arc<Weight>);

#[derive(Debug)]
struct Weight {
    bytes: usize,
    load: Arc<Load>,
}

impl Load {
    /// A request of so many bytes came in.
    pub(super) fn take(self: &Arc<Self>, bytes: usize) -> Burden {
        let bytes = bytes.max(LEAST);
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Burden(Arc::new(Weight { bytes, load: self.clone() }))
    }

    /// A message of so many bytes goes out.
    pub(super) fn said(&self, bytes: usize) {
        self.unread.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The client has taken so many bytes.
    pub(super) fn written(&self, bytes: usize) {
        self.unread.fetch_sub(bytes, Ordering::Relaxed);
        self.eased.notify_waiters();
    }

    /// Whether no more may be read.
    pub(super) fn is_full(&self) -> bool {
        self.is_unheard() || self.held.load(Ordering::Relaxed) >= HELD
    }

    /// Whether no more should be said.
    fn is_unheard(&self) -> bool {
        self.unread.load(Ordering::Relaxed) >= UNREAD
    }

    /// Waits until it is less, once.
    pub(super) async fn eased(&self, is_too_much: impl Fn(&Self) -> bool) {
        let eased = self.eased.notified();
        // From here on nothing is missed.
        if is_too_much(self) {
            eased.await;
        }
    }
}

impl Burden {
    /// Waits until the client reads what it was told before.
    pub(in crate::mcp) async fn may_answer(&self) {
        while self.0.load.is_unheard() {
            self.0.load.eased(Load::is_unheard).await;
        }
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.load.held.fetch_sub(self.bytes, Ordering::Relaxed);
        self.load.eased.notify_waiters();
    }
}
