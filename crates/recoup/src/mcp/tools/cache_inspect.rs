//! Rarely used tools of the cache: `cache_explain`, `cache_invalidate` and `cache_stats`.

use std::collections::BTreeMap;

use recoup_core::cache::{EntrySelection, LookupRequest};
use recoup_core::key::{EntryId, Kind};
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::arguments::{ResultArguments, SelectedResult, fields, parse_key};
use super::schema::{LONGEST, closed, count, flag, open, short_text, text};
use super::{ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility, arguments};
use crate::app::explain::ExplainReport;
use crate::human;
use crate::mcp::McpServices;

pub(super) const EXPLAIN: ToolSpec = ToolSpec {
    name: "cache_explain",
    title: "Explain a hit or a miss",
    description: "Explain why cache_lookup would be a hit or a miss: which source changed, what \
                  expired or was evicted, and how the nearest result differs. Nothing is counted \
                  or changed.",
    input: || closed(&fields(), &[]),
    output: || {
        open(
            &[
                ("key", text("The key of this question")),
                ("scope", text("The scope of the entry")),
                ("kind", text("The kind of entry")),
                ("status", text("hit, stale or miss")),
                ("text", text("The status in a sentence")),
                ("causes", json!({ "type": "array", "description": "What caused the status" })),
                ("past", json!({ "type": "array", "description": "Earlier events of this entry" })),
                (
                    "nearest",
                    json!({ "type": ["object", "null"], "description": "The most similar entry" }),
                ),
            ],
            &["key", "status", "text", "causes"],
        )
    },
    nature: ToolEffect::Reads,
    load: ToolVisibility::WhenFound,
    run: explain,
};

fn explain(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let asked: ResultArguments = arguments::read(arguments)?;
    let SelectedResult { id, parts, .. } = asked.resolve(services)?;
    let (cache, view) = (&services.cache, services.app.view());
    // The kind of a bare key is known only if the entry exists.
    let stored = if parts.is_empty() { cache.head(&id).ok().flatten() } else { None };
    let kind = stored.map_or(Kind::Result, |head| head.header.kind);
    let explanation =
        cache.explain(&LookupRequest { parts: &parts, ..LookupRequest::new(kind, &id, &view) });
    let report = ExplainReport::new(&explanation);
    let data = serde_json::to_value(&report).expect("our own reports always serialize");
    let lines: Vec<String> =
        report.lines().iter().map(|line| human::printable(line).into_owned()).collect();
    Ok(ToolAnswer::new(lines.join("\n"), data).into())
}

pub(super) const INVALIDATE: ToolSpec = ToolSpec {
    name: "cache_invalidate",
    title: "Remove results",
    description: "Remove the results of this project that were made from certain files, have a \
                  tag, come from a kind of work, or have a key. Not needed for results whose \
                  sources changed: they are no longer returned.",
    input: || {
        let a_text = |what| short_text(LONGEST, what);
        closed(
            &[
                ("paths", a_text("A glob: results with a matching source; * also matches /")),
                ("tag", a_text("Results with this tag")),
                ("operation", a_text("Results of this kind of work")),
                ("key", a_text("The result with this key, and nothing else")),
            ],
            &[],
        )
    },
    output: || open(&[("invalidated", count(0, "How many were removed"))], &["invalidated"]),
    nature: ToolEffect::Removes,
    load: ToolVisibility::WhenFound,
    run: invalidate,
};

#[derive(Deserialize)]
struct CacheInvalidateArguments {
    paths: Option<String>,
    tag: Option<String>,
    operation: Option<String>,
    key: Option<String>,
}

fn invalidate(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let arguments: CacheInvalidateArguments = arguments::read(arguments)?;
    let (cache, scope) = (&services.cache, services.app.scope());
    let invalidated = match &arguments {
        CacheInvalidateArguments { key: Some(key), paths: None, tag: None, operation: None } => {
            usize::from(cache.remove(&EntryId::new(scope, parse_key(key)?))?)
        }
        CacheInvalidateArguments { key: Some(_), .. } => {
            return Err(Error::usage("give either a key, or paths, a tag or an operation"));
        }
        _ => cache.invalidate(&scope, &arguments.selection()?)?,
    };
    let results = if invalidated == 1 { "result" } else { "results" };
    let text = format!("Removed {invalidated} {results}.");
    Ok(ToolAnswer::new(text, json!({ "invalidated": invalidated })).into())
}

impl CacheInvalidateArguments {
    fn selection(&self) -> Result<EntrySelection> {
        let Self { paths, tag, operation, key: _ } = self;
        let selection =
            EntrySelection::from_criteria(paths.as_deref(), tag.as_deref(), operation.as_deref())?;
        selection
            .ok_or_else(|| Error::usage("which results? Give paths, a tag, an operation or a key"))
    }
}

pub(super) const STATS: ToolSpec = ToolSpec {
    name: "cache_stats",
    title: "Show what the cache holds",
    description: "Show what the cache of this project holds, and how often it was useful.",
    input: || closed(&[], &[]),
    output: || {
        let number = |what| count(0, what);
        open(
            &[
                ("enabled", flag("Whether the cache is enabled")),
                ("scope", text("The scope of the entries")),
                ("entries", number("Number of entries")),
                ("bytes", number("Their total size")),
                ("hits", number("Look-ups that were hits")),
                ("misses", number("Look-ups that were misses")),
                ("invalidations", number("Misses because a source changed")),
                ("counts", json!({ "type": "object", "description": "Events by kind" })),
            ],
            &["enabled", "scope", "entries", "bytes", "hits", "misses", "invalidations"],
        )
    },
    nature: ToolEffect::Reads,
    load: ToolVisibility::WhenFound,
    run: stats,
};

fn stats(services: &McpServices, _: JsonObject) -> Result<ToolOutcome> {
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
