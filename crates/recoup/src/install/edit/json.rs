//! JSON settings of a client: values are inserted and removed as edits of the text.

use serde_json::Value;

use super::document::{ContainerOutline, JsonDocument, JsonStyle};
use super::tree::{self, JsonDialect, JsonSyntaxKind, JsonSyntaxMember, JsonSyntaxNode};
use super::{NewValue, SettingsSyntaxError, split_bom};

/// A JSON file that is edited in place.
#[derive(Debug, Clone)]
pub(crate) struct JsonFile {
    /// Byte order mark, if there is one.
    bom: &'static str,
    /// There was no value in it.
    bare: bool,
    document: JsonDocument,
    dialect: JsonDialect,
    /// Layout of the original text.
    style: JsonStyle,
    /// Objects and lists from which the last value was removed.
    emptied: Vec<Vec<JsonPathStep>>,
}

/// Step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonPathStep {
    Name(String),
    Index(usize),
}

impl From<&str> for JsonPathStep {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<usize> for JsonPathStep {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl JsonFile {
    /// Parses a file; an empty object if it is empty or missing.
    pub(crate) fn read(
        bytes: Option<&[u8]>,
        dialect: JsonDialect,
    ) -> Result<Self, SettingsSyntaxError> {
        let bytes = bytes.unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            SettingsSyntaxError::at(&valid, valid.len(), "the file is not UTF-8")
        })?;
        let (bom, text) = split_bom(text);
        let parsed = tree::parse(text, dialect)?;
        let bare = parsed.is_none();
        let (text, root) = if let Some(root) = parsed {
            (text.to_owned(), root)
        } else {
            // Appends an empty object, behind any comments.
            let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
            let mut said = if text.trim().is_empty() { String::new() } else { text.to_owned() };
            if !said.is_empty() && !said.ends_with('\n') {
                said.push_str(newline);
            }
            let span = said.len()..said.len() + 2;
            let root = JsonSyntaxNode { span, kind: JsonSyntaxKind::Object(Vec::new()) };
            (said + "{}" + newline, root)
        };
        if !matches!(root.kind, JsonSyntaxKind::Object(_)) {
            return Err(SettingsSyntaxError::at(
                &text, root.span.start, "expected an object here: { … }",
            ));
        }
        let style = JsonStyle::of(&text, &root);
        let document = JsonDocument { text, root };
        Ok(Self { bom, bare, document, dialect, style, emptied: Vec::new() })
    }

    /// True if the file had no object.
    pub(crate) fn had_no_object(&self) -> bool {
        self.bare
    }

    /// The file without its empty object: comments alone, or nothing.
    pub(crate) fn bytes_without_object(&self) -> Vec<u8> {
        let (text, span) = (&self.document.text, &self.document.root.span);
        let behind = &text[span.end..];
        let line = behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix('\n'));
        [self.bom, &text[..span.start], line.unwrap_or(behind)].concat().into_bytes()
    }

    /// Content of the edited file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.bom.as_bytes(), self.document.text.as_bytes()].concat()
    }

    /// True if the object is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.document.root.empty_interior().is_some()
    }

    /// Returns the value at a path, if there is one.
    pub(crate) fn value_at(&self, path: &[JsonPathStep]) -> Option<Value> {
        self.find(path).map(|node| node.value(&self.document.text))
    }

    /// Returns an error at the position of a path.
    pub(crate) fn error_at(&self, path: &[JsonPathStep], what: &str) -> SettingsSyntaxError {
        let at = self.find(path).map_or(0, |node| node.span.start);
        SettingsSyntaxError::at(&self.document.text, at, what)
    }

    /// Sets a field of an object: replaces its value, or appends it.
    pub(crate) fn set(&mut self, object: &[JsonPathStep], name: &str, value: &NewValue) {
        let Some(node) = self.find(object) else { return };
        let JsonSyntaxKind::Object(members) = &node.kind else { return };
        match members.iter().rposition(|member| member.name == name) {
            Some(at) if members[at].value.value(&self.document.text) == value.value() => {}
            Some(at) => {
                let span = members[at].value.span.clone();
                let written = self.style.write(value);
                self.document.splice(span.clone(), &written);
                self.members_at(object)[at].value = parse_at(&written, span.start);
            }
            None => {
                let (outline, element) =
                    (ContainerOutline::of(node), self.style.member(name, value));
                let start = self.document.append(&outline, &self.style, &element);
                let written = self.style.write(value);
                let value = parse_at(&written, start + element.len() - written.len());
                self.members_at(object).push(JsonSyntaxMember {
                    name: name.to_owned(),
                    start,
                    value,
                });
            }
        }
    }

    /// Returns the source text of the value at a path.
    pub(crate) fn source_at(&self, path: &[JsonPathStep]) -> Option<&str> {
        self.find(path).map(|node| &self.document.text[node.span.clone()])
    }

    /// Replaces the value at a path with that of another text, to the byte.
    pub(crate) fn copy_value(&mut self, path: &[JsonPathStep], from: &Self) {
        let (Some(source), Some(node)) = (from.source_at(path), self.find(path)) else { return };
        let Ok(Some(mut value)) = tree::parse(source, from.dialect) else { return };
        let span = node.span.clone();
        value.shift_spans(&(0..0), span.start);
        self.document.splice(span, source);
        if let Some(node) = self.find_mut(path) {
            *node = value;
        }
    }

    /// Appends a value to an array.
    pub(crate) fn push(&mut self, array: &[JsonPathStep], value: &NewValue) {
        let Some(node) = self.find(array) else { return };
        let JsonSyntaxKind::Array(_) = &node.kind else { return };
        let (outline, element) = (ContainerOutline::of(node), self.style.write(value));
        let start = self.document.append(&outline, &self.style, &element);
        if let Some(JsonSyntaxNode { kind: JsonSyntaxKind::Array(elements), .. }) =
            self.find_mut(array)
        {
            elements.push(parse_at(&element, start));
        }
    }

    /// Removes the value at a path.
    pub(crate) fn remove(&mut self, path: &[JsonPathStep]) {
        let Some((last, above)) = path.split_last() else { return };
        let Some(parent) = self.find_mut(above) else { return };
        let (open, children) = (parent.span.start, parent.children());
        let at = match (&mut parent.kind, last) {
            (JsonSyntaxKind::Object(members), JsonPathStep::Name(name)) => {
                let at = members.iter().rposition(|member| member.name == *name);
                at.inspect(|at| drop(members.remove(*at)))
            }
            (JsonSyntaxKind::Array(elements), JsonPathStep::Index(index)) => {
                let at = Some(*index).filter(|index| *index < elements.len());
                at.inspect(|at| drop(elements.remove(*at)))
            }
            _ => None,
        };
        let Some(at) = at else { return };
        self.document.cut(open, &children, at);
        if children.len() == 1 {
            self.emptied.push(above.to_vec());
        }
    }

    /// Restores the blanks between brackets that were emptied, as an earlier text had them.
    pub(crate) fn restore_blanks(&mut self, earlier: &[u8]) {
        let mut emptied = std::mem::take(&mut self.emptied);
        emptied.retain(|path| self.find(path).and_then(JsonSyntaxNode::empty_interior).is_some());
        if emptied.is_empty() {
            return;
        }
        let Ok(earlier) = Self::read(Some(earlier), self.dialect) else { return };
        // Line ends that were converted meanwhile are what the user wants.
        if earlier.style.newline != self.style.newline {
            return;
        }
        for path in emptied {
            let blank = |json: &Self| json.find(&path).and_then(JsonSyntaxNode::empty_interior);
            let (Some(here), Some(there)) = (blank(self), blank(&earlier)) else { continue };
            let there = &earlier.document.text[there];
            if self.document.text[here.clone()].trim() == there.trim() {
                self.document.splice(here, there);
            }
        }
    }

    fn find(&self, path: &[JsonPathStep]) -> Option<&JsonSyntaxNode> {
        path.iter().try_fold(&self.document.root, |node, step| match step {
            JsonPathStep::Name(name) => node.member(name).map(|member| &member.value),
            JsonPathStep::Index(index) => node.elements().get(*index),
        })
    }

    fn find_mut(&mut self, path: &[JsonPathStep]) -> Option<&mut JsonSyntaxNode> {
        path.iter().try_fold(&mut self.document.root, |node, step| match (&mut node.kind, step) {
            (JsonSyntaxKind::Object(members), JsonPathStep::Name(name)) => {
                let named = members.iter_mut().rev().find(|member| member.name == *name);
                named.map(|member| &mut member.value)
            }
            (JsonSyntaxKind::Array(elements), JsonPathStep::Index(index)) => {
                elements.get_mut(*index)
            }
            _ => None,
        })
    }

    fn members_at(&mut self, object: &[JsonPathStep]) -> &mut Vec<JsonSyntaxMember> {
        match self.find_mut(object) {
            Some(JsonSyntaxNode { kind: JsonSyntaxKind::Object(members), .. }) => members,
            _ => unreachable!("it was found to be an object"),
        }
    }
}

/// Parses text of ours, with spans that start at `value_at`.
fn parse_at(text: &str, at: usize) -> JsonSyntaxNode {
    let parsed = tree::parse(text, JsonDialect::Strict).ok().flatten();
    let mut node = parsed.expect("what we write is JSON");
    node.shift_spans(&(0..0), at);
    node
}

#[cfg(test)]
mod tests;
