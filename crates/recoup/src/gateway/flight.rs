//! One request where many ask: the first caller of an entry asks the upstream, and all others read its
//! answer while it arrives. Between processes the cache's claims do the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use parking_lot::Mutex;
use recoup_core::cache::{FillOutcome, FillRefusal, Outcome, Permit};
use recoup_core::entry::{Entry, ProductionCost};
use recoup_core::key::{EntryId, Kind};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout};

use super::assemble::assemble_stream;
use super::decoder::PieceDecoder;
use super::plan::CachePlan;
use super::recording::{EventSplitter, RecordedAnswer, RecordedEvent, is_event_stream};
use super::report::{CacheReport, CacheStatus};
use super::shared_response::{
    ReaderDemand, ResponseEnd, SharedHead, SharedPiece, SharedReader, SharedResponse,
};
use super::upstream::{Upstream, UpstreamBody, end_to_end};
use super::{Gateway, LiveSettings};

/// Reason to ask in spite of an entry.
const DAMAGED: &str = "the stored answer is damaged";

/// Answers that are on their way, by entry.
#[derive(Debug, Default)]
pub(super) struct FlightTable {
    flights: Mutex<HashMap<EntryId, Arc<SharedResponse>>>,
    /// Number of [`OpenWork`]s.
    running: AtomicUsize,
}

/// A request as it is sent to its upstream.
#[derive(Debug, Clone)]
pub(super) struct OutgoingRequest {
    pub(super) upstream: Arc<Upstream>,
    pub(super) head: Arc<Parts>,
    pub(super) path_and_query: String,
    pub(super) body: Bytes,
    pub(super) uses_own_key: bool,
}

/// A caller's place at an answer.
#[derive(Debug)]
pub(super) enum FlightSeat {
    /// This caller's request is sent.
    Leader(SharedReader, Arc<SharedResponse>),
    /// Somebody else's request is on its way.
    Follower(SharedReader),
}

impl FlightTable {
    /// Takes a place at the answer for an entry; none if its beginning is gone.
    pub(super) fn join(&self, id: &EntryId) -> Option<FlightSeat> {
        let mut flights = self.flights.lock();
        if let Some(shared) = flights.get(id) {
            return shared.reader(false).map(FlightSeat::Follower);
        }
        let shared = SharedResponse::recorded();
        let reader = shared.reader(true)?;
        flights.insert(id.clone(), Arc::clone(&shared));
        Some(FlightSeat::Leader(reader, shared))
    }

    /// Closes an answer for newcomers: they wait for its claim, or ask anew if it is not kept.
    fn close(&self, id: &EntryId, shared: &Arc<SharedResponse>) {
        let mut flights = self.flights.lock();
        if flights.get(id).is_some_and(|there| Arc::ptr_eq(there, shared)) {
            flights.remove(id);
        }
    }

    /// Number of answers that are on their way or being stored.
    pub(super) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }
}

impl OutgoingRequest {
    /// Sends it, and waits for the head of the answer.
    pub(super) async fn send(
        &self,
    ) -> Result<hyper::Response<Incoming>, super::shared_response::UpstreamFault> {
        let body = UpstreamBody::Left(self.body.clone().into());
        self.upstream.send(&self.head, &self.path_and_query, body, self.uses_own_key).await
    }
}

impl Gateway {
    /// Answers all who wait for an entry: from the cache if somebody else has filled it meanwhile,
    /// otherwise by asking the upstream. Runs to its end whoever goes away.
    pub(super) async fn lead(
        self: Arc<Self>,
        live: Arc<LiveSettings>,
        plan: Arc<CachePlan>,
        outgoing: OutgoingRequest,
        shared: Arc<SharedResponse>,
    ) {
        let _work = OpenWork::new(&self);
        let _running = RunningFlight { flights: &self.flights, id: &plan.id, shared: &shared };
        let (cache, asked) = (self.cache.clone(), Arc::clone(&plan));
        let found = spawn_blocking(move || cache.lookup(&asked.lookup())).await;
        let flight = FlightRun { gateway: &self, live: &live, plan: &plan, outgoing: &outgoing };
        match found {
            Ok(Ok(Outcome::Hit(entry))) => {
                if !flight.serve(&entry, CacheStatus::Hit, &shared).await {
                    flight.ask(&shared, None, DAMAGED).await;
                }
            }
            Ok(Ok(Outcome::Stale(entry, permit))) => {
                if !flight.serve(&entry, CacheStatus::Stale, &shared).await {
                    flight.ask(&shared, permit, DAMAGED).await;
                } else if let Some(permit) = permit {
                    flight.ask(&SharedResponse::recorded(), Some(permit), "refreshed").await;
                }
            }
            Ok(Ok(Outcome::Miss(permit, reason))) => {
                flight.ask(&shared, Some(permit), &reason.to_string()).await;
            }
            Ok(Ok(Outcome::Bypass(reason))) => {
                flight.ask(&shared, None, &reason.to_string()).await;
            }
            Ok(Err(error)) => flight.ask(&shared, None, &error.to_string()).await,
            Err(_) => flight.ask(&shared, None, "the look-up failed").await,
        }
    }
}

/// Lets nobody wait for an answer whose task has ended, however it ended.
struct RunningFlight<'a> {
    flights: &'a FlightTable,
    id: &'a EntryId,
    shared: &'a Arc<SharedResponse>,
}

impl Drop for RunningFlight<'_> {
    fn drop(&mut self) {
        self.flights.close(self.id, self.shared);
        self.shared.abort();
    }
}

/// Work that is finished before the gateway ends.
#[derive(Debug)]
pub(super) struct OpenWork(Arc<Gateway>);

impl OpenWork {
    pub(super) fn new(gateway: &Arc<Gateway>) -> Self {
        gateway.flights.running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(gateway))
    }
}

impl Drop for OpenWork {
    fn drop(&mut self) {
        self.0.flights.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One request that is led.
struct FlightRun<'a> {
    gateway: &'a Arc<Gateway>,
    live: &'a LiveSettings,
    plan: &'a Arc<CachePlan>,
    outgoing: &'a OutgoingRequest,
}

impl FlightRun<'_> {
    fn close(&self, shared: &Arc<SharedResponse>) {
        self.gateway.flights.close(&self.plan.id, shared);
    }

    /// Answers from an entry; false if it cannot be read.
    async fn serve(
        &self,
        entry: &Entry,
        status: CacheStatus,
        shared: &Arc<SharedResponse>,
    ) -> bool {
        let Some(recorded) = super::read_entry(entry) else { return false };
        self.close(shared);
        let report = self.gateway.report_served(&self.plan.id.key, entry, status);
        let RecordedAnswer { headers, events, mut body } = recorded;
        let extensions = hyper::http::Extensions::new();
        shared.begin(Ok(SharedHead { status: StatusCode::OK, headers, extensions, report }));
        let started = Instant::now();
        for RecordedEvent(at, length) in
            events.into_iter().filter(|_| self.live.settings.keeps_pace)
        {
            sleep_until(started + Duration::from_millis(at)).await;
            let event = body.split_to(length.min(body.len()));
            shared.push(SharedPiece { raw: event.clone(), plain: event });
        }
        shared.push(SharedPiece { raw: body.clone(), plain: body });
        shared.finish(ResponseEnd::Whole);
        true
    }

    /// Asks the upstream, and keeps the answer if there is a permit for that.
    async fn ask(&self, shared: &Arc<SharedResponse>, permit: Option<Permit>, reason: &str) {
        if permit.is_none() {
            // What is not kept is nobody else's answer.
            self.close(shared);
        }
        let started = Instant::now();
        let response = match self.outgoing.send().await {
            Ok(response) => response,
            Err(fault) => {
                self.close(shared);
                shared.begin(Err(fault));
                return release(permit).await;
            }
        };
        let (head, body) = response.into_parts();
        let key = Some(self.plan.id.key.clone());
        let report = CacheReport::unserved(CacheStatus::Miss, key, reason);
        let headers = end_to_end(&head.headers);
        let is_stream = is_event_stream(&headers);
        let extensions = head.extensions;
        let recorder =
            AnswerRecorder::new(&headers, self.live.settings.limits.answer_bytes, started);
        let shown =
            SharedHead { status: head.status, headers: headers.clone(), extensions, report };
        shared.begin(Ok(shown));
        if head.status != StatusCode::OK {
            self.close(shared);
            release(permit).await;
            self.pump(shared, body, None).await;
            return;
        }
        let recorder = permit.is_some().then_some(recorder);
        let recorded = self.pump(shared, body, recorder).await;
        match (permit, recorded) {
            (Some(permit), Some((events, body))) => {
                let events = if is_stream { events } else { Vec::new() };
                self.keep(permit, RecordedAnswer { headers, events, body }, started).await;
            }
            (permit, _) => release(permit).await,
        }
    }

    /// Passes the answer on as it arrives. Returns what was recorded, if it came to its end.
    async fn pump(
        &self,
        shared: &Arc<SharedResponse>,
        mut body: Incoming,
        mut recorder: Option<AnswerRecorder>,
    ) -> Option<(Vec<RecordedEvent>, Bytes)> {
        if recorder.is_none() {
            shared.stop_keeping();
        }
        let silence = self.outgoing.upstream.settings.idle_timeout;
        loop {
            let is_paid = recorder.is_some() && self.live.settings.finishes_abandoned;
            if shared.wait_for_room().await == ReaderDemand::Abandoned && !is_paid {
                self.close(shared);
                shared.finish(ResponseEnd::Cut);
                return None;
            }
            let raw = match timeout(silence, body.frame()).await {
                Ok(None) => break,
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => data,
                    // Trailers: no API has any.
                    Err(_) => continue,
                },
                Ok(Some(Err(_))) | Err(_) => {
                    self.close(shared);
                    shared.finish(ResponseEnd::Cut);
                    return None;
                }
            };
            let plain = match recorder.as_mut().map(|recorder| recorder.push(&raw)) {
                Some(Some(plain)) => plain,
                Some(None) => {
                    // Too large, or not decodable: it only passes from here on.
                    recorder = None;
                    shared.stop_keeping();
                    raw.clone()
                }
                None => raw.clone(),
            };
            shared.push(SharedPiece { raw, plain });
        }
        self.close(shared);
        shared.finish(ResponseEnd::Whole);
        recorder.map(AnswerRecorder::finish)
    }

    /// Stores an answer that came to its end, unless it is one that is not kept.
    async fn keep(&self, permit: Permit, recorded: RecordedAnswer, started: Instant) {
        let (plan, live) = (Arc::clone(self.plan), self.live.prices.clone());
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let stored = spawn_blocking(move || {
            let answer = match read_answer(&plan, &recorded) {
                Ok(answer) => answer,
                Err(reason) => {
                    let refusal = FillRefusal::Unkept(reason.to_owned());
                    permit.release_unkept(Kind::ModelRequest, &plan.identity, &refusal);
                    return None;
                }
            };
            let usage = plan.endpoint.usage(&answer);
            let price = live.price_of(&plan.model);
            let cost = ProductionCost {
                millis: Some(millis),
                input_tokens: Some(usage.input),
                output_tokens: Some(usage.output),
                micro_dollars: price.map(|price| price.cost(usage.input, usage.output)),
            };
            Some(permit.fill(plan.draft(&recorded, cost), plan.ttl))
        });
        // A fault of the store is logged by the store; the answer was given.
        let metrics = &self.gateway.observer.metrics;
        let counter = match stored.await {
            Ok(Some(Ok(FillOutcome::Stored(_)))) => &metrics.stored,
            _ => &metrics.unstored,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// The answer as a plain body; an error says why it is not kept.
pub(super) fn read_answer(
    plan: &CachePlan,
    recorded: &RecordedAnswer,
) -> Result<serde_json::Value, &'static str> {
    let answer = if recorded.is_stream() {
        let assembled = assemble_stream(plan.endpoint, &recorded.body);
        if !assembled.is_complete {
            return Err("the stream did not come to its end");
        }
        assembled.body
    } else {
        serde_json::from_slice(&recorded.body).map_err(|_| "the answer is not JSON")?
    };
    plan.endpoint.unkept(&answer, &plan.rule).map_or(Ok(answer), Err)
}

/// Gives the work up, so that others can take over.
async fn release(permit: Option<Permit>) {
    if let Some(permit) = permit {
        // Best effort: a claim also ends with this process.
        let _ = spawn_blocking(move || permit.release()).await;
    }
}

/// Collects an answer while it passes.
#[derive(Debug)]
struct AnswerRecorder {
    decoder: PieceDecoder,
    splitter: EventSplitter,
    events: Vec<RecordedEvent>,
    body: Vec<u8>,
    limit: usize,
    started: Instant,
}

impl AnswerRecorder {
    fn new(headers: &hyper::HeaderMap, limit: usize, started: Instant) -> Self {
        let (decoder, splitter) = (PieceDecoder::of(headers, limit), EventSplitter::new());
        Self { decoder, splitter, events: Vec::new(), body: Vec::new(), limit, started }
    }

    /// Takes a piece and returns it decoded; none if the answer can't be recorded.
    fn push(&mut self, raw: &Bytes) -> Option<Bytes> {
        let plain = self.decoder.push(raw)?;
        if self.body.len() + plain.len() > self.limit {
            return None;
        }
        let at = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let lengths = self.splitter.push(&plain);
        self.events.extend(lengths.into_iter().map(|length| RecordedEvent(at, length)));
        self.body.extend_from_slice(&plain);
        Some(plain)
    }

    fn finish(mut self) -> (Vec<RecordedEvent>, Bytes) {
        let counted: usize = self.events.iter().map(|event| event.1).sum();
        let rest = self.body.len() - counted;
        if rest > 0 {
            let at = self.events.last().map_or(0, |event| event.0);
            self.events.push(RecordedEvent(at, rest));
        }
        (self.events, self.body.into())
    }
}
