//! One request where many ask: the first caller of an entry asks the upstream, and all others read its
//! answer while it arrives. Between processes the cache's claims do the same.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::CONTENT_ENCODING;
use hyper::http::request::Parts;
use parking_lot::Mutex;
use recoup_core::cache::{FillOutcome, FillRefusal, MissReason, Outcome, Permit};
use recoup_core::entry::{Entry, ProductionCost};
use recoup_core::key::{EntryId, Kind};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until, timeout};

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

/// Memory that a piece takes beside its bytes.
const PIECE_BYTES: usize = 64;

/// Reason to ask in spite of an entry.
const DAMAGED: &str = "the stored answer is damaged";

/// Pauses between looks while another process works on an entry, and the time after which it is
/// not waited for any longer.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LAST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_mins(5);

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
    pub(super) sends_gateway_key: bool,
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
        let (reader, shared) = SharedResponse::with_leader()?;
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
        self.upstream.send(&self.head, &self.path_and_query, body, self.sends_gateway_key).await
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
        let found = self.wait_for_turn(&plan).await;
        if let Err(_)
        | Ok(
            Outcome::Miss(_, MissReason::Unavailable(_))
            | Outcome::Bypass(MissReason::Unavailable(_)),
        ) = &found
        {
            self.observer.metrics.store_errors.fetch_add(1, Ordering::Relaxed);
        }
        let mut flight = FlightRun {
            gateway: &self,
            live: &live,
            plan: &plan,
            outgoing: &outgoing,
            finishes: live.settings.finishes_abandoned,
        };
        match found {
            Ok(Outcome::Hit(entry)) => {
                if !flight.serve(&entry, CacheStatus::Hit, &shared).await {
                    flight.ask(&shared, None, DAMAGED).await;
                }
            }
            Ok(Outcome::Stale(entry, permit)) => {
                if !flight.serve(&entry, CacheStatus::Stale, &shared).await {
                    flight.ask(&shared, permit, DAMAGED).await;
                } else if let Some(permit) = permit {
                    flight.finishes = true;
                    flight.ask(&SharedResponse::recorded(), Some(permit), "refreshed").await;
                }
            }
            Ok(Outcome::Miss(permit, reason)) => {
                flight.ask(&shared, Some(permit), &reason.to_string()).await;
            }
            Ok(Outcome::Bypass(reason)) => {
                flight.ask(&shared, None, &reason.to_string()).await;
            }
            Err(reason) => flight.ask(&shared, None, &reason).await,
        }
    }
}

impl Gateway {
    /// Looks up until there is an entry, or nobody else works on it. Waits without a thread: those who
    /// are waited for need threads to store their answers.
    async fn wait_for_turn(&self, plan: &Arc<CachePlan>) -> Result<Outcome, String> {
        let until = Instant::now() + LONGEST_WAIT;
        let mut pause = FIRST_PAUSE;
        loop {
            let (cache, asked) = (self.cache.clone(), Arc::clone(plan));
            match spawn_blocking(move || cache.try_lookup(&asked.lookup())).await {
                Ok(Ok(Some(found))) => return Ok(found),
                Ok(Err(error)) => return Err(error.to_string()),
                Err(_) => return Err("the look-up failed".to_owned()),
                Ok(Ok(None)) if Instant::now() > until => {
                    return Err("another gateway works on it for too long".to_owned());
                }
                Ok(Ok(None)) => {}
            }
            sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
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
    /// True if an answer that nobody reads is read to its end.
    finishes: bool,
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
        let (status, is_shareable) = (StatusCode::OK, true);
        shared.begin(Ok(SharedHead { status, headers, extensions, report, is_shareable }));
        let started = Instant::now();
        for RecordedEvent(at, length) in
            events.into_iter().filter(|_| self.live.settings.keeps_pace)
        {
            sleep_until(started + Duration::from_millis(at)).await;
            let event = body.split_to(length.min(body.len()));
            shared.push(SharedPiece { raw: event.clone(), plain: Some(event) });
        }
        shared.push(SharedPiece { raw: body.clone(), plain: Some(body) });
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
        let report = CacheReport::unserved(CacheStatus::Miss, key, reason).asked_at(started);
        let tokens = Arc::clone(&report.tokens);
        let headers = end_to_end(&head.headers);
        let is_encoded = headers.contains_key(CONTENT_ENCODING);
        let extensions = head.extensions;
        let recorder =
            AnswerRecorder::new(&headers, self.live.settings.limits.answer_bytes, started);
        let is_shareable = permit.is_some() && !matches!(recorder.decoder, PieceDecoder::Broken);
        let shown = SharedHead {
            status: head.status,
            headers: headers.clone(),
            extensions,
            report,
            is_shareable,
        };
        shared.begin(Ok(shown));
        if head.status != StatusCode::OK {
            self.close(shared);
            release(permit).await;
            self.pump(shared, body, None, is_encoded).await;
            return;
        }
        let recorder = permit.is_some().then_some(recorder);
        let kept = self.pump(shared, body, recorder, is_encoded).await;
        match (permit, kept) {
            (Some(permit), Some((events, body))) => {
                let answer = RecordedAnswer { headers, events, body };
                self.keep(permit, answer, started, tokens).await;
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
        is_encoded: bool,
    ) -> Option<(Vec<RecordedEvent>, Bytes)> {
        if recorder.is_none() {
            shared.stop_keeping();
        }
        let silence = self.outgoing.upstream.settings.idle_timeout;
        loop {
            let is_paid = recorder.is_some() && self.finishes;
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
                Some(Some(plain)) => Some(plain),
                Some(None) => {
                    // Too large, or not decodable: it only passes from here on.
                    recorder = None;
                    shared.stop_keeping();
                    (!is_encoded).then(|| raw.clone())
                }
                None => (!is_encoded).then(|| raw.clone()),
            };
            shared.push(SharedPiece { raw, plain });
        }
        self.close(shared);
        shared.finish(ResponseEnd::Whole);
        recorder.map(AnswerRecorder::finish)
    }

    /// Stores an answer that came to its end, unless it is one that is not kept.
    async fn keep(
        &self,
        permit: Permit,
        recorded: RecordedAnswer,
        started: Instant,
        tokens: Arc<OnceLock<(u64, u64)>>,
    ) {
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
            let _ = tokens.set((usage.input, usage.output));
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
            Ok(Some(Err(_))) => {
                metrics.store_errors.fetch_add(1, Ordering::Relaxed);
                &metrics.unstored
            }
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
    is_stream: bool,
    /// Memory that it takes, about.
    taken: usize,
}

impl AnswerRecorder {
    fn new(headers: &hyper::HeaderMap, limit: usize, started: Instant) -> Self {
        let (decoder, splitter) = (PieceDecoder::of(headers, limit), EventSplitter::new());
        let (is_stream, events, body) = (is_event_stream(headers), Vec::new(), Vec::new());
        Self { decoder, splitter, events, body, limit, started, is_stream, taken: 0 }
    }

    /// Takes a piece and returns it decoded; none if the answer can't be recorded.
    fn push(&mut self, raw: &Bytes) -> Option<Bytes> {
        let plain = self.decoder.push(raw)?;
        self.taken += raw.len().max(plain.len()) + PIECE_BYTES;
        if self.taken > self.limit {
            return None;
        }
        if self.is_stream {
            let at = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let lengths = self.splitter.push(&plain);
            self.events.extend(lengths.into_iter().map(|length| RecordedEvent(at, length)));
        }
        self.body.extend_from_slice(&plain);
        Some(plain)
    }

    fn finish(mut self) -> (Vec<RecordedEvent>, Bytes) {
        let counted: usize = self.events.iter().map(|event| event.1).sum();
        let rest = self.body.len() - counted;
        if rest > 0 && self.is_stream {
            let at = self.events.last().map_or(0, |event| event.0);
            self.events.push(RecordedEvent(at, rest));
        }
        (self.events, self.body.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use hyper::HeaderMap;
    use hyper::header::{CONTENT_TYPE, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    /// Parts of streams: fields, comments, empty lines of all kinds, and letters of several bytes.
    fn stream() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("\n".to_owned()),
            Just("\r".to_owned()),
            Just("\r\n".to_owned()),
            Just("\n\n".to_owned()),
            Just(": ping".to_owned()),
            Just("event: message_stop".to_owned()),
            Just("data: {\"text\":\"Grüße, 世界 🌍\"}".to_owned()),
            "[a-z:é\u{2028}]{0,6}",
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    /// Pieces of the bytes, whose lengths come from `sizes`.
    fn cut<'a>(bytes: &'a [u8], sizes: &'a [usize]) -> impl Iterator<Item = Bytes> + 'a {
        let mut rest = bytes;
        let mut sizes = sizes.iter().cycle();
        std::iter::from_fn(move || {
            let (piece, left) = rest.split_at((*sizes.next()?).min(rest.len()));
            rest = left;
            (!piece.is_empty()).then(|| Bytes::copy_from_slice(piece))
        })
    }

    /// Events that are replayed of an answer which arrived in these pieces.
    fn replayed(pieces: impl Iterator<Item = Bytes>, encoding: Option<&'static str>) -> Vec<Bytes> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.extend(encoding.map(|it| (CONTENT_ENCODING, HeaderValue::from_static(it))));
        let mut recorder = AnswerRecorder::new(&headers, 1 << 20, Instant::now());
        for piece in pieces {
            recorder.push(&piece).expect("it can be decoded");
        }
        let (events, body) = recorder.finish();
        let stored = RecordedAnswer { headers, events, body }.to_bytes();
        let mut recorded = RecordedAnswer::from_bytes(&stored.into()).expect("it can be read");
        assert!(recorded.is_stream() && !recorded.headers.contains_key(CONTENT_ENCODING));
        let events = recorded.events.iter().map(|event| recorded.body.split_to(event.1)).collect();
        assert!(recorded.body.is_empty());
        events
    }

    proptest! {
        #[test]
        fn a_stream_replays_identically_however_it_is_cut(
            text in stream(),
            sizes in prop::collection::vec(1_usize..20, 1..20),
        ) {
            let whole = replayed(cut(text.as_bytes(), &[usize::MAX]), None);
            prop_assert_eq!(whole.concat(), text.as_bytes());
            prop_assert_eq!(&replayed(cut(text.as_bytes(), &sizes), None), &whole);
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text.as_bytes()).expect("memory");
            let gzip = encoder.finish().expect("memory");
            prop_assert_eq!(&replayed(cut(&gzip, &sizes), Some("gzip")), &whole);
            // All but the last end with an empty line, and have none before their end.
            for event in whole.split_last().map_or(&[][..], |(_, events)| events) {
                let event = std::str::from_utf8(event).expect("cut between lines");
                let lines = event.replace("\r\n", "\n").replace('\r', "\n");
                let lines = lines.trim_start_matches('\n');
                prop_assert_eq!(lines.find("\n\n"), lines.len().checked_sub(2));
            }
        }
    }
}
