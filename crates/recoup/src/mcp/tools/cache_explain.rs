//! `cache_explain`: why a look-up is a hit or a miss.

use recoup_core::Result;
use recoup_core::cache::LookupRequest;
use recoup_core::key::Kind;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::result_arguments::{ResultArguments, SelectedResult, fields};
use super::schema::{closed, open, text};
use super::{ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility, arguments};
use crate::app::explain::ExplainReport;
use crate::human;
use crate::mcp::McpServices;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "cache_explain",
    title: "Explain a hit or a miss",
    description: "Say why cache_lookup would be a hit or a miss: which source changed, what \
        expired or was evicted, and how the nearest result differs. Nothing is counted or changed.",
    input,
    output,
    nature: ToolEffect::Reads,
    load: ToolVisibility::WhenFound,
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

fn run(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
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
