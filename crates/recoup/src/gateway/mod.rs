//! `recoup gateway`: an HTTP server in front of model APIs that answers repeated requests from the
//! cache, and is otherwise invisible.
//!
//! ```text
//! client ──► server ──► caller, route ──► plan ──► cache: hit ──► recorded answer
//!                             │             └────► flight: one asks upstream, all read its answer
//!                             └─ not cacheable ──► upstream, passed through
//! ```

mod assemble;
mod body;
mod budgets;
mod cassette_replay;
mod decoder;
mod directives;
mod embeddings;
mod endpoint;
mod exchanges;
mod explained;
mod flight;
mod known_request;
mod meter;
mod metrics;
mod observed;
mod plan;
mod prompt_cache;
mod purge;
mod recorder;
mod recording;
mod refusal;
mod report;
mod request_log;
mod response;
mod route;
mod server;
mod shared_response;
mod status;
mod stream_limit;
mod tenants;
mod traces;
mod upstream;

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use moka::sync::Cache as RecentIds;
use parking_lot::RwLock;
use recoup_core::base::name::fresh_id;
use recoup_core::cache::{Cache, CacheMode, PeekOutcome};
use recoup_core::entry::{Body, Entry};
use recoup_core::key::{EntryId, Key};
use recoup_core::{Error, Result};
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use crate::config::{GatewayLimits, GatewaySettings, PriceTable, env};
use crate::llm::ApiKey;
use body::{AnswerBody, ClientBody};
use budgets::SpendTable;
use directives::CacheDirectives;
use embeddings::EmbeddingBatch;
use endpoint::{AnswerTokens, ApiEndpoint};
use flight::{FlightSeat, FlightTable};
use known_request::KnownRequest;
use meter::PaidRequest;
use metrics::GatewayMetrics;
use observed::{AskedRequest, ObservedBody, RequestFacts, RequestObserver};
use plan::{BypassReason, CachePlan, PlanTable};
use recording::RecordedAnswer;
use refusal::GatewayRefusal;
use report::{CacheReport, CacheStatus};
use response::{
    ServedAnswer, passed_answer, plain_answer, recorded_response, shared_answer, translate,
};
use shared_response::SharedResponse;
use status::{STATUS_PATH, ServerFacts};
use tenants::{RateTable, TenantTable};
use traces::{TraceExporter, TraceParent};
use upstream::{Upstream, UpstreamBody};

pub(crate) use cassette_replay::{CassetteReplay, ReplaySummary};
pub(crate) use exchanges::{ExchangeIdentity, first_words, readable_answer};
pub(crate) use explained::DescribedRequest;
pub(crate) use prompt_cache::PromptCacheMiss;
pub(crate) use purge::PurgeRequest;
pub(crate) use recorder::ExchangeRecorder;
pub(crate) use request_log::{LoggedRequest, RequestHistory};
pub(crate) use server::{GatewaySetup, serve};
pub(crate) use status::{GatewayStatus, RuleStatus, StatusQuery};

/// Time for which an entry that was just read is likely to be in the memory tier.
const RECENT: Duration = Duration::from_secs(1);
/// Entries whose ids are remembered for that.
const MOST_RECENT: u64 = 100_000;
/// Times that a caller waits for somebody else's request before it sends its own.
const MOST_LEADERS: usize = 2;

const CACHE_HEADER: HeaderName = HeaderName::from_static("recoup-cache");
const AGENT_HEADER: &str = "x-claude-code-agent-id";
const ID_HEADER: HeaderName = HeaderName::from_static("recoup-request-id");

/// The gateway, while it runs.
#[derive(Debug)]
pub(crate) struct Gateway {
    cache: Cache,
    live: RwLock<Arc<LiveSettings>>,
    flights: FlightTable,
    /// Entries that were read a moment ago: they are read again without another thread.
    recent: RecentIds<EntryId, ()>,
    rates: RateTable,
    spend: Arc<SpendTable>,
    observer: Arc<RequestObserver>,
    server: ServerFacts,
    cassette: CassetteMode,
}

/// Use of a cassette.
#[derive(Debug, Clone)]
pub(crate) enum CassetteMode {
    Off,
    Record(Arc<ExchangeRecorder>),
    Replay(Arc<CassetteReplay>),
}

/// Everything that a reload replaces.
pub(super) struct LiveSettings {
    settings: GatewaySettings,
    upstreams: Vec<Arc<Upstream>>,
    tenants: TenantTable,
    prices: PriceTable,
    plans: PlanTable,
    tls: Option<TlsAcceptor>,
}

impl fmt::Debug for LiveSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveSettings").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl LiveSettings {
    /// Everything that the settings describe. Opens no connection. `key_of` has the key in a variable.
    fn new(
        settings: GatewaySettings,
        prices: PriceTable,
        fingerprint_key: &[u8],
        key_of: &dyn Fn(&str) -> Result<Option<ApiKey>>,
    ) -> Result<Self> {
        let proxy = env::proxy();
        let upstream = |it: &crate::config::UpstreamSettings| {
            let key = it.key_env.as_deref().map(key_of).transpose()?.flatten();
            if let (Some(name), None) = (&it.key_env, &key) {
                let message =
                    format!("gateway.upstreams.{}: the variable {name} is not set", it.name);
                return Err(Error::usage(message));
            }
            Upstream::new(it.clone(), key, proxy.as_ref()).map(Arc::new)
        };
        let upstreams = settings.upstreams.iter().map(upstream).collect::<Result<_>>()?;
        let tenants = TenantTable::new(&settings, fingerprint_key)?;
        let tls = settings.tls.as_ref().map(|(chain, key)| server::tls_acceptor(chain, key));
        let (tls, plans) = (tls.transpose()?, PlanTable::default());
        Ok(Self { settings, upstreams, tenants, prices, plans, tls })
    }
}

impl Gateway {
    /// A gateway that keeps its logs and counts below `home`, and counts errors of its store in
    /// `store_errors`.
    fn new(
        cache: Cache,
        live: LiveSettings,
        home: &Path,
        store_errors: &Arc<AtomicU64>,
        server: ServerFacts,
        cassette: CassetteMode,
    ) -> Result<Self> {
        let spend = Arc::new(SpendTable::open(home, cache.clock().now()));
        let metrics = Arc::new(GatewayMetrics::new(store_errors));
        let traces = live.settings.traces.as_deref();
        let traces = traces.map(|url| TraceExporter::start(url, &metrics.dropped_spans));
        let (log_dir, traces) = (home.join("logs"), traces.transpose()?);
        let observer = RequestObserver::new(metrics, &log_dir, Arc::clone(&spend), traces);
        Ok(Self {
            cache,
            observer: Arc::new(observer),
            spend,
            server,
            cassette,
            live: RwLock::new(Arc::new(live)),
            flights: FlightTable::default(),
            recent: RecentIds::builder().max_capacity(MOST_RECENT).time_to_live(RECENT).build(),
            rates: RateTable::default(),
        })
    }

    /// Answers a request.
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<ObservedBody> {
        let started = Instant::now();
        let mut facts = RequestFacts {
            id: fresh_id(self.cache.clock()),
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            ..RequestFacts::default()
        };
        let mut response = match self.dispatch(request, &mut facts).await {
            Ok(response) => response,
            Err(refusal) => {
                if let Some(awaited) = facts.awaited.take() {
                    // Not what the API says, and gone when it can be reached.
                    awaited.omit(&format!("the gateway itself answered: {}", refusal.message()));
                }
                refusal.into_response()
            }
        };
        let report = response.extensions_mut().remove::<CacheReport>();
        let report = report.unwrap_or_else(|| {
            CacheReport::unserved(CacheStatus::Bypass, None, "an answer of the gateway itself")
        });
        response.headers_mut().insert(CACHE_HEADER, report.header());
        if let Ok(id) = HeaderValue::from_str(&facts.id) {
            response.headers_mut().insert(ID_HEADER, id);
        }
        ObservedBody::observe(response, &self.observer, facts, report, started)
    }

    async fn dispatch(
        self: &Arc<Self>,
        request: Request<Incoming>,
        facts: &mut RequestFacts,
    ) -> Result<Response<AnswerBody>, GatewayRefusal> {
        let live = Arc::clone(&self.live.read());
        facts.is_logged = live.settings.logs.access;
        live.check_host(&request)?;
        match (request.method(), request.uri().path()) {
            (&(Method::GET | Method::HEAD), "/healthz") => {
                return Ok(plain_answer(StatusCode::OK, "ok\n"));
            }
            (&(Method::GET | Method::HEAD), "/readyz") => return Ok(self.readiness().await),
            _ => {}
        }
        let caller = live.tenants.identify(request.headers()).ok_or_else(|| {
            let message = "missing or wrong token: send one of the gateway as Recoup-Token, or in \
                           place of the API key";
            GatewayRefusal::new(StatusCode::UNAUTHORIZED, message)
        })?;
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/metrics") => {
                return Ok(plain_answer(StatusCode::OK, self.observer.metrics.to_text()));
            }
            (&Method::GET, STATUS_PATH) => return Ok(self.status_answer(&live).await),
            _ => {}
        }
        caller.name().clone_into(&mut facts.tenant);
        facts.trace.parent = TraceParent::read(request.headers());
        self.rates.admit(&caller, &live.tenants, self.cache.clock().now())?;
        let (head, body) = request.into_parts();
        let (upstream, path) = route::find_upstream(&live.upstreams, |it| &it.settings, &head)
            .map(|(upstream, path)| (Arc::clone(upstream), path))
            .ok_or_else(|| route::unknown_upstream(&live.upstreams, &head))?;
        facts.upstream = Some(upstream.settings.name.clone());
        facts.trace.system = Some(upstream.settings.api.as_str());
        let known = KnownRequest { live, caller, upstream, path, head, paid: None };
        let api = known.upstream.settings.api;
        let endpoint = ApiEndpoint::of(api, &known.head.method, known.path.path());
        let is_upgrade = upstream::is_websocket(&known.head.headers);
        if let CassetteMode::Replay(replay) = &self.cassette {
            return known.replay(replay, body, is_upgrade).await;
        }
        let Some(endpoint) = endpoint.filter(|_| !is_upgrade) else {
            let reason = "not an endpoint whose answers are cached";
            self.admit_passing(&known, facts)?;
            let body = match &self.cassette {
                CassetteMode::Record(recorder) if is_upgrade => {
                    let request = known.exchange_request(&Bytes::new());
                    recorder.omit(&request, "upgraded connections are not recorded");
                    UpstreamBody::Right(ClientBody { begun: None, rest: body })
                }
                CassetteMode::Record(_) => match known.read_body(body).await? {
                    Ok(body) => {
                        self.await_exchange(&known, &body, facts);
                        UpstreamBody::Left(body.into())
                    }
                    Err(unread) => {
                        self.omit_large(&known);
                        UpstreamBody::Right(unread)
                    }
                },
                _ => UpstreamBody::Right(ClientBody { begun: None, rest: body }),
            };
            return known.pass_through(body, reason).await;
        };
        self.answer_api(known, endpoint, body, facts).await
    }

    /// Answers a request to an endpoint whose answers can be cached.
    async fn answer_api(
        self: &Arc<Self>,
        mut known: KnownRequest,
        endpoint: ApiEndpoint,
        body: Incoming,
        facts: &mut RequestFacts,
    ) -> Result<Response<AnswerBody>, GatewayRefusal> {
        let directives = CacheDirectives::read(&known.head.headers)
            .map_err(|message| GatewayRefusal::new(StatusCode::BAD_REQUEST, message))?;
        let body = match known.read_body(body).await? {
            Ok(body) => body,
            Err(unread) => {
                self.omit_large(&known);
                self.admit_passing(&known, facts)?;
                let reason = "the request is larger than gateway.max_request_mb";
                return known.pass_through(UpstreamBody::Right(unread), reason).await;
            }
        };
        self.await_exchange(&known, &body, facts);
        let digest = PlanTable::digest(&known.caller.scope, &known.head, &body);
        let known_plan = known.live.plans.get(&digest);
        let is_new = known_plan.is_none();
        let plan = known_plan.map_or_else(|| known.plan(endpoint, &body, directives), Ok);
        let mut asked = AskedRequest {
            endpoint,
            scope: known.caller.scope.clone(),
            body: body.clone(),
            live: Arc::clone(&known.live),
            agent: known.agent(),
            plan: None,
        };
        let plan = match plan {
            Ok(plan) => plan,
            Err(BypassReason { text, model }) => {
                facts.model = model.filter(|model| !model.is_empty());
                facts.asked = Some(asked);
                if directives.mode == CacheMode::OnlyIfCached {
                    return Err(GatewayRefusal::not_cached(None));
                }
                self.admit_spending(&known, facts)?;
                known.paid = Some(self.paid_request(&known, endpoint, facts, body.len()));
                return known.pass_through(UpstreamBody::Left(body.into()), &text).await;
            }
        };
        facts.model = Some(plan.model.clone()).filter(|model| !model.is_empty());
        asked.plan = Some(Arc::clone(&plan));
        facts.asked = Some(asked);
        known.paid = Some(self.paid_request(&known, endpoint, facts, body.len()));
        if endpoint == ApiEndpoint::Embeddings
            && plan.directives.mode != CacheMode::Bypass
            && let Some(batch) = EmbeddingBatch::split(&plan, &body, &known.live)
        {
            let (gateway, live) = (Arc::clone(self), Arc::clone(&known.live));
            let finishes = live.settings.finishes_abandoned;
            let may_spend = self.admit_spending(&known, facts);
            let (id, outgoing) = (plan.id.clone(), known.into_outgoing(body));
            let answering = gateway.answer_batch(live, id, batch, outgoing, may_spend);
            if !finishes {
                return answering.await;
            }
            // Its client may go away: what is paid for is kept all the same.
            return tokio::spawn(answering).await.unwrap_or_else(|_| {
                let message = "the request failed in the gateway";
                Err(GatewayRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, message))
            });
        }
        if let Some(served) = self.look_up(&plan).await {
            if is_new {
                known.live.plans.insert(digest, &plan, body.len());
            }
            return Ok(recorded_response(&known.live, served));
        }
        if plan.directives.mode != CacheMode::OnlyIfCached {
            self.admit_spending(&known, facts)?;
        }
        match plan.directives.mode {
            CacheMode::OnlyIfCached => Err(GatewayRefusal::not_cached(Some(plan.id.key.clone()))),
            CacheMode::Bypass => {
                known.pass_through(UpstreamBody::Left(body.into()), "no-cache and no-store").await
            }
            _ => self.fly(known, plan, body).await,
        }
    }

    /// Begins to record an exchange, if there is a recording.
    fn await_exchange(&self, known: &KnownRequest, body: &Bytes, facts: &mut RequestFacts) {
        if let CassetteMode::Record(recorder) = &self.cassette {
            let (request, headers) = (known.exchange_request(body), &known.head.headers);
            let limit = known.live.settings.limits.answer_bytes;
            facts.awaited = Some(recorder.await_answer(request, headers, limit));
        }
    }

    fn omit_large(&self, known: &KnownRequest) {
        if let CassetteMode::Record(recorder) = &self.cassette {
            let request = known.exchange_request(&Bytes::new());
            recorder.omit(&request, "the request is larger than gateway.max_request_mb");
        }
    }

    /// Refuses a request whose answer would cost more than the caller's budget.
    fn admit_spending(
        &self,
        known: &KnownRequest,
        facts: &RequestFacts,
    ) -> Result<(), GatewayRefusal> {
        if facts.asked.as_ref().is_none_or(|asked| asked.endpoint.is_free()) {
            return Ok(());
        }
        let KnownRequest { live, caller, .. } = known;
        let budget = live.tenants.budget_of(caller).unwrap_or(live.settings.budget);
        let model = facts.model.as_deref().unwrap_or_default();
        if budget.micro_dollars.is_some() && live.prices.price_of(model).is_none() {
            let message = format!(
                "no price is known for {model}, so it can't be counted against the budget in \
                 dollars: add [prices.\"{model}\"] to the gateway's configuration"
            );
            return Err(GatewayRefusal::new(StatusCode::FORBIDDEN, message));
        }
        self.spend.admit(&facts.tenant, budget, self.cache.clock().now())
    }

    /// Refuses a request that only passes if its client wants a cached answer, or has spent its budget. What it
    /// costs is not known, so that it can only be refused when nothing is left.
    fn admit_passing(
        &self,
        known: &KnownRequest,
        facts: &RequestFacts,
    ) -> Result<(), GatewayRefusal> {
        let KnownRequest { live, caller, head, .. } = known;
        let is_only_cached = |it: CacheDirectives| it.mode == CacheMode::OnlyIfCached;
        if CacheDirectives::read(&head.headers).is_ok_and(is_only_cached) {
            return Err(GatewayRefusal::not_cached(None));
        }
        if head.method == Method::GET && !upstream::is_websocket(&head.headers) {
            return Ok(());
        }
        let budget = live.tenants.budget_of(caller).unwrap_or(live.settings.budget);
        self.spend.admit(&facts.tenant, budget, self.cache.clock().now())
    }

    fn paid_request(
        &self,
        known: &KnownRequest,
        endpoint: ApiEndpoint,
        facts: &RequestFacts,
        request_bytes: usize,
    ) -> Arc<PaidRequest> {
        Arc::new(PaidRequest {
            endpoint,
            tenant: facts.tenant.clone(),
            model: facts.model.clone().unwrap_or_default(),
            request_bytes,
            live: Arc::clone(&known.live),
            observer: Arc::clone(&self.observer),
        })
    }

    /// Asks the upstream, or reads the answer to the same request of somebody else.
    async fn fly(
        self: &Arc<Self>,
        known: KnownRequest,
        plan: Arc<CachePlan>,
        body: Bytes,
    ) -> Result<Response<AnswerBody>, GatewayRefusal> {
        let live = Arc::clone(&known.live);
        let outgoing = known.into_outgoing(body);
        if !plan.shares_flights() {
            // What this client asks for is for nobody else.
            if let Some((reader, shared)) = SharedResponse::with_leader() {
                tokio::spawn(Arc::clone(self).lead(live, plan, outgoing, shared));
                return shared_answer(reader).await;
            }
        }
        for _ in 0..MOST_LEADERS {
            match self.flights.join(&plan.id) {
                Some(FlightSeat::Leader(reader, shared)) => {
                    tokio::spawn(Arc::clone(self).lead(live, plan, outgoing, shared));
                    return shared_answer(reader).await;
                }
                Some(FlightSeat::Follower(reader)) => match reader.head().await {
                    // Its own failure is each caller's own.
                    Ok(head)
                        if head.status == StatusCode::OK
                            && head.is_shareable
                            && plan.accepts_age(head.report.age) =>
                    {
                        return shared_answer(reader).await;
                    }
                    Ok(_) | Err(_) => {}
                },
                None => break,
            }
        }
        let reason = "the same request of others failed or is too large";
        let asked = Instant::now();
        let response = outgoing.send().await?;
        let key = Some(plan.id.key.clone());
        let report = CacheReport::unserved(CacheStatus::Bypass, key, reason);
        let report = report.asked_at(asked, &response);
        Ok(passed_answer(response, report, outgoing.upstream.settings.idle_timeout))
    }

    /// A stored answer in the form that the client asks for, or in another from which that can be made.
    async fn look_up(self: &Arc<Self>, plan: &Arc<CachePlan>) -> Option<ServedAnswer> {
        if !plan.may_serve() {
            return None;
        }
        if self.recent.contains_key(&plan.id) {
            return self.read_stored(plan);
        }
        let (gateway, asked) = (Arc::clone(self), Arc::clone(plan));
        let served = spawn_blocking(move || gateway.read_stored(&asked)).await.ok().flatten()?;
        self.recent.insert(plan.id.clone(), ());
        Some(served)
    }

    fn read_stored(&self, plan: &CachePlan) -> Option<ServedAnswer> {
        if let Ok(entry) = self.cache.read_hit(&plan.lookup()) {
            let recorded = read_entry(&entry)?;
            let report = self.report_served(&plan.id.key, &entry, CacheStatus::Hit);
            return Some(ServedAnswer { recorded, report });
        }
        plan.other_forms().find_map(|other| {
            let (entry, recorded) = read_form(&self.cache, plan, &other)?;
            // Counted only now: a form that does not fit is no hit.
            self.cache.read_hit(&plan.lookup_of(&other)).ok()?;
            let report = self.report_served(&other.key, &entry, CacheStatus::Hit);
            Some(ServedAnswer { recorded, report })
        })
    }

    fn report_served(&self, key: &Key, entry: &Entry, status: CacheStatus) -> CacheReport {
        let header = &entry.head().header;
        let cost = header.cost;
        let tokens = cost.input_tokens.unwrap_or_default() + cost.output_tokens.unwrap_or_default();
        CacheReport {
            status,
            reason: None,
            key: Some(key.clone()),
            age: Some(self.cache.clock().now().millis_since(header.created) / 1000),
            saved_tokens: tokens,
            saved_micro_dollars: cost.micro_dollars,
            tokens: Arc::new(cost.input_tokens.zip(cost.output_tokens).map_or_else(
                OnceLock::new,
                |(input, output)| {
                    OnceLock::from(AnswerTokens { input, output, ..AnswerTokens::default() })
                },
            )),
            upstream_call: None,
        }
    }

    async fn readiness(self: &Arc<Self>) -> Response<AnswerBody> {
        if self.reads_store().await {
            plain_answer(StatusCode::OK, "ready\n")
        } else {
            plain_answer(StatusCode::SERVICE_UNAVAILABLE, "the store is unavailable\n")
        }
    }
}

/// The answer in an entry of another form, if it can be given in the one that is asked for.
fn read_form(cache: &Cache, plan: &CachePlan, other: &EntryId) -> Option<(Entry, RecordedAnswer)> {
    let PeekOutcome::Hit(entry) = cache.peek(&plan.lookup_of(other)) else { return None };
    let recorded = translate(plan.endpoint, &read_entry(&entry)?, plan.recipe.body.form())?;
    Some((entry, recorded))
}

/// Reads an entry; none if it is damaged or of a later version.
fn read_entry(entry: &Entry) -> Option<RecordedAnswer> {
    match entry.body() {
        Body::Whole(bytes) => RecordedAnswer::from_bytes(bytes),
        large @ Body::Large(_) => RecordedAnswer::from_bytes(&large.to_bytes().ok()?),
    }
}
