//! `cache_invalidate`: results that an agent knows to be wrong.

use recoup_core::cache::EntrySelection;
use recoup_core::key::EntryId;
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::result_arguments::parse_key;
use super::schema::{LONGEST, closed, count, open, short_text};
use super::{ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility, arguments};
use crate::mcp::McpServices;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "cache_invalidate",
    title: "Forget results",
    description: "Forget the results of this project that were made from certain files, have a tag, \
        come from a kind of work, or have a key. Results whose sources changed need no call: they are \
        not given out any more.",
    input,
    output,
    nature: ToolEffect::Removes,
    load: ToolVisibility::WhenFound,
    run,
};

#[derive(Deserialize)]
struct CacheInvalidateArguments {
    paths: Option<String>,
    tag: Option<String>,
    operation: Option<String>,
    key: Option<String>,
}

fn input() -> Value {
    let a_text = |what| short_text(LONGEST, what);
    closed(
        &[
            ("paths", a_text("A glob: those with a source that matches; * also crosses /")),
            ("tag", a_text("Those with this tag")),
            ("operation", a_text("Those of this kind of work")),
            ("key", a_text("The one with this key, and nothing else")),
        ],
        &[],
    )
}

fn output() -> Value {
    open(&[("invalidated", count(0, "How many were forgotten"))], &["invalidated"])
}

fn run(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let arguments: CacheInvalidateArguments = arguments::read(arguments)?;
    let (cache, scope) = (&services.cache, services.app.scope());
    let invalidated = match &arguments {
        CacheInvalidateArguments { key: Some(key), paths: None, tag: None, operation: None } => {
            usize::from(cache.remove(&EntryId::new(scope, parse_key(key)?))?)
        }
        CacheInvalidateArguments { key: Some(_), .. } => {
            return Err(Error::usage("give either a key, or paths, a tag or an operation"));
        }
        _ => cache.invalidate(&scope, &arguments.selection()?)?,
    };
    let results = if invalidated == 1 { "result" } else { "results" };
    let text = format!("Forgot {invalidated} {results}.");
    Ok(ToolAnswer::new(text, json!({ "invalidated": invalidated })).into())
}

impl CacheInvalidateArguments {
    fn selection(&self) -> Result<EntrySelection> {
        let Self { paths, tag, operation, key: _ } = self;
        let selection =
            EntrySelection::from_criteria(paths.as_deref(), tag.as_deref(), operation.as_deref())?;
        selection
            .ok_or_else(|| Error::usage("which results? Give paths, a tag, an operation or a key"))
    }
}
