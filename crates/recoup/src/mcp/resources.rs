//! The resources, and subscriptions to them. Memory is mostly changed by other processes, so its
//! files are polled, and a resource is read again after a change; also now and then without one,
//! because it depends on the project's files, too.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::memory::{Note, NoteFilter, NoteId, NoteKind, NoteTrust};
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ResourceUpdatedNotificationParam, Role,
};
use serde_json::json;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::tools::{self, current_scope};
use super::{ConfigStrictness, McpServices, ServerState};

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
        description: "What the user has said before, for this project and for all projects: the \
                      same text as load_rules returns",
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
                "The user has not corrected anything here yet.",
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
fn text(services: &McpServices, uri: &str) -> Result<Option<String>> {
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

/// Interval of polling.
const STEP: Duration = Duration::from_millis(500);

/// Polls after which the resource is read even if no file has changed.
const POLLS_PER_READ: u32 = 20;

/// A watched resource.
#[derive(Debug)]
pub(super) struct ResourceWatch {
    state: ServerState,
    uri: String,
    seen: ResourceSnapshot,
    /// Polls without a change since the last read.
    idle: u32,
}

/// Identity, size and time of a file; none if it does not exist.
type DatabaseFileStamp = Option<(u64, u64, i64, i64)>;

/// Files and text of the last read.
#[derive(Debug, Default)]
struct ResourceSnapshot {
    files: DatabaseStamps,
    text: Option<String>,
}

/// Stamps of the database and its log.
type DatabaseStamps = [DatabaseFileStamp; 2];

impl ResourceWatch {
    pub(super) async fn new(state: ServerState, uri: String) -> Self {
        let mut watch = Self { state, uri, seen: ResourceSnapshot::default(), idle: 0 };
        watch.poll_change().await;
        watch
    }

    /// Waits until the text of the resource changes.
    pub(super) async fn wait_for_change(&mut self) {
        loop {
            sleep(STEP).await;
            if self.poll_change().await {
                return;
            }
        }
    }

    /// Notification for the client.
    pub(super) fn update_notification(&self) -> ResourceUpdatedNotificationParam {
        ResourceUpdatedNotificationParam::new(self.uri.clone())
    }

    /// Returns true if the text has changed.
    async fn poll_change(&mut self) -> bool {
        self.idle += 1;
        let is_known = self.seen.text.is_some() && self.idle < POLLS_PER_READ;
        let known = is_known.then_some(self.seen.files);
        let (state, uri) = (self.state.clone(), self.uri.clone());
        // Unreadable now counts as unchanged.
        let Ok(Some(now)) = spawn_blocking(move || take_snapshot(&state, &uri, known)).await else {
            return false;
        };
        let changed = now.text != self.seen.text;
        (self.seen, self.idle) = (now, 0);
        changed
    }
}

/// Reads the resource; none if the files are unchanged.
fn take_snapshot(
    state: &ServerState,
    uri: &str,
    known: Option<DatabaseStamps>,
) -> Option<ResourceSnapshot> {
    let services = state.services(ConfigStrictness::Strict).ok()?;
    let path = services.memory.path();
    // Before the text, so that a change in between is seen next time.
    let files = [stamp(path), stamp(&fsx::with_suffix(path, "-wal"))];
    if known == Some(files) {
        return None;
    }
    let text = text(services, uri).ok()?;
    Some(ResourceSnapshot { files, text })
}

fn stamp(path: &Path) -> DatabaseFileStamp {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}
