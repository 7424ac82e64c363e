//! Checks an answer against the format that the agent file asks for.

use boon::{Compiler, SchemaIndex, Schemas, UrlLoader};
use recoup_core::{Error, Result};
use serde_json::Value;

use super::agent_file::FormatKind;

/// Address of the schema within the validator.
const SCHEMA_URL: &str = "recoup:/schema";
/// Most mistakes that the model is told about.
const MAX_MISTAKES: usize = 5;

/// Checks answers of one agent.
#[derive(Debug)]
pub(crate) struct AnswerCheck {
    kind: FormatKind,
    schema: Option<CompiledSchema>,
}

struct CompiledSchema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl std::fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CompiledSchema")
    }
}

/// Loads nothing: a schema of an agent file must not reach for other files.
struct NoOtherSchemas;

impl UrlLoader for NoOtherSchemas {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("{url} is outside of the schema").into())
    }
}

impl AnswerCheck {
    /// Compiles the schema; an error says why it is none.
    pub(crate) fn new(kind: FormatKind, schema: Option<&Value>) -> Result<Self> {
        let compile = |schema: &Value| -> Result<CompiledSchema> {
            let invalid =
                |error: &dyn std::fmt::Display| Error::usage(format!("not a JSON schema: {error}"));
            let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
            compiler.use_loader(Box::new(NoOtherSchemas));
            compiler.add_resource(SCHEMA_URL, schema.clone()).map_err(|error| invalid(&error))?;
            let index =
                compiler.compile(SCHEMA_URL, &mut schemas).map_err(|error| invalid(&error))?;
            Ok(CompiledSchema { schemas, index })
        };
        let schema = schema.map(compile).transpose()?;
        Ok(Self { kind, schema })
    }

    /// The answer as it is printed and kept; an error says, to the model, what is wrong with it.
    pub(crate) fn read(&self, text: &str) -> Result<String, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the answer is empty".to_owned());
        }
        if self.kind != FormatKind::Json {
            return Ok(text.to_owned());
        }
        let json = without_fence(text);
        let value: Value =
            serde_json::from_str(json).map_err(|error| format!("it is not JSON: {error}"))?;
        if let Some(CompiledSchema { schemas, index }) = &self.schema
            && let Err(error) = schemas.validate(&value, *index)
        {
            let mistakes = error.to_string();
            // The first line names the address of the schema.
            let mistakes: Vec<&str> =
                mistakes.lines().skip(1).map(str::trim).take(MAX_MISTAKES).collect();
            return Err(format!("it does not match the schema: {}", mistakes.join("; ")));
        }
        Ok(json.to_owned())
    }
}

/// JSON without the Markdown fence that models like to put around it.
fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        Some((_language, json)) => json.trim(),
        None => text,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail as tests do")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_checked_against_its_schema() {
        let schema = json!({ "type": "object", "required": ["ok"],
            "properties": { "ok": { "type": "boolean" } }, "additionalProperties": false });
        let check = AnswerCheck::new(FormatKind::Json, Some(&schema)).unwrap();
        assert_eq!(check.read(" {\"ok\": true}\n").unwrap(), "{\"ok\": true}");
        assert_eq!(check.read("```json\n{\"ok\": false}\n```").unwrap(), "{\"ok\": false}");
        for (answer, expected) in [
            ("", "the answer is empty"),
            ("Sure! {\"ok\": true}", "it is not JSON"),
            ("{}", "missing properties 'ok'"),
            ("{\"ok\": 1}", "/ok"),
            ("{\"ok\": true, \"more\": 1}", "additionalProperties 'more'"),
        ] {
            let error = check.read(answer).unwrap_err();
            assert!(error.contains(expected), "{answer}: {error}");
        }
    }

    #[test]
    fn a_schema_that_is_none_or_reaches_elsewhere_is_an_error() {
        for schema in [json!({ "type": "nothing" }), json!({ "$ref": "file:///etc/passwd" })] {
            let error = AnswerCheck::new(FormatKind::Json, Some(&schema)).unwrap_err();
            assert!(error.to_string().contains("not a JSON schema"), "{error}");
        }
    }

    #[test]
    fn text_is_only_trimmed() {
        let check = AnswerCheck::new(FormatKind::Text, None).unwrap();
        assert_eq!(check.read("\n```\ncode\n```\n").unwrap(), "```\ncode\n```");
    }
}
