//! `cache_stats`: what this project's cache holds, and how often it was of use.

use std::collections::BTreeMap;

use recoup_core::Result;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::schema::{closed, count, flag, open, text};
use super::{ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility};
use crate::mcp::McpServices;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "cache_stats",
    title: "Tell what the cache holds",
    description: "Tell what the cache of this project holds, and how often it was of use.",
    input: || closed(&[], &[]),
    output,
    nature: ToolEffect::Reads,
    load: ToolVisibility::WhenFound,
    run,
};

fn output() -> Value {
    let number = |what| count(0, what);
    open(
        &[
            ("enabled", flag("Whether anything is kept")),
            ("scope", text("Who shares it")),
            ("entries", number("How many entries there are")),
            ("bytes", number("What they take")),
            ("hits", number("How many look-ups were hits")),
            ("misses", number("How many were not")),
            ("invalidations", number("Of these, because a source changed")),
            ("counts", json!({ "type": "object", "description": "What happened, how often" })),
        ],
        &["enabled", "scope", "entries", "bytes", "hits", "misses", "invalidations"],
    )
}

fn run(services: &McpServices, _: JsonObject) -> Result<ToolOutcome> {
    let (cache, scope) = (&services.cache, services.app.scope());
    let stats = cache.stats(&scope)?;
    let counts: BTreeMap<&str, u64> =
        stats.counts.iter().map(|(what, count)| (what.as_str(), *count)).collect();
    let (entries, bytes) = (stats.usage.entries, stats.usage.bytes);
    let (hits, misses) = (stats.hits(), stats.misses());
    let text = format!(
        "Entries: {entries}, with {bytes} bytes. Look-ups so far: hits {hits}, misses {misses}."
    );
    let data = json!({
        "enabled": cache.enabled(), "scope": scope.to_string(), "entries": entries, "bytes": bytes,
        "hits": hits, "misses": misses, "invalidations": stats.invalidations(), "counts": counts,
    });
    Ok(ToolAnswer::new(text, data).into())
}
