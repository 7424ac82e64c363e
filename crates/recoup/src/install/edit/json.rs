//! JSON settings of a client: values are inserted and removed as edits of the text.

use serde_json::Value;

use super::document::{Document, Outline};
use super::fresh::Fresh;
use super::style::Style;
use super::tree::{self, Dialect, Fault, Kind, Member, Node};

const BOM: &str = "\u{feff}";

/// A JSON file that is edited in place.
#[derive(Debug, Clone)]
pub(crate) struct Json {
    bom: bool,
    /// There was no value in it.
    bare: bool,
    document: Document,
    dialect: Dialect,
    /// Layout of the original text.
    style: Style,
    /// Objects and lists from which the last value was removed.
    emptied: Vec<Vec<Step>>,
}

/// Step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Name(String),
    Index(usize),
}

impl From<&str> for Step {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl Json {
    /// Parses a file; an empty object if it is empty or missing.
    pub(crate) fn read(bytes: Option<&[u8]>, dialect: Dialect) -> Result<Self, Fault> {
        let bytes = bytes.unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            Fault::at(&valid, valid.len(), "this is not UTF-8")
        })?;
        let (bom, text) = text.strip_prefix(BOM).map_or((false, text), |rest| (true, rest));
        let parsed = tree::parse(text, dialect)?;
        let bare = parsed.is_none();
        let (text, root) = match parsed {
            Some(root) => (text.to_owned(), root),
            None => with_object(text),
        };
        if !matches!(root.kind, Kind::Object(_)) {
            return Err(Fault::at(&text, root.span.start, "an object is expected here: { … }"));
        }
        let style = Style::of(&text, &root);
        let document = Document { text, root };
        Ok(Self { bom, bare, document, dialect, style, emptied: Vec::new() })
    }

    /// True if the file had no object.
    pub(crate) fn was_bare(&self) -> bool {
        self.bare
    }

    /// The file without its empty object: comments alone, or nothing.
    pub(crate) fn bytes_without_object(&self) -> Vec<u8> {
        let bom = if self.bom { BOM } else { "" };
        let (text, span) = (&self.document.text, &self.document.root.span);
        let behind = &text[span.end..];
        let line = behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix('\n'));
        [bom, &text[..span.start], line.unwrap_or(behind)].concat().into_bytes()
    }

    /// Content of the edited file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let bom = if self.bom { BOM } else { "" };
        [bom.as_bytes(), self.document.text.as_bytes()].concat()
    }

    /// True if the object is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.document.root.blank_inside().is_some()
    }

    /// Returns the value at a path, if there is one.
    pub(crate) fn at(&self, path: &[Step]) -> Option<Value> {
        self.find(path).map(|node| node.value(&self.document.text))
    }

    /// Returns an error at the position of a path.
    pub(crate) fn fault_at(&self, path: &[Step], what: &str) -> Fault {
        let at = self.find(path).map_or(0, |node| node.span.start);
        Fault::at(&self.document.text, at, what)
    }

    /// Sets a field of an object: replaces its value, or appends it.
    pub(crate) fn set(&mut self, object: &[Step], name: &str, value: &Fresh) {
        let Some(node) = self.find(object) else { return };
        let Kind::Object(members) = &node.kind else { return };
        match members.iter().rposition(|member| member.name == name) {
            Some(at) if members[at].value.value(&self.document.text) == value.value() => {}
            Some(at) => {
                let span = members[at].value.span.clone();
                let written = self.style.write(value);
                self.document.splice(span.clone(), &written);
                self.members_at(object)[at].value = placed(&written, span.start);
            }
            None => {
                let (outline, element) = (Outline::of(node), self.style.member(name, value));
                let start = self.document.append(&outline, &self.style, &element);
                let written = self.style.write(value);
                let value = placed(&written, start + element.len() - written.len());
                self.members_at(object).push(Member { name: name.to_owned(), start, value });
            }
        }
    }

    /// Appends a value to an array.
    pub(crate) fn push(&mut self, array: &[Step], value: &Fresh) {
        let Some(node) = self.find(array) else { return };
        let Kind::Array(_) = &node.kind else { return };
        let (outline, element) = (Outline::of(node), self.style.write(value));
        let start = self.document.append(&outline, &self.style, &element);
        if let Some(Node { kind: Kind::Array(elements), .. }) = self.find_mut(array) {
            elements.push(placed(&element, start));
        }
    }

    /// Removes the value at a path.
    pub(crate) fn remove(&mut self, path: &[Step]) {
        let Some((last, above)) = path.split_last() else { return };
        let Some(parent) = self.find_mut(above) else { return };
        let (open, children) = (parent.span.start, parent.children());
        let at = match (&mut parent.kind, last) {
            (Kind::Object(members), Step::Name(name)) => {
                let at = members.iter().rposition(|member| member.name == *name);
                at.inspect(|at| drop(members.remove(*at)))
            }
            (Kind::Array(elements), Step::Index(index)) => {
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
        emptied.retain(|path| self.find(path).and_then(Node::blank_inside).is_some());
        if emptied.is_empty() {
            return;
        }
        let Ok(earlier) = Self::read(Some(earlier), self.dialect) else { return };
        // Line ends that were converted meanwhile are what the user wants.
        if earlier.style.newline != self.style.newline {
            return;
        }
        for path in emptied {
            let blank = |json: &Self| json.find(&path).and_then(Node::blank_inside);
            let (Some(here), Some(there)) = (blank(self), blank(&earlier)) else { continue };
            let there = &earlier.document.text[there];
            if self.document.text[here.clone()].trim() == there.trim() {
                self.document.splice(here, there);
            }
        }
    }

    fn find(&self, path: &[Step]) -> Option<&Node> {
        path.iter().try_fold(&self.document.root, |node, step| match step {
            Step::Name(name) => node.member(name).map(|member| &member.value),
            Step::Index(index) => node.elements().get(*index),
        })
    }

    fn find_mut(&mut self, path: &[Step]) -> Option<&mut Node> {
        path.iter().try_fold(&mut self.document.root, |node, step| match (&mut node.kind, step) {
            (Kind::Object(members), Step::Name(name)) => {
                let named = members.iter_mut().rev().find(|member| member.name == *name);
                named.map(|member| &mut member.value)
            }
            (Kind::Array(elements), Step::Index(index)) => elements.get_mut(*index),
            _ => None,
        })
    }

    fn members_at(&mut self, object: &[Step]) -> &mut Vec<Member> {
        match self.find_mut(object) {
            Some(Node { kind: Kind::Object(members), .. }) => members,
            _ => unreachable!("it was found to be an object"),
        }
    }
}

/// Appends an empty object to a text without a value, behind its comments.
fn with_object(text: &str) -> (String, Node) {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut said = if text.trim().is_empty() { String::new() } else { text.to_owned() };
    if !said.is_empty() && !said.ends_with('\n') {
        said.push_str(newline);
    }
    let span = said.len()..said.len() + 2;
    (said + "{}" + newline, Node { span, kind: Kind::Object(Vec::new()) })
}

/// Parses text of ours, with spans that start at `at`.
fn placed(text: &str, at: usize) -> Node {
    let parsed = tree::parse(text, Dialect::Strict).ok().flatten();
    let mut node = parsed.expect("what we write is JSON");
    node.give_way(&(0..0), at);
    node
}

#[cfg(test)]
mod tests;
