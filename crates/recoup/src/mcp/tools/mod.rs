//! The tools, one file each or for each pair. A tool is a row: what it is called, what it
//! takes and gives, and what it does.

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

/// What a tool is.
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

/// What calling it does to the world, for clients that ask their user first.
enum Nature {
    /// Nothing.
    Reads,
    /// It adds; the same call again changes nothing more.
    Keeps,
    /// It puts something in the place of what was there.
    Replaces,
    /// It takes away.
    Removes,
}

/// Whether a client should show it to the model from the start.
#[derive(PartialEq, Eq)]
enum Load {
    WhenFound,
    /// Also where hooks do part of the same; there it is described like this.
    AlwaysAndHooked(&'static str),
    /// Not where hooks do the same; there it is described like this.
    UnlessHooked(&'static str),
}

/// How much of a name that nobody knows is said back, in characters.
const SHOWN: usize = 100;

/// A name that nobody knows, as an error may repeat it: short, and without secrets.
pub(super) fn shown(name: &str) -> String {
    shortened(&secrets::redact(name), SHOWN).into_owned()
}

/// What a tool answers: text for the model, and the same as data.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) data: Value,
}

/// What came of a call.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It is done.
    Done(Answer),
    /// The user is to be asked before it is.
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

    /// Where nobody is asked.
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

    /// The same with a sentence that stands in the text and has to be among the data: clients
    /// there are give the model one of the two, and most of them the data.
    fn saying(message: &str, text: impl Into<String>, mut data: Value) -> Self {
        data[MESSAGE] = message.into();
        Self::new(text, data)
    }
}

/// The field of the data that says what happened, and what to do or to tell the user.
const MESSAGE: &str = "message";

/// What prompts say, too.
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

/// Those that hash files, which may be large and many.
static FILE_READERS: [&Spec; 3] = [&cache_lookup::TOOL, &cache_store::TOOL, &cache_explain::TOOL];

/// The others.
const RARE: [&Spec; 3] = [&cache_invalidate::TOOL, &cache_explain::TOOL, &cache_stats::TOOL];

/// The tools that clients are told of, and how fully: many send the whole list to the model with
/// every request. A tool that is not listed can be called all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolSet {
    /// Those in common use, with short schemas of what they take.
    Common,
    /// All of them, with complete schemas of what they take and give.
    All,
}

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Spec> {
    COMMON.into_iter().chain(RARE).find(|tool| tool.name == name)
}

/// The tools as clients list them. Made once: the list is the same for the whole process.
pub(super) fn list(manner: Manner) -> &'static [Tool] {
    static LISTS: [OnceLock<Vec<Tool>>; 4] = [const { OnceLock::new() }; 4];
    let all = manner.tools == ToolSet::All;
    LISTS[2 * usize::from(all) + usize::from(manner.with_hooks)].get_or_init(|| {
        let rare = RARE.into_iter().filter(|_| all);
        COMMON.into_iter().chain(rare).map(|tool| tool.listed(manner)).collect()
    })
}

impl Spec {
    /// What it does to the engine.
    pub(super) fn access(&self) -> Access {
        match self.nature {
            _ if FILE_READERS.iter().any(|tool| tool.name == self.name) => Access::ReadsFiles,
            Nature::Reads => Access::Reads,
            Nature::Keeps | Nature::Replaces | Nature::Removes => Access::Writes,
        }
    }

    /// Rules are given whatever the configuration says.
    pub(super) fn care(&self) -> ConfigCare {
        if self.name == load_rules::TOOL.name { ConfigCare::Lenient } else { ConfigCare::Strict }
    }

    /// Does what is asked, if that is what the schema says.
    pub(super) fn call(&self, around: &dyn Surroundings, arguments: JsonObject) -> Result<Outcome> {
        (self.run)(around, fit::fit(&(self.input)(), arguments)?)
    }

    /// As clients list it.
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
