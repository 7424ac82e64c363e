//! Bounds the requests and responses that are in flight. At the limit, no more is read from the
//! client until some are done.
//!
//! A request counts from its arrival until its work is over, even if it was cancelled: its
//! arguments are still in memory. After that, waiting for the user or following a resource counts
//! nothing, because only further messages of the client can end it. Work does not start while the
//! client leaves responses unread, as each may be large. On stdio, responses count while they are
//! written; on HTTP, from when they are made until the connection has taken them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::request::Parts;
use rmcp::model::Extensions;
use tokio::sync::Notify;

/// Minimum charge of a request, however short it is.
const MIN_CHARGE: usize = 4 * 1024;
/// Bytes of requests and responses in flight.
#[derive(Debug)]
pub(super) struct InFlightBytes {
    most: InFlightLimits,
    held: AtomicUsize,
    unread: AtomicUsize,
    eased: Notify,
}

/// Limits in bytes, beyond which the next request waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlightLimits {
    /// Requests that are worked on, or queued.
    pub(super) held: usize,
    /// Responses that are not read yet.
    pub(super) unread: usize,
}

/// Charge of one request, released when the last clone is dropped.
#[derive(Debug, Clone)]
pub(super) struct InFlightRequest(Arc<RequestCharge>);

#[derive(Debug)]
struct RequestCharge {
    bytes: AtomicUsize,
    answer: AtomicUsize,
    load: Arc<InFlightBytes>,
}

impl InFlightBytes {
    pub(super) fn with_limits(most: InFlightLimits) -> Self {
        let (held, unread) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { most, held, unread, eased: Notify::new() }
    }

    /// Charges a request of this size.
    pub(super) fn charge_request(self: &Arc<Self>, bytes: usize) -> InFlightRequest {
        let bytes = bytes.max(MIN_CHARGE);
        self.held.fetch_add(bytes, Ordering::Relaxed);
        let (bytes, answer) = (AtomicUsize::new(bytes), AtomicUsize::new(0));
        InFlightRequest(Arc::new(RequestCharge { bytes, answer, load: self.clone() }))
    }

    /// Charges a response of this size.
    pub(super) fn charge_response(&self, bytes: usize) {
        self.unread.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Releases a response that the client has taken.
    pub(super) fn release_response(&self, bytes: usize) {
        self.unread.fetch_sub(bytes, Ordering::Relaxed);
        self.eased.notify_waiters();
    }

    /// True if no more may be read.
    pub(super) fn is_full(&self) -> bool {
        self.responses_at_limit() || self.requests_at_limit()
    }

    /// True if requests have reached their limit.
    pub(super) fn requests_at_limit(&self) -> bool {
        self.held.load(Ordering::Relaxed) >= self.most.held
    }

    /// True if unread responses have reached their limit.
    fn responses_at_limit(&self) -> bool {
        self.unread.load(Ordering::Relaxed) >= self.most.unread
    }

    /// Waits once for a release, if `is_too_much`.
    pub(super) async fn wait_for_release(&self, is_too_much: impl Fn(&Self) -> bool) {
        let eased = self.eased.notified();
        // Registered before the check, so that no release is missed.
        if is_too_much(self) {
            eased.await;
        }
    }
}

impl InFlightRequest {
    /// Returns the charge of a request. On HTTP it is among the extensions of the request's head.
    pub(super) fn from_extensions(extensions: &Extensions) -> Option<Self> {
        let head = || extensions.get::<Parts>()?.extensions.get();
        extensions.get().or_else(head).cloned()
    }

    /// Charges the response, until it is taken.
    pub(super) fn set_response_bytes(&self, bytes: usize) {
        let RequestCharge { answer, load, .. } = &*self.0;
        load.charge_response(bytes);
        load.release_response(answer.swap(bytes, Ordering::Relaxed));
    }

    /// Changes the charge of the request itself.
    pub(super) fn set_request_bytes(&self, bytes: usize) {
        self.0.set_bytes(bytes);
    }

    /// Waits until the client has read earlier responses.
    pub(super) async fn wait_for_reader(&self) {
        while self.0.load.responses_at_limit() {
            self.0.load.wait_for_release(InFlightBytes::responses_at_limit).await;
        }
    }
}

impl RequestCharge {
    fn set_bytes(&self, bytes: usize) {
        self.load.held.fetch_add(bytes, Ordering::Relaxed);
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        self.load.held.fetch_sub(before, Ordering::Relaxed);
        self.load.eased.notify_waiters();
    }
}

impl Drop for RequestCharge {
    fn drop(&mut self) {
        self.set_bytes(0);
        self.load.release_response(*self.answer.get_mut());
    }
}
