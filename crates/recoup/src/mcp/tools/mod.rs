//! The tools, one file each or for each pair. Each is a `ToolSpec`: name, schemas and function.

mod arguments;
mod ask;
mod cache_explain;
mod cache_invalidate;
mod cache_lookup;
mod cache_stats;
mod cache_store;
mod checkpoint;
mod delete_memory;
mod fit;
mod load_rules;
mod named;
mod note;
mod schema;
mod search_memory;
mod store_memory;
mod stored;

use std::sync::{Arc, OnceLock};

use recoup_core::base::text::shortened;
use recoup_core::{Result, secrets};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::turns::Access;
use super::{ConfigCare, Manner, Surroundings};

pub(super) use arguments::here;
pub(super) use ask::{Proposal, Question};
pub(super) use load_rules::told as told_rules;
pub(super) use note::{line, report};

/// Definition of a tool.
pub(super) struct Spec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Value,
    output: fn() -> Value,
    nature: Nature,
    load: Load,
    run: fn(&dyn Surroundings, JsonObject) -> Result<Outcome>,
}

/// Effect of a call, for clients that ask their user first.
enum Nature {
    /// None.
    Reads,
    /// Adds; a repeated call changes nothing more.
    Keeps,
    /// Replaces something.
    Replaces,
    /// Removes something.
    Removes,
}

/// When a client should load the tool into the model's context.
#[derive(PartialEq, Eq)]
enum Load {
    WhenFound,
    /// Always; with hooks, which do part of it, with this description.
    AlwaysAndHooked(&'static str),
    /// Always, except with hooks, which do the same; then with this description.
    UnlessHooked(&'static str),
}

/// Limit of an unknown name in an error, in characters.
const SHOWN: usize = 100;

/// An unknown name as an error may repeat it: short, and without secrets.
pub(super) fn shown(name: &str) -> String {
    shortened(&secrets::redact(name), SHOWN).into_owned()
}

/// Answer of a tool: text for the model, and data that says the same.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) data: Value,
}

/// Result of a call.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Finished.
    Done(Answer),
    /// Needs the user's consent first.
    Asks(Box<Proposal>),
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self::Done(answer)
    }
}

impl Outcome {
    /// Records what an agent notes, if the user allows this client's agents to.
    pub(super) fn recorded_for(self, around: &dyn Surroundings, client: &str) -> Result<Self> {
        match self {
            Self::Done(_) => Ok(self),
            Self::Asks(proposal) => proposal.recorded_for(around, client),
        }
    }

    /// Returns the answer without asking.
    pub(super) fn unasked(self) -> Answer {
        match self {
            Self::Done(answer) => answer,
            Self::Asks(proposal) => proposal.unasked,
        }
    }
}

impl Answer {
    fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data }
    }

    /// Adds a message that stands in the text also to the data: existing clients give the model
    /// only one of the two, mostly the data.
    fn saying(message: &str, text: impl Into<String>, mut data: Value) -> Self {
        data[MESSAGE] = message.into();
        Self::new(text, data)
    }
}

/// Field of the data with a message: what happened, and what to do or to tell the user.
const MESSAGE: &str = "message";

/// Tools that prompts use, too.
pub(super) const LOAD_RULES: &Spec = &load_rules::TOOL;
pub(super) const SEARCH_MEMORY: &Spec = &search_memory::TOOL;
pub(super) const LOAD_CHECKPOINT: &Spec = &checkpoint::LOAD;

/// The tools in common use.
const COMMON: [&Spec; 8] = [
    LOAD_RULES,
    &store_memory::TOOL,
    SEARCH_MEMORY,
    &delete_memory::TOOL,
    &checkpoint::SAVE,
    LOAD_CHECKPOINT,
    &cache_lookup::TOOL,
    &cache_store::TOOL,
];

/// Tools that hash files, which may be large and many.
static FILE_READERS: [&Spec; 3] = [&cache_lookup::TOOL, &cache_store::TOOL, &cache_explain::TOOL];

/// Rarely used tools.
const RARE: [&Spec; 3] = [&cache_invalidate::TOOL, &cache_explain::TOOL, &cache_stats::TOOL];

/// The tools that clients are told of, and how fully: many send the whole list to the model with
/// every request. Unlisted tools can be called all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolSet {
    /// Common tools, with short input schemas.
    Common,
    /// All tools, with complete schemas of input and output.
    All,
}

/// Finds a tool by name.
pub(super) fn find(name: &str) -> Option<&'static Spec> {
    COMMON.into_iter().chain(RARE).find(|tool| tool.name == name)
}

/// Lists the tools for clients. Cached: the list is the same for the whole process.
pub(super) fn list(manner: Manner) -> &'static [Tool] {
    static LISTS: [OnceLock<Vec<Tool>>; 4] = [const { OnceLock::new() }; 4];
    let all = manner.tools == ToolSet::All;
    LISTS[2 * usize::from(all) + usize::from(manner.with_hooks)].get_or_init(|| {
        let rare = RARE.into_iter().filter(|_| all);
        COMMON.into_iter().chain(rare).map(|tool| tool.listed(manner)).collect()
    })
}

impl Spec {
    /// Kind of work with the engine.
    pub(super) fn access(&self) -> Access {
        match self.nature {
            _ if FILE_READERS.iter().any(|tool| tool.name == self.name) => Access::ReadsFiles,
            Nature::Reads => Access::Reads,
            Nature::Keeps | Nature::Replaces | Nature::Removes => Access::Writes,
        }
    }

    /// Rules are given even if the configuration is faulty.
    pub(super) fn care(&self) -> ConfigCare {
        if self.name == load_rules::TOOL.name { ConfigCare::Lenient } else { ConfigCare::Strict }
    }

    /// Validates the arguments and runs the tool.
    pub(super) fn call(&self, around: &dyn Surroundings, arguments: JsonObject) -> Result<Outcome> {
        (self.run)(around, fit::fit(&(self.input)(), arguments)?)
    }

    /// Describes the tool for clients.
    pub(super) fn listed(&self, manner: Manner) -> Tool {
        let description = match self.load {
            Load::UnlessHooked(hooked) | Load::AlwaysAndHooked(hooked) if manner.with_hooks => {
                hooked
            }
            _ => self.description,
        };
        let input = match manner.tools {
            ToolSet::All => (self.input)(),
            ToolSet::Common => schema::shortened(&(self.input)()),
        };
        let mut tool = Tool::new(self.name, description, Arc::new(object(input)))
            .with_title(self.title)
            .with_annotations(self.nature.annotations());
        if manner.tools == ToolSet::All {
            tool = tool.with_raw_output_schema(Arc::new(object((self.output)())));
        }
        let always = match self.load {
            Load::AlwaysAndHooked(_) => true,
            Load::UnlessHooked(_) => !manner.with_hooks,
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
            Self::Replaces | Self::Removes => {
                known.read_only(false).destructive(true).idempotent(true)
            }
        }
    }
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
