//! `cache_explain`: why a look-up is a hit or a miss.

use recoup_core::Result;
use recoup_core::cache::Request;
use recoup_core::key::Kind;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::named::{Asked, Named, fields};
use super::schema::{closed, open, text};
use super::{Answer, Load, Nature, Outcome, Spec, arguments};
use crate::mcp::Surroundings;

pub(super) const TOOL: Spec = Spec {
    name: "cache_explain",
    title: "Explain a hit or a miss",
    description: "Say why cache_lookup would be a hit or a miss: which source changed, what \
        expired or was evicted, and how the nearest result differs. Nothing is counted or changed.",
    input,
    output,
    nature: Nature::Reads,
    load: Load::WhenFound,
    run,
};

fn input() -> Value {
    closed(&fields(), &[])
}

fn output() -> Value {
    open(
        &[
            ("key", text("The key of this question")),
            ("scope", text("Who shares it")),
            ("kind", text("What sort of entry it is")),
            ("status", text("hit, stale or miss")),
            ("text", text("The same in a sentence")),
            ("causes", json!({ "type": "array", "description": "What is to be known" })),
            ("past", json!({ "type": "array", "description": "What happened to it" })),
            ("nearest", json!({ "type": ["object", "null"], "description": "The most like it" })),
        ],
        &["key", "status", "text", "causes"],
    )
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Outcome> {
    let asked: Asked = arguments::read(arguments)?;
    let Named { id, parts, .. } = asked.resolve(around)?;
    let (cache, view) = (around.cache(), around.view());
    // The kind of a bare key is known only if the entry exists.
    let stored = if parts.is_empty() { cache.head(&id).ok().flatten() } else { None };
    let kind = stored.map_or(Kind::Result, |head| head.header.kind);
    let explanation = cache.explain(&Request { parts: &parts, ..Request::new(kind, &id, &view) });
    let (data, lines) = around.explain(&explanation);
    Ok(Answer::new(lines.join("\n"), data).into())
}
