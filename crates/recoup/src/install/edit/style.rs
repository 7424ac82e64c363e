//! Layout of a JSON text, so that additions look like the rest.

use serde_json::Value;

use super::fresh::NewValue;
use super::gap::{indent, line_break_before};
use super::tree::{JsonSyntaxKind, JsonSyntaxNode};

/// Layout of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonStyle {
    /// Indentation of one level.
    pub(super) unit: String,
    pub(super) newline: &'static str,
    /// True if a blank follows a colon and a comma.
    pub(super) spaced: bool,
    /// True if everything is on one line.
    pub(super) one_line: bool,
}

impl JsonStyle {
    /// Detects the layout of a text, with the usual one as default.
    pub(super) fn of(text: &str, root: &JsonSyntaxNode) -> Self {
        let one_line = !is_empty(root) && !text[root.span.clone()].contains('\n');
        let colon = first_member(root).map(|(name, value)| &text[name..value]);
        Self {
            unit: unit(text, root).unwrap_or("  ").to_owned(),
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            spaced: colon.map_or(!one_line, |between| between.ends_with([' ', '\t', '\n'])),
            one_line,
        }
    }

    /// Formats a value on one line.
    pub(super) fn write(&self, value: &NewValue) -> String {
        let comma = format!(",{}", self.blank());
        match value {
            NewValue::Object(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, it)| self.member(name, it)).collect();
                format!("{{{}}}", fields.join(&comma))
            }
            NewValue::List(items) => {
                let items: Vec<_> = items.iter().map(|item| self.write(item)).collect();
                format!("[{}]", items.join(&comma))
            }
            NewValue::Plain(scalar) => scalar.to_string(),
        }
    }

    /// Formats a field: name and value.
    pub(super) fn member(&self, name: &str, value: &NewValue) -> String {
        format!("{}:{}{}", Value::from(name), self.blank(), self.write(value))
    }

    fn blank(&self) -> &'static str {
        if self.spaced { " " } else { "" }
    }
}

fn is_empty(node: &JsonSyntaxNode) -> bool {
    node.members().is_empty() && node.elements().is_empty()
}

/// Start of the first name, and of its value.
fn first_member(node: &JsonSyntaxNode) -> Option<(usize, usize)> {
    match &node.kind {
        JsonSyntaxKind::Object(members) => {
            members.first().map(|member| (member.start, member.value.span.start))
        }
        JsonSyntaxKind::Array(elements) => elements.iter().find_map(first_member),
        JsonSyntaxKind::Scalar => None,
    }
}

/// Extra indentation of the first value on a line of its own, relative to its parent.
fn unit<'a>(text: &'a str, node: &JsonSyntaxNode) -> Option<&'a str> {
    let children: Vec<(usize, &JsonSyntaxNode)> = match &node.kind {
        JsonSyntaxKind::Object(members) => members.iter().map(|it| (it.start, &it.value)).collect(),
        JsonSyntaxKind::Array(elements) => elements.iter().map(|it| (it.span.start, it)).collect(),
        JsonSyntaxKind::Scalar => return None,
    };
    let of_child = |(start, child): &(usize, &JsonSyntaxNode)| {
        let own_line = line_break_before(text, *start).is_some();
        // Lazy, because the parent's line may be megabytes long.
        let more = || indent(text, *start).strip_prefix(indent(text, node.span.start));
        let more = own_line.then(more).flatten();
        more.filter(|more| !more.is_empty()).or_else(|| unit(text, child))
    };
    children.iter().find_map(of_child)
}
