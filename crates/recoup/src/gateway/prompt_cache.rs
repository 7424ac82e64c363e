//! The provider's own prompt cache: what a request begins with, and why the provider did not find it.
//!
//! A provider reads its cache up to the first part of a prompt that differs from an earlier one. So a
//! request is compared with the one that its conversation continues, part by part, in the order in which
//! providers read them: tools, instructions, settings, messages.

use std::collections::HashMap;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::key::model_request::unify_content;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::endpoint::{AnswerTokens, ApiEndpoint};
use super::request_log::LoggedRequest;

/// Fields of the body that change what the provider keeps of the messages.
const SETTINGS: [&str; 5] =
    ["tool_choice", "thinking", "reasoning", "reasoning_effort", "output_config"];
/// Times for which providers keep a prompt, in seconds.
const SHORT_TTL: u32 = 5 * 60;
const LONG_TTL: u32 = 60 * 60;
const DAY_TTL: u32 = 24 * 60 * 60;

/// A part of a prompt, with the beginning of its digest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct PromptPart(String, String);

/// Beginning of a request, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PromptOutline {
    /// Digest of the session that the client names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// Time for which the provider is to keep it, in seconds; 0 if nothing is marked for its cache.
    ttl: u32,
    parts: Vec<PromptPart>,
    /// Number of the parts in front of the messages.
    head: usize,
}

/// Reason why a provider's prompt cache missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub(crate) enum PromptCacheCause {
    /// Caches of models are separate.
    OtherModel { was: String, now: String },
    /// The provider had dropped it.
    TimeOut { idle_seconds: u64, kept_seconds: u32 },
    /// The first part that is not as it was.
    ChangedPrefix { part: String, how: &'static str },
    /// The client has replaced the conversation by a summary.
    Compaction,
    /// The earlier request was still on its way.
    SentTogether,
    /// Nothing is marked for the cache any more.
    Unmarked,
    /// Everything is as it was.
    Unknown,
}

/// A request whose prompt the provider did not find in its cache, though it was there before.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PromptCacheMiss {
    pub(crate) request: String,
    pub(crate) at: String,
    pub(crate) model: String,
    /// The request that it continues.
    pub(crate) continues: String,
    /// Tokens that were cached then, and that were read now.
    pub(crate) cached_tokens: u64,
    pub(crate) read_tokens: u64,
    #[serde(flatten)]
    pub(crate) cause: PromptCacheCause,
}

impl PromptOutline {
    /// Reads the body of a request; none if it has no prompt. `agent` tells sub-agents of a session
    /// apart.
    pub(super) fn of(endpoint: ApiEndpoint, body: &Value, agent: &str) -> Option<Self> {
        let body = body.as_object()?;
        let messages = body.get("messages").or_else(|| body.get("input"))?;
        let mut parts = Vec::new();
        for (at, tool) in list(body.get("tools")).iter().enumerate() {
            add_tool(&mut parts, at + 1, tool);
        }
        match body.get("system").or_else(|| body.get("instructions")) {
            Some(Value::Array(blocks)) => {
                for (at, block) in blocks.iter().enumerate() {
                    parts.push(PromptPart::new(format!("system block {}", at + 1), block));
                }
            }
            Some(text) if !text.is_null() => {
                parts.push(PromptPart::new("the instructions".to_owned(), text));
            }
            _ => {}
        }
        for name in SETTINGS {
            if let Some(value) = body.get(name) {
                parts.push(PromptPart::new(name.to_owned(), value));
            }
        }
        let head = parts.len();
        match messages {
            Value::Array(messages) => {
                for (at, message) in messages.iter().enumerate() {
                    parts.push(PromptPart::new(format!("message {}", at + 1), message));
                }
            }
            text => parts.push(PromptPart::new("message 1".to_owned(), text)),
        }
        Some(Self {
            session: session_of(body, agent),
            ttl: kept_seconds(endpoint, body),
            parts,
            head,
        })
    }

    fn messages(&self) -> &[PromptPart] {
        &self.parts[self.head.min(self.parts.len())..]
    }

    /// The first part of an earlier prompt that is not here as it was.
    fn first_change(&self, earlier: &Self) -> Option<(String, &'static str)> {
        let at =
            (0..earlier.parts.len()).find(|at| self.parts.get(*at) != earlier.parts.get(*at))?;
        let was = &earlier.parts[at];
        let has = |parts: &[PromptPart], name: &str| parts.iter().any(|part| part.0 == name);
        Some(match self.parts.get(at) {
            Some(now) if now.0 == was.0 => (was.0.clone(), "changed"),
            Some(now) if !has(&earlier.parts, &now.0) => (now.0.clone(), "is new"),
            _ if !has(&self.parts, &was.0) => (was.0.clone(), "is gone"),
            _ => (was.0.clone(), "moved"),
        })
    }
}

impl PromptPart {
    fn new(name: String, value: &Value) -> Self {
        let mut value = value.clone();
        drop_marks(&mut value);
        Self(name, short_digest(&value.to_string()))
    }
}

/// The fields of a tool, each a part: a description that changes is the usual cause.
fn add_tool(parts: &mut Vec<PromptPart>, number: usize, tool: &Value) {
    // Chat completions have them one level deeper.
    let fields = tool.get("function").unwrap_or(tool).as_object();
    let name = fields.and_then(|fields| fields.get("name")?.as_str()).unwrap_or("unnamed");
    let label = format!("tool {number} ({})", name.chars().take(60).collect::<String>());
    for (field, value) in
        fields.into_iter().flatten().filter(|(field, _)| *field != "cache_control")
    {
        let part = if field == "name" { label.clone() } else { format!("{label}, `{field}`") };
        parts.push(PromptPart::new(part, value));
    }
}

/// Takes out the marks for the provider's cache, which move from request to request, and writes content
/// that is one block of text as that text.
fn drop_marks(value: &mut Value) {
    if let Value::Object(item) = value {
        item.remove("cache_control");
        if let Some(content) = item.get_mut("content") {
            unify_content(content);
        }
    }
}

/// Digest of the session that a client names: never the name itself.
fn session_of(body: &Map<String, Value>, agent: &str) -> Option<String> {
    let user = body.get("metadata").and_then(|metadata| metadata.get("user_id"));
    let named = user.or_else(|| body.get("prompt_cache_key"))?.as_str()?;
    Some(short_digest(&format!("{named}\0{agent}")))
}

/// Time for which the provider keeps the prompt: Anthropic keeps what is marked, others keep
/// everything.
fn kept_seconds(endpoint: ApiEndpoint, body: &Map<String, Value>) -> u32 {
    if endpoint != ApiEndpoint::Messages {
        let retention = body.get("prompt_cache_retention").and_then(Value::as_str);
        return if retention == Some("24h") { DAY_TTL } else { SHORT_TTL };
    }
    let fields = ["tools", "system", "messages"].into_iter().filter_map(|name| body.get(name));
    let marked = fields.map(|field| longest_mark(field, 0)).max().unwrap_or_default();
    marked.max(mark_seconds(body.get("cache_control")))
}

/// Longest time of the marks within a list of blocks, tools or messages.
fn longest_mark(value: &Value, depth: usize) -> u32 {
    // Blocks are in messages, and within results of tools.
    const DEEPEST: usize = 4;
    let item_mark = |item: &Value| {
        let inner = item.get("content").filter(|_| depth < DEEPEST);
        let inner = inner.map_or(0, |content| longest_mark(content, depth + 1));
        inner.max(mark_seconds(item.get("cache_control")))
    };
    list(Some(value)).iter().map(item_mark).max().unwrap_or_default()
}

fn mark_seconds(mark: Option<&Value>) -> u32 {
    match mark {
        Some(mark) if mark["ttl"] == "1h" => LONG_TTL,
        Some(mark) if mark.is_object() => SHORT_TTL,
        _ => 0,
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn short_digest(text: &str) -> String {
    Sha256Digest::of(text.as_bytes()).to_hex()[..16].to_owned()
}

/// Names of a conversation: who asks which upstream, the session or else the model, and a part of the prompt.
type ConversationKey<'a> = (&'a str, &'a str, &'a str, &'a [PromptPart]);

/// The latest request of each conversation, by its first message, and by all in front of the messages.
#[derive(Default)]
struct LatestRequests<'a> {
    by_start: HashMap<ConversationKey<'a>, PromptRequest<'a>>,
    by_head: HashMap<ConversationKey<'a>, PromptRequest<'a>>,
}

/// A request with its prompt and its tokens.
type PromptRequest<'a> = (&'a LoggedRequest, &'a PromptOutline, AnswerTokens);

/// The misses among some requests, which are in the order in which they were sent.
pub(super) fn find_misses(requests: &[LoggedRequest]) -> Vec<PromptCacheMiss> {
    let mut latest = LatestRequests::default();
    let with_prompt = requests.iter().filter_map(|it| Some((it, it.prompt.as_ref()?, it.usage?)));
    let misses = with_prompt.filter_map(|asked| {
        let miss = latest.continued_by(asked).and_then(|was| find_miss(was, asked));
        latest.insert(asked);
        miss
    });
    misses.collect()
}

impl<'a> LatestRequests<'a> {
    /// The request that another one continues. A request that continues none is no miss: sub-agents and titles
    /// are conversations of their own.
    fn continued_by(&self, asked: PromptRequest<'a>) -> Option<PromptRequest<'a>> {
        let (start, head) = keys(asked);
        let (_, outline, _) = asked;
        let count = |(_, outline, _): &PromptRequest<'_>| outline.messages().len();
        // Without a session, one that is shorter has only begun with the same words.
        let same = self.by_start.get(&start).copied();
        let same = same.filter(|was| outline.session.is_some() || count(was) <= count(&asked));
        // After a summary by its client, a session goes on with fewer messages.
        let compacted = || {
            let was = self.by_head.get(&head).copied();
            was.filter(|was| outline.session.is_some() && count(was) > count(&asked))
        };
        same.or_else(compacted)
    }

    fn insert(&mut self, asked: PromptRequest<'a>) {
        let (start, head) = keys(asked);
        self.by_start.insert(start, asked);
        self.by_head.insert(head, asked);
    }
}

fn keys((request, outline, _): PromptRequest<'_>) -> (ConversationKey<'_>, ConversationKey<'_>) {
    // Without a session, models are asked the same independently of each other.
    let name = outline.session.as_deref().unwrap_or(&request.model);
    let key = |parts| (request.scope.as_str(), request.upstream.as_str(), name, parts);
    let messages = outline.messages();
    let head = &outline.parts[..outline.head.min(outline.parts.len())];
    (key(&messages[..messages.len().min(1)]), key(head))
}

/// The miss of a request, compared with the one that it continues.
fn find_miss(
    (was, before, used): PromptRequest<'_>,
    (asked, outline, usage): PromptRequest<'_>,
) -> Option<PromptCacheMiss> {
    let cached = used.cache_read + used.cache_written;
    // Providers look a few blocks back only: less than half is a part that was lost.
    if cached == 0 || usage.cache_read >= cached.div_ceil(2) {
        return None;
    }
    let idle = u64::try_from(asked.started - was.ended()).unwrap_or_default() / 1000;
    let cause = if was.model != asked.model {
        PromptCacheCause::OtherModel { was: was.model.clone(), now: asked.model.clone() }
    } else if asked.started < was.ended() {
        PromptCacheCause::SentTogether
    } else if outline.ttl == 0 {
        PromptCacheCause::Unmarked
    } else if usage.cache_read == 0 && before.ttl > 0 && idle >= u64::from(before.ttl) {
        PromptCacheCause::TimeOut { idle_seconds: idle, kept_seconds: before.ttl }
    } else if outline.messages().first() != before.messages().first() {
        PromptCacheCause::Compaction
    } else if let Some((part, how)) = outline.first_change(before) {
        PromptCacheCause::ChangedPrefix { part, how }
    } else {
        PromptCacheCause::Unknown
    };
    Some(PromptCacheMiss {
        request: asked.id.clone(),
        at: asked.started_at(),
        model: asked.model.clone(),
        continues: was.id.clone(),
        cached_tokens: cached,
        read_tokens: usage.cache_read,
        cause,
    })
}

impl std::fmt::Display for PromptCacheCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OtherModel { was, now } => write!(f, "another model: {now} after {was}"),
            Self::TimeOut { idle_seconds, kept_seconds } => write!(
                f,
                "time-out: {} since the last request; the provider keeps it for {}",
                minutes(*idle_seconds),
                minutes(u64::from(*kept_seconds))
            ),
            Self::ChangedPrefix { part, how } => write!(f, "{part} {how}"),
            Self::Compaction => f.write_str("the conversation was compacted"),
            Self::SentTogether => f.write_str("the request before it was still on its way"),
            Self::Unmarked => f.write_str("nothing is marked with cache_control"),
            Self::Unknown => {
                f.write_str("unknown: the prompt begins as before, so the provider dropped it")
            }
        }
    }
}

fn minutes(seconds: u64) -> String {
    crate::human::long_duration(seconds * 1000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MODEL: &str = "claude-sonnet-4-5";

    /// A conversation of a client with two tools and two blocks of instructions.
    fn body(messages: &[&str]) -> Value {
        let last = messages.len() - 1;
        let message = |(at, text): (usize, &&str)| {
            // The mark is on the last message, and moves.
            let mut block = json!({ "type": "text", "text": text });
            if at == last {
                block["cache_control"] = json!({ "type": "ephemeral" });
            }
            json!({ "role": "user", "content": [block] })
        };
        json!({
            "model": MODEL, "max_tokens": 10, "metadata": { "user_id": "session_1" },
            "tools": [{ "name": "Bash", "description": "runs", "input_schema": {} },
                      { "name": "Read", "description": "reads", "input_schema": {} }],
            "system": [{ "type": "text", "text": "you are" }, { "type": "text", "text": "rules" }],
            "messages": messages.iter().enumerate().map(message).collect::<Vec<_>>(),
        })
    }

    /// A request that began so many seconds after the first one and took one second.
    fn sent(at: i64, body: &Value, cache_read: u64, cache_written: u64) -> LoggedRequest {
        let mut request =
            LoggedRequest::new(format!("at {at}"), "tenant:a".into(), at * 1000, 1000);
        request.model = body["model"].as_str().unwrap_or_default().to_owned();
        request.prompt = PromptOutline::of(ApiEndpoint::Messages, body, "");
        request.usage = Some(AnswerTokens {
            input: 9000,
            output: 1,
            cache_read,
            cache_written,
            ..AnswerTokens::default()
        });
        request
    }

    fn cause_of(second: LoggedRequest) -> Option<PromptCacheCause> {
        let first = sent(0, &body(&["hello", "answer", "more"]), 0, 8000);
        find_misses(&[first, second]).pop().map(|miss| miss.cause)
    }

    fn changed(change: impl FnOnce(&mut Value)) -> Option<PromptCacheCause> {
        let mut next = body(&["hello", "answer", "more", "next"]);
        change(&mut next);
        cause_of(sent(10, &next, 0, 8100))
    }

    fn prefix(part: &str, how: &'static str) -> PromptCacheCause {
        PromptCacheCause::ChangedPrefix { part: part.to_owned(), how }
    }

    #[test]
    fn the_part_that_changed_is_named() {
        let tool = |name: &str| json!({ "name": name, "description": "d", "input_schema": {} });
        for (expected, found) in [
            (
                Some(prefix("system block 2", "changed")),
                changed(|it| it["system"][1]["text"] = json!("x")),
            ),
            (
                Some(prefix("tool 2 (Read), `description`", "changed")),
                changed(|it| it["tools"][1]["description"] = json!("x")),
            ),
            (
                Some(prefix("message 2", "changed")),
                changed(|it| it["messages"][1]["content"] = json!("x")),
            ),
            (Some(prefix("thinking", "is new")), changed(|it| it["thinking"] = json!({}))),
            (
                Some(prefix("tool 3 (Web), `description`", "is new")),
                changed(|it| it["tools"].as_array_mut().expect("a list").push(tool("Web"))),
            ),
            (Some(PromptCacheCause::Unknown), changed(|_| ())),
            (
                Some(PromptCacheCause::OtherModel { was: MODEL.into(), now: "other".into() }),
                changed(|it| it["model"] = json!("other")),
            ),
            (
                Some(PromptCacheCause::Unmarked),
                changed(|it| it["messages"][3]["content"] = json!("next")),
            ),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn only_real_misses_count() {
        let next = body(&["hello", "answer", "more", "next"]);
        assert_eq!(cause_of(sent(10, &next, 8000, 100)), None, "it was read");
        let title = body(&["a title, please"]);
        let agent = PromptOutline::of(ApiEndpoint::Messages, &title, "agent-1");
        let sub_agent = LoggedRequest { prompt: agent, ..sent(10, &title, 0, 50) };
        assert_eq!(cause_of(sub_agent), None, "a conversation of its own");
        assert_eq!(cause_of(sent(10, &body(&["hi"]), 0, 50)), Some(PromptCacheCause::Compaction));
        let late = PromptCacheCause::TimeOut { idle_seconds: 399, kept_seconds: 300 };
        assert_eq!(cause_of(sent(400, &next, 0, 8100)), Some(late));
        assert_eq!(
            cause_of(LoggedRequest { started: 500, ..sent(0, &next, 0, 8100) }),
            Some(PromptCacheCause::SentTogether)
        );
        let mut elsewhere = next.clone();
        elsewhere["metadata"]["user_id"] = json!("session_2");
        assert_eq!(cause_of(sent(10, &elsewhere, 0, 8100)), None, "another session");
        let without_session = |model: &str, messages: &[&str]| {
            let mut body = body(messages);
            (body["metadata"], body["model"]) = (json!({}), json!(model));
            body
        };
        let first = sent(0, &without_session(MODEL, &["hello", "answer", "more"]), 0, 8000);
        for (why, other) in [
            ("another model is asked the same", without_session("other", &["hello"])),
            ("another conversation begins the same", without_session(MODEL, &["hello"])),
        ] {
            let misses = find_misses(&[first.clone(), sent(10, &other, 0, 50)]);
            assert!(misses.is_empty(), "{why}: {misses:?}");
        }
        let uncached = sent(0, &body(&["hello"]), 0, 0);
        assert!(find_misses(&[uncached, sent(5, &next, 0, 0)]).is_empty(), "nothing was cached");
    }
}
