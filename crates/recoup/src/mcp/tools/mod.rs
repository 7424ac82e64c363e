//! The tools, one file each or for each pair. A tool is a row: what it is called, what it
//! takes and gives, and what it does.

mod arguments;
mod cache_explain;
mod cache_invalidate;
mod cache_lookup;
mod cache_stats;
mod cache_store;
mod checkpoint;
mod delete_memory;
mod load_rules;
mod named;
mod note;
mod schema;
mod search_memory;
mod store_memory;

use std::sync::Arc;

use recoup_core::Result;
use recoup_core::memory::NoteId;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::turns::Access;
use super::{Manner, Surroundings};

pub(super) use delete_memory::forget;
pub(super) use note::{line, report};
pub(super) use store_memory::promote;

/// What a tool is.
pub(super) struct Spec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Value,
    output: fn() -> Value,
    nature: Nature,
    load: Load,
    pub(super) run: fn(&dyn Surroundings, JsonObject) -> Result<Answer>,
}

/// What calling it does to the world, for clients that ask their user first.
enum Nature {
    /// Nothing.
    Reads,
    /// It adds; the same call again changes nothing more.
    Keeps,
    /// It takes away.
    Removes,
}

/// Whether a client should show it to the model from the start.
#[derive(PartialEq, Eq)]
enum Load {
    WhenFound,
    Always,
    /// Not where hooks do the same.
    UnlessHooked,
}

/// What a tool answers: text for the model, the same as data, and what the user may be
/// asked about it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) data: Value,
    pub(super) question: Option<Question>,
}

/// Something that is the user's to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) if_agreed: Agreed,
}

/// What is done when the user agrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Agreed {
    /// An agent's note becomes the user's own.
    Promote(NoteId),
    /// A statement of the user's is removed for good.
    Forget(NoteId),
}

impl Answer {
    fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data, question: None }
    }

    fn asking(self, text: String, if_agreed: Agreed) -> Self {
        Self { question: Some(Question { text, if_agreed }), ..self }
    }
}

const TOOLS: [&Spec; 11] = [
    &load_rules::TOOL,
    &store_memory::TOOL,
    &search_memory::TOOL,
    &delete_memory::TOOL,
    &checkpoint::SAVE,
    &checkpoint::LOAD,
    &cache_lookup::TOOL,
    &cache_store::TOOL,
    &cache_invalidate::TOOL,
    &cache_explain::TOOL,
    &cache_stats::TOOL,
];

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Spec> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

/// All of them, as clients list them.
pub(super) fn list(manner: Manner) -> Vec<Tool> {
    TOOLS.into_iter().map(|tool| tool.listed(manner)).collect()
}

impl Spec {
    /// What it does to the engine.
    pub(super) fn access(&self) -> Access {
        match self.nature {
            Nature::Reads => Access::Reads,
            Nature::Keeps | Nature::Removes => Access::Writes,
        }
    }

    /// As clients list it.
    pub(super) fn listed(&self, manner: Manner) -> Tool {
        let tool = Tool::new(self.name, self.description, Arc::new(object((self.input)())))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(object((self.output)())))
            .with_annotations(self.nature.annotations());
        let always = match self.load {
            Load::Always => true,
            Load::UnlessHooked => !manner.with_hooks,
            Load::WhenFound => false,
        };
        if !always {
            return tool;
        }
        let mut meta = MetaObject::new();
        meta.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
        tool.with_meta(meta)
    }
}

impl Nature {
    fn annotations(&self) -> ToolAnnotations {
        let known = ToolAnnotations::new().open_world(false);
        match self {
            Self::Reads => known.read_only(true),
            Self::Keeps => known.read_only(false).destructive(false).idempotent(true),
            Self::Removes => known.read_only(false).destructive(true).idempotent(true),
        }
    }
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
