//! Embeddings, text by text: each text of a request is an entry of its own, the upstream is asked only
//! for those that are not known, and the answer is put together in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::http::response::Parts;
use hyper::{HeaderMap, Response, StatusCode, header};
use recoup_core::cache::{CacheMode, PeekOutcome};
use recoup_core::entry::ProductionCost;
use recoup_core::key::EntryId;
use recoup_core::key::model_request::ModelRequestBody;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::body::AnswerBody;
use super::decoder::PieceDecoder;
use super::flight::{OpenWork, OutgoingRequest};
use super::meter::MeteredBody;
use super::plan::CachePlan;
use super::recording::RecordedAnswer;
use super::report::{CacheReport, CacheStatus};
use super::response::{begun_answer, passed_answer};
use super::{Gateway, GatewayRefusal, LiveSettings, read_entry};

/// Most texts of a request that is split; APIs take 2,048.
const MOST_TEXTS: usize = 4096;

/// An embedding, as it is written.
type EmbeddingItem = BTreeMap<String, Box<RawValue>>;

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct EmbeddingList {
    object: String,
    data: Vec<EmbeddingItem>,
    model: String,
    /// Whole numbers are summed; each API has its own.
    usage: Map<String, Value>,
    #[serde(flatten)]
    more: Map<String, Value>,
    /// Facts about its entry, if it was stored.
    #[serde(skip)]
    stored: StoredFacts,
}

/// Headers with which an embedding was stored, its age in seconds, and its price.
#[derive(Debug, Clone, Default)]
struct StoredFacts {
    headers: HeaderMap,
    age: u64,
    micro_dollars: Option<u64>,
}

/// A request for several embeddings.
#[derive(Debug)]
pub(super) struct EmbeddingBatch {
    /// Everything but the texts.
    fields: Map<String, Value>,
    /// Texts, or lists of tokens, with the plan of each.
    texts: Vec<(Value, Arc<CachePlan>)>,
}

impl EmbeddingBatch {
    /// Splits a request; none if it has no list of texts, or one that cannot be split.
    pub(super) fn split(plan: &CachePlan, body: &Bytes, live: &LiveSettings) -> Option<Self> {
        let mut fields: Map<String, Value> = serde_json::from_slice(body).ok()?;
        let Value::Array(texts) = fields.remove("input")? else { return None };
        // A list of numbers is one text, as tokens.
        let is_text = |text: &Value| text.is_string() || text.is_array();
        if texts.is_empty() || texts.len() > MOST_TEXTS || !texts.iter().all(is_text) {
            return None;
        }
        let plan_of = |text: Value| {
            let mut alone = fields.clone();
            alone.insert("input".to_owned(), text.clone());
            let alone = Value::Object(alone).to_string();
            let body = ModelRequestBody::read(&alone, &live.settings.normalisers).ok()?;
            Some((text, Arc::new(plan.with_body(body)?)))
        };
        let texts = texts.into_iter().map(plan_of).collect::<Option<_>>()?;
        Some(Self { fields, texts })
    }
}

impl Gateway {
    /// Answers a request for several embeddings. Of those who ask for the same list at once, one asks the
    /// upstream, and the others wait until its answer is stored.
    pub(super) async fn answer_batch(
        self: Arc<Self>,
        live: Arc<LiveSettings>,
        id: EntryId,
        batch: EmbeddingBatch,
        outgoing: OutgoingRequest,
        may_spend: Result<(), GatewayRefusal>,
    ) -> Result<Response<AnswerBody>, GatewayRefusal> {
        let work = OpenWork::new(&self);
        let batch = Arc::new(batch);
        let mode = batch.texts[0].1.directives.mode;
        let mut known = self.look_up_batch(&batch).await;
        let mut lead = None;
        if mode == CacheMode::Use && known.iter().any(Option::is_none) {
            match self.flights.join_batch(&self, &id) {
                Ok(leader) => lead = Some(leader),
                Err(mut stored) => {
                    // It changes never, and ends with the leader.
                    let _ = stored.changed().await;
                    known = self.look_up_batch(&batch).await;
                }
            }
        }
        let missing: Vec<usize> = (0..known.len()).filter(|at| known[*at].is_none()).collect();
        let (found, all) = (known.len() - missing.len(), known.len());
        let saved: u64 = known.iter().flatten().map(EmbeddingList::tokens).sum();
        let mut report = CacheReport {
            reason: None,
            age: known.iter().flatten().map(|list| list.stored.age).max(),
            saved_tokens: saved,
            saved_micro_dollars: known.iter().flatten().map(|it| it.stored.micro_dollars).sum(),
            ..CacheReport::unserved(CacheStatus::Hit, None, "")
        };
        if missing.is_empty() {
            let headers = common_headers(known.iter().flatten());
            return Ok(joined_answer(known, headers, report));
        }
        if mode == CacheMode::OnlyIfCached {
            return Err(GatewayRefusal::not_cached(None));
        }
        may_spend?;
        (report.status, report.age) = (CacheStatus::Miss, None);
        report.reason = Some(format!("{found} of {all} texts are known"));
        let started = Instant::now();
        let silence = outgoing.upstream.settings.idle_timeout;
        let sent =
            if found == 0 { outgoing.clone() } else { batch.without_known(&missing, &outgoing) };
        let response = sent.send().await?;
        let report = report.asked_at(started, &response);
        if response.status() != StatusCode::OK {
            return Ok(passed_answer(response, report, silence));
        }
        let answer = match read_answer(response, live.settings.limits.answer_bytes, silence).await?
        {
            Ok(answer) => answer,
            Err((head, begun, rest)) if found == 0 => {
                return Ok(begun_answer(head, begun, rest, report, silence));
            }
            // What is known can't be joined with what can't be read: the client gets all of it anew.
            Err(_) => return Ok(passed_answer(outgoing.send().await?, report, silence)),
        };
        let Some(list) = answer.list(missing.len()) else {
            if found == 0 {
                return Ok(answer.into_response(report));
            }
            return Ok(passed_answer(outgoing.send().await?, report, silence));
        };
        let lists = list.split(&missing, &batch);
        for (at, list) in missing.iter().zip(&lists) {
            known[*at] = Some(list.clone());
        }
        let headers = super::upstream::end_to_end(&answer.head.headers);
        if matches!(mode, CacheMode::Use | CacheMode::Refresh) {
            let (gateway, batch) = (Arc::clone(&self), Arc::clone(&batch));
            let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let millis = millis / missing.len() as u64;
            let headers = headers.clone();
            // The client does not wait for the store.
            spawn_blocking(move || {
                let _until_stored = (work, lead);
                for (at, list) in missing.into_iter().zip(lists) {
                    gateway.keep_embedding(&batch.texts[at].1, &list, &headers, millis, &live);
                }
            });
        }
        if found == 0 {
            return Ok(answer.into_response(report));
        }
        Ok(joined_answer(known, headers, report))
    }

    async fn look_up_batch(
        self: &Arc<Self>,
        batch: &Arc<EmbeddingBatch>,
    ) -> Vec<Option<EmbeddingList>> {
        let (gateway, asked) = (Arc::clone(self), Arc::clone(batch));
        let known = spawn_blocking(move || gateway.known_embeddings(&asked)).await;
        known.unwrap_or_else(|_| vec![None; batch.texts.len()])
    }

    fn known_embeddings(&self, batch: &EmbeddingBatch) -> Vec<Option<EmbeddingList>> {
        let known = |plan: &CachePlan| {
            if !plan.may_serve() {
                return None;
            }
            let PeekOutcome::Hit(entry) = self.cache.read(&plan.lookup()) else { return None };
            let RecordedAnswer { headers, body, .. } = read_entry(&entry)?;
            let list: EmbeddingList = serde_json::from_slice(&body).ok()?;
            let header = &entry.head().header;
            let age = self.cache.clock().now().millis_since(header.created) / 1000;
            let stored = StoredFacts { headers, age, micro_dollars: header.cost.micro_dollars };
            (list.data.len() == 1).then_some(EmbeddingList { stored, ..list })
        };
        batch.texts.iter().map(|(_, plan)| known(plan)).collect()
    }

    fn keep_embedding(
        &self,
        plan: &CachePlan,
        list: &EmbeddingList,
        headers: &HeaderMap,
        millis: u64,
        live: &LiveSettings,
    ) {
        if list.has_empty_item() {
            return;
        }
        let Ok(body) = serde_json::to_vec(list) else { return };
        let (headers, events) = (headers.clone(), Vec::new());
        let recorded = RecordedAnswer { headers, events, body: body.into() };
        let tokens = list.tokens();
        let price = live.prices.price_of(&plan.model);
        let cost = ProductionCost {
            millis: Some(millis),
            input_tokens: Some(tokens),
            output_tokens: Some(0),
            micro_dollars: price.map(|price| price.cost(tokens, 0)),
        };
        let permit = self.cache.permit(&plan.id, plan.lookup().view, &[]);
        // Best effort: the store logs its own faults, and the answer was given.
        let filled = permit.and_then(|permit| permit.fill(plan.draft(&recorded, cost), plan.ttl));
        if filled.is_err() {
            self.observer.metrics.store_errors.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl EmbeddingBatch {
    /// The request for the texts that are not known.
    fn without_known(&self, missing: &[usize], outgoing: &OutgoingRequest) -> OutgoingRequest {
        let mut body = self.fields.clone();
        let texts = missing.iter().map(|at| self.texts[*at].0.clone()).collect();
        body.insert("input".to_owned(), Value::Array(texts));
        let body = Bytes::from(Value::Object(body).to_string());
        let mut head = (*outgoing.head).clone();
        if head.headers.contains_key(header::CONTENT_LENGTH) {
            head.headers.insert(header::CONTENT_LENGTH, header::HeaderValue::from(body.len()));
        }
        OutgoingRequest { body, head: Arc::new(head), ..outgoing.clone() }
    }
}

/// An upstream's answer, read whole.
struct WholeAnswer {
    head: Parts,
    raw: Bytes,
    plain: Bytes,
}

/// Head of an answer, what was read of its body, and the rest.
type UnreadAnswer = (Parts, Bytes, MeteredBody);

/// Reads an answer whole. One that is too large, or that can't be decoded, is handed back.
async fn read_answer(
    response: Response<MeteredBody>,
    limit: usize,
    silence: Duration,
) -> Result<Result<WholeAnswer, UnreadAnswer>, GatewayRefusal> {
    let (head, mut body) = response.into_parts();
    let mut raw = BytesMut::new();
    let cut = || GatewayRefusal::new(StatusCode::BAD_GATEWAY, "the upstream's answer was cut off");
    while let Some(frame) = timeout(silence, body.frame()).await.map_err(|_| cut())? {
        if let Ok(data) = frame.map_err(|_| cut())?.into_data() {
            raw.extend_from_slice(&data);
        }
        if raw.len() > limit {
            return Ok(Err((head, raw.freeze(), body)));
        }
    }
    let raw = raw.freeze();
    match PieceDecoder::of(&head.headers, limit).push(&raw) {
        Some(plain) => Ok(Ok(WholeAnswer { head, raw, plain })),
        None => Ok(Err((head, raw, body))),
    }
}

impl WholeAnswer {
    /// The list, if it has one embedding for each of so many texts.
    fn list(&self, count: usize) -> Option<EmbeddingList> {
        let mut list: EmbeddingList = serde_json::from_slice(&self.plain).ok()?;
        let index =
            |item: &EmbeddingItem| -> Option<usize> { item.get("index")?.get().parse().ok() };
        list.data.sort_by_key(index);
        list.data.iter().map(index).eq((0..count).map(Some)).then_some(list)
    }

    /// The answer as it came.
    fn into_response(self, report: CacheReport) -> Response<AnswerBody> {
        let mut response = Response::from_parts(self.head, AnswerBody::whole(self.raw));
        *response.headers_mut() = super::upstream::end_to_end(response.headers());
        *response.version_mut() = hyper::Version::HTTP_11;
        response.extensions_mut().insert(report);
        response
    }
}

/// Headers that all answers have, such as the id of the request that they came with.
fn common_headers<'a>(mut lists: impl Iterator<Item = &'a EmbeddingList>) -> HeaderMap {
    let mut headers = lists.next().map(|list| list.stored.headers.clone()).unwrap_or_default();
    for list in lists {
        let differs = |name: &&header::HeaderName| {
            headers.get_all(*name) != list.stored.headers.get_all(*name)
        };
        let others: Vec<header::HeaderName> = headers.keys().filter(differs).cloned().collect();
        for name in others {
            headers.remove(name);
        }
    }
    headers
}

/// One answer for all texts.
fn joined_answer(
    known: Vec<Option<EmbeddingList>>,
    headers: HeaderMap,
    report: CacheReport,
) -> Response<AnswerBody> {
    let body = EmbeddingList::join(known.into_iter().flatten());
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let mut response = Response::new(AnswerBody::whole(body));
    *response.headers_mut() = headers;
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().remove(header::CONTENT_ENCODING);
    let kind = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.extensions_mut().insert(report);
    response
}

impl EmbeddingList {
    /// Tokens that were read.
    fn tokens(&self) -> u64 {
        let count = |name| self.usage.get(name).and_then(Value::as_u64);
        count("prompt_tokens").or_else(|| count("total_tokens")).unwrap_or_default()
    }

    /// True if an embedding is missing in its item.
    fn has_empty_item(&self) -> bool {
        let is_empty = |value: &RawValue| matches!(value.get().trim(), "null" | "[]" | "\"\"");
        self.data.iter().any(|item| item.get("embedding").is_none_or(|value| is_empty(value)))
    }

    /// An answer for each text alone. The tokens are shared out by the length of the texts.
    fn split(self, texts: &[usize], batch: &EmbeddingBatch) -> Vec<Self> {
        let Self { object, data, model, usage, more, stored } = self;
        let mut usages = vec![usage.clone(); texts.len()];
        for (name, total) in usage.iter().filter_map(|(name, it)| Some((name, it.as_u64()?))) {
            let length = |at: &usize| batch.texts[*at].0.to_string().len() as u64;
            let shares = share_out(total, texts.iter().map(length));
            for (usage, share) in usages.iter_mut().zip(shares) {
                usage.insert(name.clone(), share.into());
            }
        }
        let alone = |(item, usage)| Self {
            object: object.clone(),
            data: vec![with_index(item, 0)],
            model: model.clone(),
            usage,
            more: more.clone(),
            stored: stored.clone(),
        };
        data.into_iter().zip(usages).map(alone).collect()
    }

    /// One answer for all texts, in their order.
    fn join(lists: impl Iterator<Item = Self>) -> Option<Self> {
        let mut joined: Option<Self> = None;
        for mut list in lists {
            let Some(item) = list.data.pop() else { continue };
            let Some(all) = &mut joined else {
                list.data.push(with_index(item, 0));
                joined = Some(list);
                continue;
            };
            all.data.push(with_index(item, all.data.len()));
            for (name, count) in list.usage {
                let sum = all.usage.get(&name).and_then(Value::as_u64).zip(count.as_u64());
                if let Some((a, b)) = sum {
                    all.usage.insert(name, (a + b).into());
                }
            }
        }
        joined
    }
}

fn with_index(mut item: EmbeddingItem, index: usize) -> EmbeddingItem {
    if let Ok(index) = RawValue::from_string(index.to_string()) {
        item.insert("index".to_owned(), index);
    }
    item
}

/// Shares out a number by weights, so that the shares add up to it.
fn share_out(total: u64, weights: impl Iterator<Item = u64>) -> Vec<u64> {
    let weights: Vec<u64> = weights.collect();
    let sum = u128::from(weights.iter().sum::<u64>().max(1));
    let (mut seen, mut given) = (0u128, 0u64);
    let share = |weight: &u64| {
        seen += u128::from(*weight);
        let until = u64::try_from(u128::from(total) * seen / sum).unwrap_or(total);
        let share = until - given;
        given = until;
        share
    };
    weights.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::share_out;

    #[test]
    fn shares_add_up() {
        assert_eq!(share_out(10, [1, 1, 1].into_iter()), [3, 3, 4]);
        assert_eq!(share_out(0, [5, 7].into_iter()), [0, 0]);
        assert_eq!(
            share_out(u64::MAX, [1, u64::from(u32::MAX)].into_iter()).iter().sum::<u64>(),
            u64::MAX
        );
    }
}
