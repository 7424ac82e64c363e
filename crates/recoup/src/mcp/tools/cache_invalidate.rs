//! `cache_invalidate`: results that an agent knows to be wrong.

use recoup_core::cache::Selection;
use recoup_core::key::Id;
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::named::parsed;
use super::schema::{LONGEST, closed, count, open, short_text};
use super::{Answer, Load, Nature, Outcome, Spec, arguments};
use crate::mcp::Surroundings;

pub(super) const TOOL: Spec = Spec {
    name: "cache_invalidate",
    title: "Forget results",
    description: "Forget the results of this project that were made from certain files, have a tag, \
        come from a kind of work, or have a key. Results whose sources changed need no call: they are \
        not given out any more.",
    input,
    output,
    nature: Nature::Removes,
    load: Load::WhenFound,
    run,
};

#[derive(Deserialize)]
struct Arguments {
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

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Outcome> {
    let arguments: Arguments = arguments::read(arguments)?;
    let (cache, scope) = (around.cache(), around.scope());
    let invalidated = match &arguments {
        Arguments { key: Some(key), paths: None, tag: None, operation: None } => {
            usize::from(cache.remove(&Id::new(scope, parsed(key)?))?)
        }
        Arguments { key: Some(_), .. } => {
            return Err(Error::usage("give either a key, or paths, a tag or an operation"));
        }
        _ => cache.invalidate(&scope, &arguments.selection()?)?,
    };
    let results = if invalidated == 1 { "result" } else { "results" };
    let text = format!("Forgot {invalidated} {results}.");
    Ok(Answer::new(text, json!({ "invalidated": invalidated })).into())
}

impl Arguments {
    fn selection(&self) -> Result<Selection> {
        let Self { paths, tag, operation, key: _ } = self;
        let selection = Selection::of(paths.as_deref(), tag.as_deref(), operation.as_deref())?;
        selection
            .ok_or_else(|| Error::usage("which results? Give paths, a tag, an operation or a key"))
    }
}
