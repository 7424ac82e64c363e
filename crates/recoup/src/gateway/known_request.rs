//! A request with what is known about it: who sends it, and which upstream it is for.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use tokio::time::{Instant, timeout};

use super::body::{AnswerBody, ClientBody};
use super::cassette_replay::CassetteReplay;
use super::directives::CacheDirectives;
use super::endpoint::ApiEndpoint;
use super::flight::OutgoingRequest;
use super::meter::{MeteredBody, PaidRequest};
use super::plan::{ApiRequest, BypassReason, CachePlan};
use super::refusal::GatewayRefusal;
use super::report::{CacheReport, CacheStatus};
use super::response::passed_answer;
use super::route::RoutedPath;
use super::tenants::GatewayCaller;
use super::upstream::{Upstream, UpstreamBody};
use super::{AGENT_HEADER, LiveSettings, exchanges, server};
use crate::llm::ExchangeRequest;

/// A request with what is known about it.
pub(super) struct KnownRequest {
    pub(super) live: Arc<LiveSettings>,
    pub(super) caller: GatewayCaller,
    pub(super) upstream: Arc<Upstream>,
    pub(super) path: RoutedPath,
    pub(super) head: Parts,
    /// Account of the answer, if it has a price.
    pub(super) paid: Option<Arc<PaidRequest>>,
}

impl KnownRequest {
    /// Name of the sub-agent that asks, as Claude Code sends it; empty if it is none.
    pub(super) fn agent(&self) -> String {
        let name = self.head.headers.get(AGENT_HEADER).and_then(|value| value.to_str().ok());
        name.unwrap_or_default().to_owned()
    }

    /// Reads the body of the request; one that is too large is handed back.
    pub(super) async fn read_body(
        &self,
        body: Incoming,
    ) -> Result<Result<Bytes, ClientBody>, GatewayRefusal> {
        let limits = &self.live.settings.limits;
        read_whole(body, limits.request_bytes, limits.client_timeout).await
    }

    /// The request as it is recorded.
    pub(super) fn exchange_request(&self, body: &Bytes) -> ExchangeRequest {
        let upstream = &self.upstream.settings;
        exchanges::exchange_request(&self.live, upstream, &self.path, &self.head, body)
    }

    /// Answers from a cassette.
    pub(super) async fn replay(
        &self,
        replay: &CassetteReplay,
        body: Incoming,
        is_upgrade: bool,
    ) -> Result<Response<AnswerBody>, GatewayRefusal> {
        if is_upgrade {
            return Err(replay.refuse_upgrade());
        }
        let Ok(body) = self.read_body(body).await? else {
            let message = "the request is larger than gateway.max_request_mb";
            return Err(GatewayRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        };
        replay.answer(&self.exchange_request(&body))
    }

    /// The plan of the request.
    pub(super) fn plan(
        &self,
        endpoint: ApiEndpoint,
        body: &Bytes,
        directives: CacheDirectives,
    ) -> Result<Arc<CachePlan>, BypassReason> {
        let request = ApiRequest {
            endpoint,
            upstream: &self.upstream.settings,
            method: &self.head.method,
            path: self.path.path(),
            query: self.path.query(),
            headers: &self.head.headers,
            body,
        };
        CachePlan::of(&request, directives, &self.live.settings, &self.caller.scope).map(Arc::new)
    }

    pub(super) fn into_outgoing(self, body: Bytes) -> OutgoingRequest {
        OutgoingRequest {
            upstream: self.upstream,
            head: Arc::new(self.head),
            path_and_query: self.path.into_string(),
            body,
            caller: self.caller,
            paid: self.paid,
        }
    }

    /// Passes the request and its answer through.
    pub(super) async fn pass_through(
        mut self,
        body: UpstreamBody,
        reason: &str,
    ) -> Result<Response<AnswerBody>, GatewayRefusal> {
        let upgrade = self.head.extensions.remove::<hyper::upgrade::OnUpgrade>();
        let place = self.head.extensions.remove();
        let path = self.path.into_string();
        let upstream = &self.upstream;
        let asked = Instant::now();
        let sent = upstream.send(&self.head, &path, body, &self.caller).await?;
        let mut response = MeteredBody::measure(sent, self.paid.as_ref());
        let report = CacheReport::unserved(CacheStatus::Bypass, None, reason);
        let report = report.asked_at(asked, &response);
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let theirs = hyper::upgrade::on(&mut response);
            if let Some(ours) = upgrade {
                tokio::spawn(server::join_upgraded(ours, theirs, place));
            }
            let (mut head, _) = response.into_parts();
            head.extensions.insert(report);
            return Ok(Response::from_parts(head, AnswerBody::Whole(None)));
        }
        Ok(passed_answer(response, report, upstream.settings.idle_timeout))
    }
}

/// Reads a body whole. One that is larger than the limit is handed back, with what was read of it.
async fn read_whole(
    mut body: Incoming,
    limit: usize,
    patience: Duration,
) -> Result<Result<Bytes, ClientBody>, GatewayRefusal> {
    let broken = |message| GatewayRefusal::new(StatusCode::BAD_REQUEST, message);
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    loop {
        let frame = timeout(patience, body.frame()).await.map_err(|_| {
            GatewayRefusal::new(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time")
        })?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| broken("the request was cut off"))?.into_data() else {
            continue;
        };
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&data);
        }
        if first.len().max(all.len()) > limit {
            let begun = Some(if all.is_empty() { first } else { all.freeze() });
            return Ok(Err(ClientBody { begun, rest: body }));
        }
    }
    Ok(Ok(if all.is_empty() { first } else { all.freeze() }))
}
