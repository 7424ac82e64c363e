//! How much a client has us do and keep at once. When it is too much, the client is not
//! read from until some of it is done.
//!
//! A request weighs from when it came until its work is over, also when it was cancelled
//! meanwhile: its arguments are still there. What waits for the user after that, or follows a
//! resource, weighs nothing: what it waits for is the client's to say, who must be heard. What is
//! to be worked on waits while the client does not read its answers, because each may be large.
//! On stdio these are counted as they are written, on HTTP from when they are made until the
//! connection has taken them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::request::Parts;
use rmcp::model::Extensions;
use tokio::sync::Notify;

/// What a request weighs however short it is.
const LEAST: usize = 4 * 1024;
/// What is under way.
#[derive(Debug)]
pub(super) struct Load {
    most: Most,
    held: AtomicUsize,
    unread: AtomicUsize,
    eased: Notify,
}

/// How many bytes there may be before the next one waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    /// Of requests that are worked on, or wait for their turn.
    pub(super) held: usize,
    /// Of answers that nobody has read.
    pub(super) unread: usize,
}

/// The weight of one request, for as long as somebody has it.
#[derive(Debug, Clone)]
pub(super) struct Burden(Arc<Weight>);

#[derive(Debug)]
struct Weight {
    bytes: AtomicUsize,
    answer: AtomicUsize,
    load: Arc<Load>,
}

impl Load {
    /// Nothing yet.
    pub(super) fn of(most: Most) -> Self {
        let (held, unread) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { most, held, unread, eased: Notify::new() }
    }

    /// A request of so many bytes came in.
    pub(super) fn take(self: &Arc<Self>, bytes: usize) -> Burden {
        let bytes = bytes.max(LEAST);
        self.held.fetch_add(bytes, Ordering::Relaxed);
        let (bytes, answer) = (AtomicUsize::new(bytes), AtomicUsize::new(0));
        Burden(Arc::new(Weight { bytes, answer, load: self.clone() }))
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
        self.is_unheard() || self.is_laden()
    }

    /// Whether as much is under way as may be.
    pub(super) fn is_laden(&self) -> bool {
        self.held.load(Ordering::Relaxed) >= self.most.held
    }

    /// Whether no more should be said.
    fn is_unheard(&self) -> bool {
        self.unread.load(Ordering::Relaxed) >= self.most.unread
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
    /// That of a request, which on HTTP is among what came with its head.
    pub(super) fn of(extensions: &Extensions) -> Option<Self> {
        let head = || extensions.get::<Parts>()?.extensions.get();
        extensions.get().or_else(head).cloned()
    }

    /// What has come of the request weighs so much from now on, until it is taken.
    pub(super) fn answered(&self, bytes: usize) {
        let Weight { answer, load, .. } = &*self.0;
        load.said(bytes);
        load.written(answer.swap(bytes, Ordering::Relaxed));
    }

    /// What is left of the request itself weighs so much.
    pub(super) fn weigh(&self, bytes: usize) {
        self.0.weigh(bytes);
    }

    /// Waits until the client reads what it was told before.
    pub(super) async fn may_answer(&self) {
        while self.0.load.is_unheard() {
            self.0.load.eased(Load::is_unheard).await;
        }
    }
}

impl Weight {
    fn weigh(&self, bytes: usize) {
        self.load.held.fetch_add(bytes, Ordering::Relaxed);
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        self.load.held.fetch_sub(before, Ordering::Relaxed);
        self.load.eased.notify_waiters();
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.weigh(0);
        self.load.written(*self.answer.get_mut());
    }
}
