//! Converts a model's arguments, which have been validated against the schema before (`validate`).

use recoup_core::base::project::ProjectId;
use recoup_core::base::ttl::Ttl;
use recoup_core::memory::{NoteId, NoteScope};
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::validate::quoted;
use crate::mcp::McpServices;

/// Deserializes the arguments of a tool.
pub(super) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|_| Error::usage("the arguments do not fit the tool's schema"))
}

/// Scope of a named project; by default the current one.
pub(super) fn requested_scope(services: &McpServices, project: Option<&str>) -> Result<NoteScope> {
    let Some(id) = project else { return Ok(current_scope(services)) };
    let id = ProjectId::parse(id).map_err(|_| {
        Error::usage(format!(
            "projectId: {} is no project's id; leave it out for the project at hand, which is {}",
            quoted(id),
            services.project().id()
        ))
    })?;
    Ok(NoteScope::Project(id))
}

/// Scope of the current project.
pub(in crate::mcp) fn current_scope(services: &McpServices) -> NoteScope {
    NoteScope::Project(services.project().id().clone())
}

/// Parses a memory's id.
pub(super) fn parse_note_id(text: &str) -> Result<NoteId> {
    NoteId::parse(text).map_err(|_| {
        Error::usage(format!(
            "id: {} is no id of a memory: these have eight letters and digits, as search_memory \
             and load_rules tell them",
            quoted(text)
        ))
    })
}

/// Parses a TTL.
pub(super) fn ttl(place: &str, given: &Value) -> Result<Ttl> {
    Ttl::from_json_with_unit(place, given).map_err(|_| {
        let given = given.as_str().map_or_else(|| given.to_string(), quoted);
        Error::usage(format!(
            "{place}: expected off, forever or a duration with a unit, such as 90s, 30m, 12h or \
             1h30m, not {given}"
        ))
    })
}

/// One string or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Several(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl OneOrMany {
    pub(super) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Several(texts) => texts,
        }
    }
}
