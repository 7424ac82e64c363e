//! `cache_store`: an agent keeps a result, for itself and for others.

use recoup_core::base::clock::Timestamp;
use recoup_core::cache::{Filled, Refusal, Since};
use recoup_core::entry::{Cost, Draft, micro_dollars};
use recoup_core::key::Kind;
use recoup_core::memory::inject::one_line;
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::Texts;
use super::named::{Asked, Named, fields};
use super::schema::{
    closed, count, duration, flag, list, maybe_text, message, open, rare, text, texts, texts_of,
};
use super::{Answer, Load, Nature, Outcome, Spec, arguments, stored};
use crate::mcp::Surroundings;

/// Longer than any work takes.
const MOST_SECONDS: u64 = 1_000_000_000;
/// Limit of the stored representation.
const MOST_DOLLARS: u64 = 1_000_000_000;
/// Limit of a tag, in characters.
const MOST_TAG: u64 = 200;

pub(super) const TOOL: Spec = Spec {
    name: "cache_store",
    title: "Keep a result",
    description: "Keep a result that was costly to work out, under the words that cache_lookup was \
        asked with. When one of its sources changes, it is no longer given out.",
    input,
    output,
    nature: Nature::Replaces,
    load: Load::WhenFound,
    run,
};

#[derive(Deserialize)]
struct Arguments {
    #[serde(flatten)]
    asked: Asked,
    result: Value,
    sources: Option<Texts>,
    token: Option<String>,
    ttl: Option<Value>,
    #[serde(default)]
    tags: Texts,
    #[serde(default)]
    cost: Spent,
}

#[derive(Deserialize, Default)]
struct Spent {
    seconds: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    dollars: Option<f64>,
}

fn input() -> Value {
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
                "Files, directories and globs that it depends on: those of cache_lookup, and what \
                else was read",
            ),
        ),
        ("token", text("From the miss of cache_lookup")),
        ("ttl", duration("30m, 12h, 7d, forever")),
        ("tags", rare(texts_of(MOST_TAG, "For cache_invalidate"))),
        ("cost", rare(cost)),
    ]);
    closed(&all, &["result"])
}

fn output() -> Value {
    open(
        &[
            ("stored", flag("Whether it is kept")),
            ("key", text("Its key")),
            ("reason", maybe_text("Why it is not kept")),
            ("sources", list(&text("One of them"), "What is checked before it is given out")),
            ("unwatched", list(&text("One of them"), "The paths that are not: nothing is there")),
            ("expires_at", maybe_text("Until when it is given out; none means for ever")),
            message(),
        ],
        &["stored", "key", "reason", "sources", "message"],
    )
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Outcome> {
    let Arguments { asked, result, sources, token, ttl, tags, cost } = arguments::read(arguments)?;
    let named = asked.resolve(around)?;
    named.must_be_a_result(around)?;
    let ttl = ttl.map_or(Ok(around.ttl()), |ttl| arguments::ttl("ttl", &ttl))?;
    let since = token.as_deref().map(since).transpose()?;
    let (cost, body) = (cost.resolve()?, stored::body(&result)?);
    let is_named = sources.is_some();
    let sources = named.sources(around, sources);
    let unwatched = if is_named { Vec::new() } else { named.unwatched(&sources) };
    let Named { id, parts, identity, .. } = named;
    around.prepare_cache()?;
    let permit = around.cache().permit(&id, &around.view(), &sources)?;
    let tags = tags.into_vec();
    let draft = Draft { identity, cost, parts, tags, ..Draft::new(Kind::Result, body) };
    let unchanged = match since {
        Some(since) => permit.since(&since),
        None => Ok(permit),
    };
    let filled = match unchanged {
        Ok(permit) => permit.fill(draft, ttl)?,
        Err(refusal) => Filled::Refused(refusal),
    };
    let until = ttl.as_millis().map(|millis| around.cache().clock().now().plus_millis(millis));
    let kept = Kept { key: id.key.as_str(), sources: &sources, unwatched: &unwatched, until };
    Ok(kept.told(around, &filled).into())
}

/// A stored or refused result, for the report.
struct Kept<'a> {
    key: &'a str,
    sources: &'a [String],
    /// Paths that did not exist, and are not watched.
    unwatched: &'a [String],
    /// None means forever.
    until: Option<Timestamp>,
}

fn since(token: &str) -> Result<Since> {
    Since::parse(token).map_err(|_| {
        Error::usage("token: expected what cache_lookup gave at the miss; or leave it out")
    })
}

impl Kept<'_> {
    fn told(&self, around: &dyn Surroundings, filled: &Filled) -> Answer {
        let reason = match filled {
            Filled::Stored(_) => None,
            Filled::Off if around.cache().enabled() => Some("the ttl is off".to_owned()),
            Filled::Off => Some("the cache is switched off".to_owned()),
            Filled::Refused(refusal) => Some(format!("{refusal}{}", remedy(refusal))),
        };
        // File names may contain line breaks.
        let message = match &reason {
            Some(why) => format!("Not kept: {}.", one_line(why)),
            None => self.watched(),
        };
        let until = self.until.filter(|_| reason.is_none()).map(|until| until.to_string());
        let data = json!({
            "stored": reason.is_none(), "key": self.key, "reason": reason, "sources": self.sources,
            "unwatched": self.unwatched, "expires_at": until,
        });
        Answer::saying(&message, message.as_str(), data)
    }

    /// Describes how long the result is valid.
    fn watched(&self) -> String {
        let Self { key, sources, unwatched, until } = self;
        let names = |paths: &[String]| {
            paths.iter().map(|path| one_line(path)).collect::<Vec<_>>().join(", ")
        };
        let until = match until {
            Some(until) => format!("until {until}"),
            None => "for ever".to_owned(),
        };
        let watched = match sources {
            [] => format!("No file is watched for it: it is given out {until}."),
            sources => format!(
                "It is given out {until}, for as long as these stay as they are: {}.",
                names(sources)
            ),
        };
        let unwatched = match unwatched {
            [] => String::new(),
            unwatched => format!(
                " Not watched, because nothing to watch is there by that name: {}.",
                names(unwatched)
            ),
        };
        format!("Kept under {key}. {watched}{unwatched}")
    }
}

/// Advice for the agent.
fn remedy(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::SourceChanged(_) => {
            ", or right before. If the result is about the files as they are, call cache_lookup \
             with the same sources, and cache_store with its token"
        }
        Refusal::SourcesDiffer => {
            ". If the result is about the files as they are now, call cache_lookup for a new token"
        }
        Refusal::OtherSources => ": cache_lookup told them, and gives one",
        _ => "",
    }
}

impl Spent {
    fn resolve(&self) -> Result<Cost> {
        let Self { seconds, input_tokens, output_tokens, dollars } = *self;
        let millis = seconds.map(|seconds| {
            let time = std::time::Duration::try_from_secs_f64(seconds);
            time.ok().and_then(|time| u64::try_from(time.as_millis()).ok())
        });
        let sum = dollars.map(micro_dollars);
        if millis == Some(None) || sum == Some(None) {
            return Err(Error::usage("cost: seconds and dollars are numbers from 0 on"));
        }
        Ok(Cost {
            millis: millis.flatten(),
            input_tokens,
            output_tokens,
            micro_dollars: sum.flatten(),
        })
    }
}
