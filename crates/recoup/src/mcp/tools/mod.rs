//! The tools, one file each or for each pair. Each is a `ToolSpec`: name, schemas and function.

mod arguments;
mod cache_inspect;
mod cache_lookup;
mod cache_store;
mod checkpoint;
mod delete_memory;
mod load_rules;
mod schema;
mod search_memory;
mod store_memory;

use std::sync::{Arc, OnceLock};

use recoup_core::base::text::shorten_text;
use recoup_core::memory::{Note, RuleSuggestion};
use recoup_core::{Result, secrets};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::workers::EngineAccess;
use super::{ConfigStrictness, McpServices, ServerOptions};
pub(super) use arguments::current_scope;
pub(super) use load_rules::rules_text as told_rules;
pub(super) use search_memory::{note_line, note_report};

/// Definition of a tool.
pub(super) struct ToolSpec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Value,
    output: fn() -> Value,
    nature: ToolEffect,
    load: ToolVisibility,
    run: fn(&McpServices, JsonObject) -> Result<ToolOutcome>,
}

/// Effect of a call, for clients that ask their user first.
enum ToolEffect {
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
enum ToolVisibility {
    WhenFound,
    /// Always; with hooks, which do part of it, with this description.
    AlwaysAndHooked(&'static str),
    /// Always, except with hooks, which do the same; then with this description.
    UnlessHooked(&'static str),
}

/// Limit of an unknown name in an error, in characters.
const SHOWN: usize = 100;

/// An unknown name as an error may repeat it: short, and without secrets.
pub(super) fn safe_name(name: &str) -> String {
    shorten_text(&secrets::redact(name), SHOWN).into_owned()
}

/// Answer of a tool: text for the model, and data that says the same.
#[derive(Debug)]
pub(super) struct ToolAnswer {
    pub(super) text: String,
    pub(super) data: Value,
}

/// Result of a call.
#[derive(Debug)]
pub(super) enum ToolOutcome {
    /// Finished.
    Done(ToolAnswer),
    /// Needs the user's consent first.
    Asks(Box<ConsentProposal>),
}

impl From<ToolAnswer> for ToolOutcome {
    fn from(answer: ToolAnswer) -> Self {
        Self::Done(answer)
    }
}

impl ToolOutcome {
    /// Records what an agent notes, if the user allows this client's agents to.
    pub(super) fn record_if_allowed(self, services: &McpServices, client: &str) -> Result<Self> {
        match self {
            Self::Done(_) => Ok(self),
            Self::Asks(proposal) => proposal.record_if_allowed(services, client),
        }
    }

    /// Returns the answer without asking.
    pub(super) fn without_asking(self) -> ToolAnswer {
        match self {
            Self::Done(answer) => answer,
            Self::Asks(proposal) => proposal.unasked,
        }
    }
}

impl ToolAnswer {
    fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data }
    }

    /// Adds a message that stands in the text also to the data: existing clients give the model
    /// only one of the two, mostly the data.
    fn with_message(message: &str, text: impl Into<String>, mut data: Value) -> Self {
        data[MESSAGE] = message.into();
        Self::new(text, data)
    }
}

/// Field of the data with a message: what happened, and what to do or to tell the user.
const MESSAGE: &str = "message";

/// Tools that prompts use, too.
pub(super) const LOAD_RULES: &ToolSpec = &load_rules::TOOL;
pub(super) const SEARCH_MEMORY: &ToolSpec = &search_memory::TOOL;
pub(super) const LOAD_CHECKPOINT: &ToolSpec = &checkpoint::LOAD;

/// The tools in common use.
const COMMON: [&ToolSpec; 8] = [
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
static FILE_READERS: [&ToolSpec; 3] =
    [&cache_lookup::TOOL, &cache_store::TOOL, &cache_inspect::EXPLAIN];

/// Rarely used tools.
const RARE: [&ToolSpec; 3] =
    [&cache_inspect::INVALIDATE, &cache_inspect::EXPLAIN, &cache_inspect::STATS];

/// The tools that clients are told of, and how fully: many send the whole list to the model with
/// every request. Unlisted tools can be called all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolSet {
    /// Common tools, with short input schemas.
    Common,
    /// All tools, with complete schemas of input and output.
    All,
    /// None: the client has another server of ours.
    Nothing,
}

/// Finds a tool by name.
pub(super) fn find(name: &str) -> Option<&'static ToolSpec> {
    COMMON.into_iter().chain(RARE).find(|tool| tool.name == name)
}

/// Lists the tools for clients. Cached: the list is the same for the whole process.
pub(super) fn list(options: ServerOptions) -> &'static [Tool] {
    static LISTS: [OnceLock<Vec<Tool>>; 4] = [const { OnceLock::new() }; 4];
    if options.tools == ToolSet::Nothing {
        return &[];
    }
    let all = options.tools == ToolSet::All;
    LISTS[2 * usize::from(all) + usize::from(options.with_hooks)].get_or_init(|| {
        let rare = RARE.into_iter().filter(|_| all);
        COMMON.into_iter().chain(rare).map(|tool| tool.to_listing(options)).collect()
    })
}

impl ToolSpec {
    /// Kind of work with the engine.
    pub(super) fn access(&self) -> EngineAccess {
        match self.nature {
            _ if FILE_READERS.iter().any(|tool| tool.name == self.name) => EngineAccess::ReadsFiles,
            ToolEffect::Reads => EngineAccess::Reads,
            ToolEffect::Keeps | ToolEffect::Replaces | ToolEffect::Removes => EngineAccess::Writes,
        }
    }

    /// Rules are given even if the configuration is faulty.
    pub(super) fn config_strictness(&self) -> ConfigStrictness {
        if self.name == load_rules::TOOL.name {
            ConfigStrictness::Lenient
        } else {
            ConfigStrictness::Strict
        }
    }

    /// Validates the arguments and runs the tool.
    pub(super) fn call(
        &self,
        services: &McpServices,
        arguments: JsonObject,
    ) -> Result<ToolOutcome> {
        (self.run)(services, arguments::validate_arguments(&(self.input)(), arguments)?)
    }

    /// Describes the tool for clients.
    pub(super) fn to_listing(&self, options: ServerOptions) -> Tool {
        let description = match self.load {
            ToolVisibility::UnlessHooked(hooked) | ToolVisibility::AlwaysAndHooked(hooked)
                if options.with_hooks =>
            {
                hooked
            }
            _ => self.description,
        };
        let input = match options.tools {
            ToolSet::All => (self.input)(),
            ToolSet::Common | ToolSet::Nothing => schema::shortened(&(self.input)()),
        };
        let known = ToolAnnotations::new().open_world(false);
        let annotations = match self.nature {
            ToolEffect::Reads => known.read_only(true),
            ToolEffect::Keeps => known.read_only(false).destructive(false).idempotent(true),
            ToolEffect::Replaces | ToolEffect::Removes => {
                known.read_only(false).destructive(true).idempotent(true)
            }
        };
        let mut tool = Tool::new(self.name, description, Arc::new(object(input)))
            .with_title(self.title)
            .with_annotations(annotations);
        if options.tools == ToolSet::All {
            tool = tool.with_raw_output_schema(Arc::new(object((self.output)())));
        }
        let always = match self.load {
            ToolVisibility::AlwaysAndHooked(_) => true,
            ToolVisibility::UnlessHooked(_) => !options.with_hooks,
            ToolVisibility::WhenFound => false,
        };
        if !always {
            return tool;
        }
        let mut meta = MetaObject::new();
        meta.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
        tool.with_meta(meta)
    }
}

pub(super) fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// An action that needs the user's consent.
#[derive(Debug)]
pub(super) struct ConsentProposal {
    pub(super) question: ConsentQuestion,
    /// Answer if nobody can be asked, or nobody answers.
    pub(super) unasked: ToolAnswer,
    /// True if the note was unknown before the first question.
    pub(super) new: bool,
    /// True if the user has just said something on the topic.
    pub(super) just_said: bool,
    deed: ProposedAction,
}

/// Question for the user: all that a yes would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConsentQuestion {
    pub(super) text: String,
    /// Label of the field to tick.
    pub(super) tick: &'static str,
}

/// Action after consent.
#[derive(Debug)]
enum ProposedAction {
    /// Makes an agent's note the user's own.
    Agree(RuleSuggestion),
    /// Removes a rule, or another project's note, for good.
    Forget(Note),
}

impl ConsentProposal {
    /// Subject that an answer is tied to: the text shown, and this very note. One that is
    /// forgotten and stored again is another.
    pub(super) fn subject(&self) -> String {
        let note = match &self.deed {
            ProposedAction::Agree(suggestion) => &suggestion.note,
            ProposedAction::Forget(note) => note,
        };
        format!("{} {}", note.id, self.question.text)
    }

    /// Records an agent's note if the user allows this client to; otherwise still asks.
    fn record_if_allowed(self, services: &McpServices, client: &str) -> Result<ToolOutcome> {
        let recorded = match &self.deed {
            ProposedAction::Agree(suggestion) => {
                store_memory::record_suggestion(services, suggestion, self.new, client)?
            }
            ProposedAction::Forget(_) => None,
        };
        Ok(recorded.map_or_else(|| ToolOutcome::Asks(Box::new(self)), ToolOutcome::Done))
    }

    /// The user agreed.
    pub(super) fn carry_out(self, services: &McpServices) -> Result<ToolAnswer> {
        match self.deed {
            ProposedAction::Agree(suggestion) => {
                store_memory::accept_suggestion(services, &suggestion, self.new)
            }
            ProposedAction::Forget(note) => delete_memory::delete_agreed(services, &note),
        }
    }

    /// The user declined.
    pub(super) fn decline(self, services: &McpServices) -> Result<ToolAnswer> {
        match self.deed {
            ProposedAction::Agree(suggestion) => {
                store_memory::decline_suggestion(services, &suggestion, self.new)
            }
            ProposedAction::Forget(note) => Ok(delete_memory::declined_answer(&note)),
        }
    }
}
