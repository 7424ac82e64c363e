//! `cache_store`: an agent keeps a result, for itself and for others.

use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{Filled, Since};
use recoup_core::entry::{Cost, Draft, micro_dollars};
use recoup_core::key::Kind;
use recoup_core::{Error, ErrorKind, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::Texts;
use super::named::{Asked, Named, fields};
use super::schema::{closed, count, flag, maybe_text, open, text, texts};
use super::{Answer, Load, Nature, Spec, arguments};
use crate::mcp::Surroundings;

pub(super) const TOOL: Spec = Spec {
    name: "cache_store",
    title: "Keep a result",
    description: "Keep a result that was costly to work out, under the words that cache_lookup was \
        asked with. Name the files that it depends on as sources: when one of them changes, the result \
        is no longer given out. Results with secrets are refused.",
    input,
    output,
    nature: Nature::Keeps,
    load: Load::WhenFound,
    run,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    key: Option<String>,
    paths: Option<Texts>,
    query: Option<String>,
    operation: Option<String>,
    result: Option<Value>,
    #[serde(default)]
    sources: Texts,
    token: Option<String>,
    ttl: Option<String>,
    #[serde(default)]
    tags: Texts,
    #[serde(default)]
    cost: Spent,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Spent {
    seconds: Option<f64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    dollars: Option<f64>,
}

fn input() -> Value {
    let cost = closed(
        &[
            ("seconds", json!({ "type": "number", "minimum": 0 })),
            ("input_tokens", count(0, "How many tokens went in")),
            ("output_tokens", count(0, "How many came out")),
            ("dollars", json!({ "type": "number", "minimum": 0 })),
        ],
        &[],
    );
    let mut all = fields();
    all.extend([
        (
            "result",
            json!({
                "type": ["object", "array", "string", "number", "boolean"],
                "description": "The result: JSON, or a text",
            }),
        ),
        ("sources", texts("The files, directories and globs that it depends on")),
        (
            "token",
            text(
                "What cache_lookup gave at the miss: nothing is kept if the sources have \
            changed since",
            ),
        ),
        ("ttl", text("How long it is good for: 30m, 12h, 7d, forever")),
        ("tags", texts("Words to find it by, for cache_invalidate")),
        ("cost", cost),
    ]);
    closed(&all, &["result"])
}

fn output() -> Value {
    open(
        &[
            ("stored", flag("Whether it is kept")),
            ("key", text("Its key")),
            ("reason", maybe_text("Why it is not kept")),
        ],
        &["stored", "key", "reason"],
    )
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Answer> {
    let Arguments { key, paths, query, operation, result, sources, token, ttl, tags, cost } =
        arguments::read(arguments)?;
    let result = result.ok_or_else(|| Error::usage("result: there is nothing to keep"))?;
    let Named { id, parts, identity } = Asked { key, paths, query, operation }.resolve(around)?;
    let ttl = ttl.as_deref().map_or(Ok(around.ttl()), |ttl| Ttl::parse("ttl", ttl))?;
    let since = token.as_deref().map(Since::parse).transpose()?;
    let cost = cost.resolve()?;
    around.prepare_cache()?;
    let permit = around.cache().permit(&id, &around.view(), &sources.0)?;
    let body = body(&result)?;
    let draft = Draft { identity, cost, parts, tags: tags.0, ..Draft::new(Kind::Result, body) };
    let unchanged = match since {
        Some(since) => permit.since(&since),
        None => Ok(permit),
    };
    let filled = match unchanged {
        Ok(permit) => permit.fill(draft, ttl)?,
        Err(refusal) => Filled::Refused(refusal),
    };
    let key = id.key.as_str();
    let (text, reason) = match &filled {
        Filled::Stored(_) => (format!("Kept under {key}."), None),
        Filled::Off => {
            let why = "the cache is switched off, or the ttl is off".to_owned();
            (format!("Not kept: {why}."), Some(why))
        }
        Filled::Refused(refusal) => (format!("Not kept: {refusal}."), Some(refusal.to_string())),
    };
    let data = json!({ "stored": reason.is_none(), "key": key, "reason": reason });
    Ok(Answer::new(text, data))
}

/// What is JSON already stays as it is, byte for byte; any other text is a JSON string.
fn body(result: &Value) -> Result<Vec<u8>> {
    let unwritable =
        |error| Error::new(ErrorKind::Invalid, "the result can't be written").with_source(error);
    match result {
        Value::String(text) if is_structure(text) => Ok(text.clone().into_bytes()),
        value => serde_json::to_vec(value).map_err(unwritable),
    }
}

fn is_structure(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok()
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
