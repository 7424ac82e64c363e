//! Syntax tree of a JSON text: every value with its span.

use std::ops::Range;

use crate::hooked::replace_lone_surrogates;
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::SettingsSyntaxError;

/// Extensions of JSON that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonDialect {
    /// None.
    Strict,
    /// Comments and trailing commas.
    Comments,
}

/// A value with its span.
#[derive(Debug, Clone)]
pub(crate) struct JsonSyntaxNode {
    pub(crate) span: Range<usize>,
    pub(crate) kind: JsonSyntaxKind,
}

/// Content of a value.
#[derive(Debug, Clone)]
pub(crate) enum JsonSyntaxKind {
    Object(Vec<JsonSyntaxMember>),
    Array(Vec<JsonSyntaxNode>),
    Scalar,
}

#[derive(Debug, Clone)]
pub(crate) struct JsonSyntaxMember {
    pub(crate) name: String,
    /// Start of the name.
    pub(crate) start: usize,
    pub(crate) value: JsonSyntaxNode,
}

impl JsonSyntaxNode {
    /// Returns the member of that name; the last of several, as clients do.
    pub(crate) fn member(&self, name: &str) -> Option<&JsonSyntaxMember> {
        self.members().iter().rev().find(|member| member.name == name)
    }

    /// Members of an object.
    pub(crate) fn members(&self) -> &[JsonSyntaxMember] {
        match &self.kind {
            JsonSyntaxKind::Object(members) => members,
            _ => &[],
        }
    }

    /// Elements of an array.
    pub(crate) fn elements(&self) -> &[Self] {
        match &self.kind {
            JsonSyntaxKind::Array(elements) => elements,
            _ => &[],
        }
    }

    /// Spans of the children, names included.
    pub(crate) fn children(&self) -> Vec<(usize, usize)> {
        match &self.kind {
            JsonSyntaxKind::Object(members) => {
                members.iter().map(|it| (it.start, it.value.span.end)).collect()
            }
            JsonSyntaxKind::Array(elements) => {
                elements.iter().map(|it| (it.span.start, it.span.end)).collect()
            }
            JsonSyntaxKind::Scalar => Vec::new(),
        }
    }

    /// Range between the brackets, if there is no value in them.
    pub(crate) fn empty_interior(&self) -> Option<Range<usize>> {
        let is_empty = !matches!(self.kind, JsonSyntaxKind::Scalar) && self.children().is_empty();
        is_empty.then(|| self.span.start + 1..self.span.end - 1)
    }

    /// Shifts the spans behind a range of text that gets another length.
    pub(crate) fn shift_spans(&mut self, range: &Range<usize>, length: usize) {
        let moved = |at: usize| if at >= range.end { at - range.len() + length } else { at };
        // Text inserted at a value's end does not belong to it.
        if self.span.end <= range.start {
            return;
        }
        self.span = moved(self.span.start)..moved(self.span.end);
        match &mut self.kind {
            JsonSyntaxKind::Object(members) => {
                for member in members {
                    member.start = moved(member.start);
                    member.value.shift_spans(range, length);
                }
            }
            JsonSyntaxKind::Array(elements) => {
                for element in elements {
                    element.shift_spans(range, length);
                }
            }
            JsonSyntaxKind::Scalar => {}
        }
    }

    /// Converts to a `serde_json` value.
    pub(crate) fn value(&self, text: &str) -> Value {
        match &self.kind {
            JsonSyntaxKind::Object(members) => {
                let fields = members.iter().map(|it| (it.name.clone(), it.value.value(text)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            JsonSyntaxKind::Array(elements) => elements.iter().map(|it| it.value(text)).collect(),
            JsonSyntaxKind::Scalar => {
                let scalar = text.get(self.span.clone()).unwrap_or_default();
                serde_json::from_str(&replace_lone_surrogates(scalar)).unwrap_or_default()
            }
        }
    }
}

/// Parses a text; none if it has no value.
pub(crate) fn parse(
    text: &str,
    dialect: JsonDialect,
) -> Result<Option<JsonSyntaxNode>, SettingsSyntaxError> {
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
    Ok(parsed.value.as_ref().map(node))
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

fn node(value: &ast::Value<'_>) -> JsonSyntaxNode {
    let range = value.range();
    let kind = match value {
        ast::Value::Object(object) => {
            let member = |property: &ast::ObjectProp<'_>| JsonSyntaxMember {
                name: property.name.as_str().to_owned(),
                start: property.range().start,
                value: node(&property.value),
            };
            JsonSyntaxKind::Object(object.properties.iter().map(member).collect())
        }
        ast::Value::Array(array) => {
            JsonSyntaxKind::Array(array.elements.iter().map(node).collect())
        }
        _ => JsonSyntaxKind::Scalar,
    };
    JsonSyntaxNode { span: range.start..range.end, kind }
}
