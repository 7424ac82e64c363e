//! `load_rules`: what an agent is to keep to.

use recoup_core::Result;
use recoup_core::memory::inject::{Block, Budget, Included};
use recoup_core::memory::{NoteScope, Trust};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::{closed, count, list, message, one_of, open, project, text};
use super::{Answer, Load, Nature, Outcome, Spec, arguments};
use crate::mcp::Surroundings;

pub(super) const TOOL: Spec = Spec {
    name: "load_rules",
    title: "Load the user's rules",
    description: "Load what the user has said before: corrections, preferences, facts. Call \
        it once at the start of a conversation, before anything else, and keep to what it returns.",
    input,
    output,
    nature: Nature::Reads,
    load: Load::UnlessHooked(
        "Load what the user has said before: corrections, preferences, facts. You are given these \
        without asking; call it only if they are missing, or for another project.",
    ),
    run,
};

#[derive(Deserialize)]
struct Arguments {
    #[serde(rename = "projectId")]
    project: Option<String>,
}

fn input() -> Value {
    closed(&[("projectId", project())], &[])
}

fn output() -> Value {
    let rule = open(
        &[
            ("id", text("What it is called by")),
            ("text", text("The rule")),
            ("said_by", one_of(&["user", "team", "learned"], "Who says so; learned: nobody")),
        ],
        &["id", "text", "said_by"],
    );
    open(
        &[
            ("rules", list(&rule, "The rules, the most important first")),
            ("left_out", count(0, "How many more there are that did not fit")),
            message(),
        ],
        &["rules", "left_out", "message"],
    )
}

/// What is said where there is nothing to say.
const NONE: &str = "No rules are recorded for this project.";

/// The rules as a hook gives them, byte for byte.
pub(in crate::mcp) fn block(around: &dyn Surroundings, scope: &NoteScope) -> Result<Option<Block>> {
    let (memory, budget) = (around.memory(), Budget::default());
    match scope {
        NoteScope::Project(id) if id != around.project().id() => memory.block_elsewhere(id, budget),
        _ => memory.block(around.project(), budget),
    }
}

/// The same as text, which says so where there are none.
pub(in crate::mcp) fn told(block: Option<&Block>) -> String {
    block.map_or(NONE, Block::text).to_owned()
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Outcome> {
    let Arguments { project } = arguments::read(arguments)?;
    let scope = arguments::scope(around, project.as_deref())?;
    let block = block(around, &scope)?;
    let included = block.iter().flat_map(Block::included);
    let report = |rule: &Included| json!({ "id": rule.id.as_str(), "text": rule.line, "said_by": said_by(rule.trust) });
    let rules: Vec<Value> = included.map(report).collect();
    let left_out = block.as_ref().map_or(0, Block::left_out);
    let data = json!({ "rules": rules, "left_out": left_out });
    let message = if block.is_some() { Block::ABOUT } else { NONE };
    Ok(Answer::saying(message, told(block.as_ref()), data).into())
}

/// What the titles of the text say.
fn said_by(trust: Trust) -> &'static str {
    match trust {
        Trust::Stated => "user",
        Trust::Agreed => "team",
        Trust::Inferred | Trust::Untrusted => "learned",
    }
}
