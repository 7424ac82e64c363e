//! `cache_store`: an agent keeps a result, for itself and for others.

use recoup_core::base::clock::Timestamp;
use recoup_core::cache::{FillOutcome, FillRefusal, SinceToken};
use recoup_core::entry::{Draft, ProductionCost, to_micro_dollars};
use recoup_core::key::Kind;
use recoup_core::memory::lang::one_line;
use recoup_core::{Error, ErrorKind, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::arguments::{self, OneOrMany};
use super::arguments::{ResultArguments, SelectedResult, fields};
use super::schema::{
    closed, count, duration, flag, list, maybe_text, message, open, rare, text, texts, texts_of,
};
use super::{ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility};
use crate::mcp::McpServices;

/// Longer than any work takes.
const MOST_SECONDS: u64 = 1_000_000_000;
/// Limit of the stored representation.
const MOST_DOLLARS: u64 = 1_000_000_000;
/// Limit of a tag, in characters.
const MOST_TAG: u64 = 200;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "cache_store",
    title: "Store a result",
    description: "Store a costly result under the arguments that cache_lookup was called with. \
                  When one of its sources changes, it is no longer returned.",
    input: || {
        let cost = closed(
            &[
                ("seconds", json!({ "type": "number", "minimum": 0, "maximum": MOST_SECONDS })),
                ("input_tokens", count(0, "Tokens in")),
                ("output_tokens", count(0, "Tokens out")),
                ("dollars", json!({ "type": "number", "minimum": 0, "maximum": MOST_DOLLARS })),
            ],
            &[],
        );
        let mut all = fields();
        all.extend([
            (
                "result",
                json!({
                    "type": ["object", "array", "string", "number", "boolean"],
                    "description": "JSON, or a text, which comes back byte for byte",
                }),
            ),
            (
                "sources",
                texts(
                    "Files, directories and globs that it depends on: those of cache_lookup, and \
                     others that were read",
                ),
            ),
            ("token", text("From the miss of cache_lookup")),
            ("ttl", duration("30m, 12h, 7d, forever")),
            ("tags", rare(texts_of(MOST_TAG, "For cache_invalidate"))),
            ("cost", rare(cost)),
        ]);
        closed(&all, &["result"])
    },
    output: || {
        open(
            &[
                ("stored", flag("Whether it was stored")),
                ("key", text("Its key")),
                ("reason", maybe_text("Why it was not stored")),
                ("sources", list(&text("A source"), "What is checked before it is returned")),
                (
                    "unwatched",
                    list(&text("A path"), "Paths that are not watched, because they do not exist"),
                ),
                ("expires_at", maybe_text("When it expires; null means never")),
                message(),
            ],
            &["stored", "key", "reason", "sources", "message"],
        )
    },
    nature: ToolEffect::Replaces,
    load: ToolVisibility::WhenFound,
    run,
};

#[derive(Deserialize)]
struct CacheStoreArguments {
    #[serde(flatten)]
    asked: ResultArguments,
    result: Value,
    sources: Option<OneOrMany>,
    token: Option<String>,
    ttl: Option<Value>,
    #[serde(default)]
    tags: OneOrMany,
    #[serde(default)]
    cost: CostArguments,
}

#[derive(Deserialize, Default)]
struct CostArguments {
    seconds: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    dollars: Option<f64>,
}

fn run(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let CacheStoreArguments { asked, result, sources, token, ttl, tags, cost } =
        arguments::read(arguments)?;
    let named = asked.resolve(services)?;
    named.must_be_a_result(services)?;
    let ttl = ttl.map_or(Ok(services.app.settings.cache.ttl), |ttl| arguments::ttl("ttl", &ttl))?;
    let since = token.as_deref().map(SinceToken::parse).transpose().map_err(|_| {
        Error::usage("token: expected the token of cache_lookup's miss; or leave it out")
    })?;
    let cost = cost.resolve()?;
    // Always as JSON, because `recoup cache` reads it too.
    let body = serde_json::to_vec(&result).map_err(|error| {
        Error::new(ErrorKind::Invalid, "the result can't be serialized").with_source(error)
    })?;
    let is_named = sources.is_some();
    let sources = named.sources(services, sources);
    let unwatched = if is_named { Vec::new() } else { named.unwatched(&sources) };
    let SelectedResult { id, parts, identity, .. } = named;
    services.app.prepare_cache()?;
    let permit = services.cache.permit(&id, &services.app.view(), &sources)?;
    let tags = tags.into_vec();
    let draft = Draft { identity, cost, parts, tags, ..Draft::new(Kind::Result, body) };
    let unchanged = match since {
        Some(since) => permit.require_unchanged_since(&since),
        None => Ok(permit),
    };
    let filled = match unchanged {
        Ok(permit) => permit.fill(draft, ttl)?,
        Err(refusal) => FillOutcome::Refused(refusal),
    };
    let until = ttl.as_millis().map(|millis| services.cache.clock().now().plus_millis(millis));
    let kept =
        StoreReport { key: id.key.as_str(), sources: &sources, unwatched: &unwatched, until };
    Ok(kept.to_answer(services, &filled).into())
}

/// A stored or refused result, for the report.
struct StoreReport<'a> {
    key: &'a str,
    sources: &'a [String],
    /// Paths that did not exist, and are not watched.
    unwatched: &'a [String],
    /// None means forever.
    until: Option<Timestamp>,
}

impl StoreReport<'_> {
    fn to_answer(&self, services: &McpServices, filled: &FillOutcome) -> ToolAnswer {
        let reason = match filled {
            FillOutcome::Stored(_) => None,
            FillOutcome::Off if services.cache.enabled() => Some("the ttl is off".to_owned()),
            FillOutcome::Off => Some("the cache is switched off".to_owned()),
            FillOutcome::Refused(refusal) => {
                let advice = match refusal {
                    FillRefusal::SourceChanged(_) => {
                        ", or right before. If the result describes the files as they are now, \
                         call cache_lookup with the same sources, and cache_store with its token"
                    }
                    FillRefusal::SourcesDiffer => {
                        ". If the result describes the files as they are now, call cache_lookup \
                         for a new token"
                    }
                    FillRefusal::OtherSources => ": cache_lookup returns both",
                    _ => "",
                };
                Some(format!("{refusal}{advice}"))
            }
        };
        // File names may contain line breaks.
        let message = match &reason {
            Some(why) => format!("Not stored: {}.", one_line(why)),
            None => self.validity_text(),
        };
        let until = self.until.filter(|_| reason.is_none()).map(|until| until.to_string());
        let data = json!({
            "stored": reason.is_none(), "key": self.key, "reason": reason, "sources": self.sources,
            "unwatched": self.unwatched, "expires_at": until,
        });
        ToolAnswer::with_message(&message, message.as_str(), data)
    }

    /// Describes how long the result is valid.
    fn validity_text(&self) -> String {
        let Self { key, sources, unwatched, until } = self;
        let names = |paths: &[String]| {
            paths.iter().map(|path| one_line(path)).collect::<Vec<_>>().join(", ")
        };
        let until = match until {
            Some(until) => format!("until {until}"),
            None => "forever".to_owned(),
        };
        let watched = match sources {
            [] => format!("No file is watched for it: it is valid {until}."),
            sources => {
                format!("It is valid {until}, as long as these do not change: {}.", names(sources))
            }
        };
        let unwatched = match unwatched {
            [] => String::new(),
            unwatched => format!(" Not watched, because they do not exist: {}.", names(unwatched)),
        };
        format!("Stored under {key}. {watched}{unwatched}")
    }
}

impl CostArguments {
    fn resolve(&self) -> Result<ProductionCost> {
        let Self { seconds, input_tokens, output_tokens, dollars } = *self;
        let millis = seconds.map(|seconds| {
            let time = std::time::Duration::try_from_secs_f64(seconds);
            time.ok().and_then(|time| u64::try_from(time.as_millis()).ok())
        });
        let sum = dollars.map(to_micro_dollars);
        if millis == Some(None) || sum == Some(None) {
            return Err(Error::usage(
                "cost: expected numbers of at least 0 for seconds and dollars",
            ));
        }
        Ok(ProductionCost {
            millis: millis.flatten(),
            input_tokens,
            output_tokens,
            micro_dollars: sum.flatten(),
        })
    }
}

/// Decodes a stored result into its text and its value.
pub(super) fn decode_result(bytes: &[u8]) -> Result<(String, Value)> {
    let unreadable =
        |error| Error::new(ErrorKind::Corrupt, "the stored result is not JSON").with_source(error);
    let raw: &RawValue = serde_json::from_slice(bytes).map_err(unreadable)?;
    let value: Value = serde_json::from_str(raw.get()).map_err(unreadable)?;
    Ok(match value {
        Value::String(text) => (text.clone(), Value::String(text)),
        value if keeps_its_digits(raw.get()) => (raw.get().to_owned(), value),
        // A number that would lose digits is safe only in a text.
        _ => (raw.get().to_owned(), Value::String(raw.get().to_owned())),
    })
}

/// True if each number of a JSON text survives parsing.
fn keeps_its_digits(json: &str) -> bool {
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        if let Some(inside) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = inside.bytes().position(|byte| {
                let closes = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                closes
            });
            rest = end.map_or("", |end| &inside[end + 1..]);
            continue;
        }
        let in_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let (number, after) = rest.split_at(rest.find(|c| !in_number(c)).unwrap_or(rest.len()));
        if !is_exact(number) {
            return false;
        }
        rest = after;
    }
    true
}

/// True for integers of 64 bits, numbers of up to 15 digits, and those that we would write the
/// same.
fn is_exact(number: &str) -> bool {
    let same = |read: serde_json::Number| read.to_string() == number;
    if serde_json::from_str(number).is_ok_and(same) {
        return true;
    }
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    let digits = digits.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit);
    digits.count() <= 15
}
