//! Parsing of JSON text into a syntax tree.

use crate::clients::{JsonDialect, replace_lone_surrogates};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::SettingsSyntaxError;
use super::node::{SyntaxList, SyntaxNode, SyntaxPart};

/// JSON text, split at its value.
#[derive(Debug, Clone)]
pub(crate) struct JsonText {
    /// Blanks and comments before and behind the value.
    pub(crate) before: String,
    pub(crate) root: SyntaxNode,
    pub(crate) behind: String,
}

/// Parses a text; none if it has no value.
pub(crate) fn parse(
    text: &str,
    dialect: JsonDialect,
) -> Result<Option<JsonText>, SettingsSyntaxError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    if dialect == JsonDialect::Strict {
        check_strict_json(text)?;
    }
    let whole = replace_lone_surrogates(text);
    let more = dialect == JsonDialect::Comments;
    let options = ParseOptions {
        allow_comments: more,
        allow_trailing_commas: more,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(&whole, &CollectOptions::default(), &options);
    let parsed = parsed.map_err(|error| {
        let said = error.kind().to_string();
        let mut letters = said.chars();
        let first = letters.next().into_iter().flat_map(char::to_lowercase);
        let what: String = first.chain(letters).collect();
        SettingsSyntaxError::at(text, error.range().start, what)
    })?;
    Ok(parsed.value.map(|value| {
        let range = value.range();
        JsonText {
            before: text[..range.start].to_owned(),
            root: build_node(text, &value),
            behind: text[range.end..].to_owned(),
        }
    }))
}

/// Converts a node of JSON; of duplicate names, the last counts, as for clients.
pub(crate) fn node_to_json(node: &SyntaxNode) -> Value {
    match node {
        SyntaxNode::Object(list) => {
            let fields = list.items.iter().map(|it| (it.name.concat(), node_to_json(&it.value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        SyntaxNode::Array(list) => list.items.iter().map(|it| node_to_json(&it.value)).collect(),
        SyntaxNode::Scalar(text) => {
            serde_json::from_str(&replace_lone_surrogates(text)).unwrap_or_default()
        }
    }
}

/// Checks with `serde_json`, which alone decides what JSON is and has the familiar messages.
fn check_strict_json(text: &str) -> Result<(), SettingsSyntaxError> {
    let Err(error) = serde_json::from_str::<IgnoredAny>(text) else { return Ok(()) };
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let byte = (line_start + error.column().saturating_sub(1)).min(text.len());
    let byte = (0..=byte).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let comment = ["//", "/*"].iter().any(|start| text[byte..].starts_with(start));
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or(&said);
    let what = if comment { "comments are not allowed here" } else { said };
    Err(SettingsSyntaxError::at(text, byte, what))
}

fn build_node(text: &str, value: &ast::Value<'_>) -> SyntaxNode {
    let range = value.range();
    let part = |name: Option<&str>, value: &ast::Value<'_>| SyntaxPart {
        name: name.map(str::to_owned).into_iter().collect(),
        span: value.range().start..value.range().end,
        value: build_node(text, value),
    };
    let list = |parts| SyntaxList::build(text, range.start + 1..range.end - 1, parts);
    match value {
        ast::Value::Object(object) => {
            let parts = object.properties.iter();
            SyntaxNode::Object(list(
                parts.map(|it| part(Some(it.name.as_str()), &it.value)).collect(),
            ))
        }
        ast::Value::Array(array) => {
            SyntaxNode::Array(list(array.elements.iter().map(|it| part(None, it)).collect()))
        }
        _ => SyntaxNode::Scalar(text[range.start..range.end].to_owned()),
    }
}
