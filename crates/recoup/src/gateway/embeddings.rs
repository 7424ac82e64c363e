//! Embeddings, text by text: each text of a request is an entry of its own, the upstream is asked only
//! for those that are not known, and the answer is put together in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{HeaderMap, Response, StatusCode, header};
use recoup_core::cache::PeekOutcome;
use recoup_core::entry::ProductionCost;
use recoup_core::key::model_request::ModelRequestBody;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::body::AnswerBody;
use super::flight::{OpenWork, OutgoingRequest};
use super::plan::CachePlan;
use super::recording::RecordedAnswer;
use super::report::{CacheReport, CacheStatus};
use super::{Gateway, GatewayRefusal, LiveSettings, read_entry};

/// Most texts of a request that is split; APIs take 2,048.
const MOST_TEXTS: usize = 4096;

/// An answer, with embeddings as they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct EmbeddingList {
    object: String,
    data: Vec<BTreeMap<String, Box<RawValue>>>,
    model: String,
    usage: EmbeddingUsage,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct EmbeddingUsage {
    prompt_tokens: u64,
    total_tokens: u64,
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
    /// Answers a request for several embeddings.
    pub(super) async fn answer_batch(
        self: &Arc<Self>,
        live: &Arc<LiveSettings>,
        batch: EmbeddingBatch,
        outgoing: OutgoingRequest,
    ) -> Result<Response<AnswerBody>, GatewayRefusal> {
        let (gateway, batch) = (Arc::clone(self), Arc::new(batch));
        let asked = Arc::clone(&batch);
        let known = spawn_blocking(move || gateway.known_embeddings(&asked)).await;
        let mut known = known.unwrap_or_else(|_| vec![None; batch.texts.len()]);
        let missing: Vec<usize> = (0..known.len()).filter(|at| known[*at].is_none()).collect();
        let found = known.len() - missing.len();
        let saved: u64 = known.iter().flatten().map(|list| list.usage.total_tokens).sum();
        let (mut status, mut headers) = (CacheStatus::Hit, HeaderMap::new());
        if !missing.is_empty() {
            status = CacheStatus::Miss;
            let started = Instant::now();
            let sent = if found == 0 {
                outgoing.clone()
            } else {
                batch.without_known(&missing, &outgoing)
            };
            let response = sent.send().await?;
            let report = CacheReport::unserved(status, None, "not all texts are known");
            if response.status() != StatusCode::OK {
                let silence = outgoing.upstream.settings.idle_timeout;
                return Ok(super::passed_answer(response, report, silence));
            }
            let limit = outgoing.upstream.settings.answer_timeout;
            let (answer, list) = read_list(response, missing.len(), limit, live).await?;
            headers = answer.headers.clone();
            let lists = list.split(&missing, &batch);
            for (at, list) in missing.iter().zip(&lists) {
                known[*at] = Some(list.clone());
            }
            let (gateway, batch, live) = (Arc::clone(self), Arc::clone(&batch), Arc::clone(live));
            let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let millis = millis / missing.len() as u64;
            let work = OpenWork::new(self);
            // The client does not wait for the store.
            spawn_blocking(move || {
                let _work = work;
                for (at, list) in missing.into_iter().zip(lists) {
                    gateway
                        .keep_embedding(&batch.texts[at].1, &list, &answer.headers, millis, &live);
                }
            });
        }
        let reason = format!("{found} of {} texts are known", known.len());
        let report = CacheReport {
            reason: Some(reason).filter(|_| status == CacheStatus::Miss),
            age: (status == CacheStatus::Hit).then_some(0),
            saved_tokens: saved,
            ..CacheReport::unserved(status, None, "")
        };
        let body = EmbeddingList::join(known.into_iter().flatten());
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = Response::new(AnswerBody::whole(body));
        *response.headers_mut() = headers;
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().remove(header::CONTENT_ENCODING);
        let kind = header::HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response.extensions_mut().insert(report);
        Ok(response)
    }

    fn known_embeddings(&self, batch: &EmbeddingBatch) -> Vec<Option<EmbeddingList>> {
        let known = |plan: &CachePlan| {
            if !plan.may_serve() {
                return None;
            }
            let PeekOutcome::Hit(entry) = self.cache.read(&plan.lookup()) else { return None };
            let list: EmbeddingList = serde_json::from_slice(&read_entry(&entry)?.body).ok()?;
            (list.data.len() == 1).then_some(list)
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
        let Ok(body) = serde_json::to_vec(list) else { return };
        let (headers, events) = (headers.clone(), Vec::new());
        let recorded = RecordedAnswer { headers, events, body: body.into() };
        let tokens = list.usage.prompt_tokens;
        let price = live.prices.price_of(&plan.model);
        let cost = ProductionCost {
            millis: Some(millis),
            input_tokens: Some(tokens),
            output_tokens: Some(0),
            micro_dollars: price.map(|price| price.cost(tokens, 0)),
        };
        let permit = self.cache.permit(&plan.id, plan.lookup().view, &[]);
        // Best effort: the store logs its own faults, and the answer was given.
        let _ = permit.and_then(|permit| permit.fill(plan.draft(&recorded, cost), plan.ttl));
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

/// Reads an upstream's answer with that many embeddings.
async fn read_list(
    response: Response<hyper::body::Incoming>,
    count: usize,
    limit: std::time::Duration,
    live: &LiveSettings,
) -> Result<(RecordedAnswer, EmbeddingList), GatewayRefusal> {
    let refused = |message| GatewayRefusal::new(StatusCode::BAD_GATEWAY, message);
    let (head, body) = response.into_parts();
    let most = live.settings.limits.answer_bytes;
    let body = http_body_util::Limited::new(body, most);
    let body = timeout(limit, body.collect()).await.ok().and_then(Result::ok);
    let body = body.ok_or_else(|| refused("the upstream's answer was cut off"))?.to_bytes();
    let mut decoder = super::decoder::PieceDecoder::of(&head.headers, most);
    let body =
        decoder.push(&body).ok_or_else(|| refused("the upstream's answer cannot be decoded"))?;
    let headers = super::upstream::end_to_end(&head.headers);
    let mut list: EmbeddingList = serde_json::from_slice(&body)
        .map_err(|_| refused("the upstream's answer is not a list of embeddings"))?;
    let index = |item: &BTreeMap<String, Box<RawValue>>| -> Option<usize> {
        item.get("index")?.get().parse().ok()
    };
    list.data.sort_by_key(index);
    if list.data.len() != count || !list.data.iter().map(index).eq((0..count).map(Some)) {
        return Err(refused("the upstream's answer does not have one embedding for each text"));
    }
    Ok((RecordedAnswer { headers, events: Vec::new(), body }, list))
}

impl EmbeddingList {
    /// An answer for each text alone. The tokens are shared out by the length of the texts.
    fn split(self, texts: &[usize], batch: &EmbeddingBatch) -> Vec<Self> {
        let length = |at: &usize| batch.texts[*at].0.to_string().len() as u64;
        let shares = |total: u64| share_out(total, texts.iter().map(length));
        let prompt = shares(self.usage.prompt_tokens);
        let total = shares(self.usage.total_tokens);
        let Self { object, data, model, more, .. } = self;
        let usage = prompt.into_iter().zip(total);
        let alone = |(item, (prompt_tokens, total_tokens))| Self {
            object: object.clone(),
            data: vec![with_index(item, 0)],
            model: model.clone(),
            usage: EmbeddingUsage { prompt_tokens, total_tokens },
            more: more.clone(),
        };
        data.into_iter().zip(usage).map(alone).collect()
    }

    /// One answer for all texts, in their order.
    fn join(lists: impl Iterator<Item = Self>) -> Option<Self> {
        let mut joined: Option<Self> = None;
        for mut list in lists {
            let Some(item) = list.data.pop() else { continue };
            let all = joined
                .get_or_insert_with(|| Self { usage: EmbeddingUsage::default(), ..list.clone() });
            let index = all.data.len();
            all.data.push(with_index(item, index));
            all.usage.prompt_tokens += list.usage.prompt_tokens;
            all.usage.total_tokens += list.usage.total_tokens;
        }
        joined
    }
}

fn with_index(
    mut item: BTreeMap<String, Box<RawValue>>,
    index: usize,
) -> BTreeMap<String, Box<RawValue>> {
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
