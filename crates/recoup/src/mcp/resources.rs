//! The resources: the rules as an agent gets them, facts about the project, and recent
//! corrections. Clients may show them, add them to a context, and subscribe to them.

use recoup_core::Result;
use recoup_core::memory::{Note, NoteFilter, NoteId, NoteKind, NoteTrust};
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::json;

use super::McpServices;
use super::tools::{self, current_scope};

/// Maximum number of notes in a list.
const MOST: usize = 50;
/// URI prefix of a single memory.
const MEMORY: &str = "recoup://memory/";

/// A resource whose text is generated on each read.
struct ResourceSpec {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    priority: f32,
    text: fn(&McpServices) -> Result<String>,
}

const RESOURCES: [ResourceSpec; 3] = [
    ResourceSpec {
        uri: "recoup://rules",
        name: "rules",
        title: "The user's rules",
        description: "What the user has said before, for this project and for all: as load_rules \
            returns it",
        priority: 1.0,
        text: |services| tools::told_rules(services, &current_scope(services)),
    },
    ResourceSpec {
        uri: "recoup://knowledge",
        name: "knowledge",
        title: "What is known about the project",
        description: "Facts about this project, and how it is built, run and shipped",
        priority: 0.6,
        text: |services| {
            let kinds = [NoteKind::ProjectKnowledge, NoteKind::Devops];
            list_notes(
                services,
                |note| kinds.contains(&note.kind),
                "Nothing is known about this project yet.",
            )
        },
    },
    ResourceSpec {
        uri: "recoup://corrections",
        name: "corrections",
        title: "Recent corrections",
        description: "What the user has corrected, the latest first",
        priority: 0.8,
        text: |services| {
            list_notes(
                services,
                |note| note.kind == NoteKind::Correction && note.trust() > NoteTrust::Inferred,
                "The user has corrected nothing here yet.",
            )
        },
    },
];

/// Lists the resources for clients.
pub(super) fn list() -> Vec<Resource> {
    let listed = |kind: &ResourceSpec| {
        Resource::new(kind.uri, kind.name)
            .with_title(kind.title)
            .with_description(kind.description)
            .with_mime_type("text/plain")
            .with_annotations(
                Annotations::default()
                    .with_audience(vec![Role::Assistant])
                    .with_priority(kind.priority),
            )
    };
    RESOURCES.iter().map(listed).collect()
}

/// Lists the resource templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let memory = ResourceTemplate::new(format!("{MEMORY}{{id}}"), "memory")
        .with_title("One memory")
        .with_description("Everything about one memory, by its id")
        .with_mime_type("application/json");
    vec![memory]
}

/// True if the resource can be subscribed to.
pub(super) fn is_subscribable(uri: &str) -> bool {
    RESOURCES.iter().any(|kind| kind.uri == uri)
}

/// Reads a resource; none if the URI is unknown. Not cacheable: the user may change it at any
/// moment.
pub(super) fn read(services: &McpServices, uri: &str) -> Result<Option<ReadResourceResult>> {
    let contents = match uri.strip_prefix(MEMORY) {
        Some(id) => memory(services, uri, id)?,
        None => text(services, uri)?.map(|text| ResourceContents::text(text, uri)),
    };
    let fresh = |contents| {
        ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private)
    };
    Ok(contents.map(fresh))
}

/// Text of a resource that can be subscribed to.
pub(super) fn text(services: &McpServices, uri: &str) -> Result<Option<String>> {
    let kind = RESOURCES.iter().find(|kind| kind.uri == uri);
    kind.map(|kind| (kind.text)(services)).transpose()
}

/// Error for an unknown URI.
pub(super) fn not_found_error(uri: &str) -> ErrorData {
    let uri = tools::safe_name(uri);
    ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri })))
}

fn memory(services: &McpServices, uri: &str, id: &str) -> Result<Option<ResourceContents>> {
    let Ok(id) = NoteId::parse(id) else { return Ok(None) };
    let NoteFilter { scopes, .. } = NoteFilter::active_in(&current_scope(services));
    // As in a search: untrusted notes and those of other projects are hidden.
    let is_given =
        |note: &Note| scopes.contains(&note.scope) && note.trust() > NoteTrust::Untrusted;
    let note = services.memory.note(&id)?.filter(is_given);
    let shown = |note: Note| {
        ResourceContents::text(tools::note_report(&note).to_string(), uri)
            .with_mime_type("application/json")
    };
    Ok(note.map(shown))
}

fn list_notes(
    services: &McpServices,
    is_meant: impl Fn(&Note) -> bool,
    none: &str,
) -> Result<String> {
    let notes = services.memory.notes(&NoteFilter::active_in(&current_scope(services)))?;
    let given = notes.iter().filter(|note| note.trust() > NoteTrust::Untrusted && is_meant(note));
    let lines: Vec<String> = given.take(MOST).map(tools::note_line).collect();
    Ok(if lines.is_empty() { none.to_owned() } else { lines.join("\n") })
}
