//! `search_memory`, and a memory as an agent sees it.

use recoup_core::memory::lang::one_line;
use recoup_core::memory::recall::search::SearchQuery;
use recoup_core::memory::{Note, NoteFilter, NoteKind, NoteStatus, NoteTrust};
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::{closed, count, list, maybe_text, one_of, open, project, text};
use super::store_memory::kinds;
use super::{ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility, arguments};
use crate::mcp::McpServices;

/// Default number of results.
const DEFAULT_LIMIT: usize = 10;
/// Maximum number of results.
const MOST: usize = 100;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "search_memory",
    title: "Search what is remembered",
    description: "Find what is remembered, by words, identifiers or paths. Use it before asking \
                  the user what they may have said already. What the user has not confirmed is not \
                  a rule.",
    input: || {
        closed(
            &[
                ("query", json!({ "type": "string" })),
                (
                    "limit",
                    json!({
                        "type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT_LIMIT,
                    }),
                ),
                ("type", one_of(&kinds(), "Only this kind")),
                ("projectId", project()),
            ],
            &["query"],
        )
    },
    output: || {
        open(
            &[
                ("memories", list(&note_schema(), "What was found, the best first")),
                ("count", count(0, "Number of results")),
            ],
            &["memories", "count"],
        )
    },
    nature: ToolEffect::Reads,
    load: ToolVisibility::WhenFound,
    run,
};

#[derive(Deserialize)]
struct SearchMemoryArguments {
    query: String,
    limit: Option<usize>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "projectId")]
    project: Option<String>,
}

fn run(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let SearchMemoryArguments { query, limit, kind: wanted, project } = arguments::read(arguments)?;
    if query.trim().is_empty() {
        return Err(Error::usage("query: expected words to search for"));
    }
    let kinds = wanted.as_deref().map(NoteKind::parse).transpose()?;
    let scope = arguments::requested_scope(services, project.as_deref())?;
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let found = search(services, &query, &NoteFilter::active_in(&scope), kinds.as_slice(), limit)?;
    let reports: Vec<Value> = found.iter().map(note_report).collect();
    let data = json!({ "memories": reports, "count": reports.len() });
    Ok(ToolAnswer::new(results_text(&found), data).into())
}

/// Searches active notes and candidates, except untrusted ones, which come from tools.
pub(super) fn search(
    services: &McpServices,
    text: &str,
    wanted: &NoteFilter,
    kinds: &[NoteKind],
    limit: usize,
) -> Result<Vec<Note>> {
    let query = SearchQuery {
        scopes: &wanted.scopes,
        statuses: &[NoteStatus::Active, NoteStatus::Candidate],
        kinds,
        trust: NoteTrust::Inferred,
        limit,
        ..SearchQuery::new(text)
    };
    let found = services.memory.search(&query)?;
    Ok(found.into_iter().map(|(note, _)| note).collect())
}

/// Formats the results for an agent.
pub(super) fn results_text(found: &[Note]) -> String {
    match found {
        [] => "No matching memory.".to_owned(),
        found => found.iter().map(note_line).collect::<Vec<_>>().join("\n"),
    }
}

/// Note as data.
pub(in crate::mcp) fn note_report(note: &Note) -> Value {
    json!({
        "id": note.id.as_str(),
        "text": one_line(&note.text),
        "type": note.kind.as_str(),
        "status": note.status.as_str(),
        "trust": note.trust().as_str(),
        "scope": note.scope.to_string(),
        "paths": note.paths,
        "evidence": note.evidence,
        "updated_at": note.updated.to_string(),
    })
}

/// Schema of a note as data.
pub(super) fn note_schema() -> Value {
    open(
        &[
            ("id", text("The id of the memory")),
            ("text", text("The statement")),
            ("type", text("The kind of memory")),
            ("status", text("active: it is in force; candidate: not confirmed yet")),
            ("trust", text("stated: the user said it; agreed; recorded; inferred; untrusted")),
            ("scope", text("universal, or project:ID")),
            ("paths", maybe_text("The files it applies to; null means all")),
            ("evidence", count(0, "How often it was said or confirmed")),
            ("updated_at", text("When it was last said or changed")),
        ],
        &["id", "text", "type", "status", "trust", "scope"],
    )
}

/// Note as one line of text, which cannot break out of what surrounds it.
pub(in crate::mcp) fn note_line(note: &Note) -> String {
    let paths = note.paths.as_deref().map(|glob| format!("[only for {}] ", one_line(glob)));
    // How far an agent may rely on it.
    let label = match (note.status, note.trust()) {
        (NoteStatus::Candidate, _) => "not confirmed by the user",
        (NoteStatus::Superseded | NoteStatus::Retired, _) => "no longer counts",
        (NoteStatus::Active, NoteTrust::Stated) => "said by the user",
        (NoteStatus::Active, NoteTrust::Agreed) => "accepted by the user",
        (NoteStatus::Active, NoteTrust::Recorded) => "recorded by an agent for the user",
        (NoteStatus::Active, _) => "learned from earlier work",
    };
    format!(
        "- {}{} ({}, {label}, id {})",
        paths.unwrap_or_default(),
        one_line(&note.text),
        note.kind,
        note.id
    )
}
