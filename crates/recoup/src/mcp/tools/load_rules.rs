//! `load_rules`: what an agent is to keep to.

use recoup_core::Result;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::{closed, count, list, open, project, text};
use super::{Answer, Load, Nature, Spec, arguments};
use crate::mcp::{Surroundings, rules};

pub(super) const TOOL: Spec = Spec {
    name: "load_rules",
    title: "Load the user's rules",
    description: "Load what the user has said before: corrections, preferences and facts for this \
        project and for all of them. Call it once at the start of a conversation, before anything \
        else, and keep to what it returns. The same rules give the same text.",
    input,
    output,
    nature: Nature::Reads,
    load: Load::UnlessHooked,
    run,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(rename = "projectId")]
    project: Option<String>,
}

fn input() -> Value {
    closed(&[("projectId", project())], &[])
}

fn output() -> Value {
    let rule =
        open(&[("id", text("What it is called by")), ("text", text("The rule"))], &["id", "text"]);
    open(
        &[
            ("rules", list(&rule, "The rules, the most important first")),
            ("left_out", count(0, "How many more there are that did not fit")),
        ],
        &["rules", "left_out"],
    )
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Answer> {
    let Arguments { project } = arguments::read(arguments)?;
    let scope = arguments::scope(around, project.as_deref())?;
    let Some(block) = rules::block(around, &scope)? else {
        return Ok(Answer::new(rules::NONE, json!({ "rules": [], "left_out": 0 })));
    };
    let rules: Vec<Value> = block
        .included()
        .iter()
        .map(|rule| json!({ "id": rule.id.as_str(), "text": rule.line }))
        .collect();
    Ok(Answer::new(block.text(), json!({ "rules": rules, "left_out": block.left_out() })))
}
