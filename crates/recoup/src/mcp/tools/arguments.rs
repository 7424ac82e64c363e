//! What a model sends, made into what a tool takes. A model reads its mistakes and
//! mends them, so an error names the field and what was expected.

use recoup_core::base::project::ProjectId;
use recoup_core::memory::NoteScope;
use recoup_core::{Error, Result};
use rmcp::model::JsonObject;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::mcp::Surroundings;

/// The arguments of a tool.
pub(super) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    // An argument that is null was not given.
    let given = arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
    serde_json::from_value(Value::Object(given))
        .map_err(|error| Error::usage(format!("the arguments do not fit the tool: {error}")))
}

/// For whom something is asked: the project at hand, unless another is named.
pub(super) fn scope(around: &dyn Surroundings, project: Option<&str>) -> Result<NoteScope> {
    let id = match project {
        None => around.project().id().clone(),
        Some(id) => ProjectId::parse(id).map_err(|_| {
            Error::usage(format!(
                "projectId: {id:?} is no project's id; leave it out for the project at hand, \
                 which is {}",
                around.project().id()
            ))
        })?,
    };
    Ok(NoteScope::Project(id))
}

/// Several texts; one may come alone.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |value: Value| match value {
            Value::String(text) => Ok(text),
            other => Err(D::Error::custom(format!("expected a string, not {}", sort(&other)))),
        };
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::default()),
            Value::Array(items) => items.into_iter().map(text).collect::<Result<_, _>>().map(Self),
            Value::String(text) => Ok(Self(vec![text])),
            other => Err(D::Error::custom(format!(
                "expected a string or an array of strings, not {}",
                sort(&other)
            ))),
        }
    }
}

fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
