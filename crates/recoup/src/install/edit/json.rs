//! JSON in a client's file: values are put in and taken out as cuts in the text.

use serde_json::Value;

use super::fresh::Fresh;
use super::gap::{self, indent, line_break_before};
use super::style::Style;
use super::tree::{self, Dialect, Fault, Kind, Node};

const BOM: &str = "\u{feff}";

/// A text that is JSON, or was nothing.
#[derive(Debug, Clone)]
pub(crate) struct Json {
    bom: bool,
    text: String,
    dialect: Dialect,
}

/// A step from a value to one inside.
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
    /// What a file holds; an empty object where it holds nothing, or is not there.
    pub(crate) fn read(bytes: Option<&[u8]>, dialect: Dialect) -> Result<Self, Fault> {
        let bytes = bytes.unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            Fault::at(&valid, valid.len(), "this is not UTF-8")
        })?;
        let (bom, text) = text.strip_prefix(BOM).map_or((false, text), |rest| (true, rest));
        let this = |text: &str| Self { bom, text: text.to_owned(), dialect };
        let Some(root) = tree::parse(text, dialect)? else { return Ok(this("{}\n")) };
        match root.kind {
            Kind::Object(_) => Ok(this(text)),
            _ => Err(Fault::at(text, root.span.start, "an object is expected here: { … }")),
        }
    }

    /// The file as it is to be.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let bom = if self.bom { BOM } else { "" };
        [bom.as_bytes(), self.text.as_bytes()].concat()
    }

    /// What it amounts to.
    pub(crate) fn value(&self) -> Value {
        self.root().value(&self.text)
    }

    /// What is at a place amounts to; none where there is nothing.
    pub(crate) fn at(&self, path: &[Step]) -> Option<Value> {
        find(&self.root(), path).map(|node| node.value(&self.text))
    }

    /// Says that something else should be there.
    pub(crate) fn fault_at(&self, path: &[Step], what: &str) -> Fault {
        let at = find(&self.root(), path).map_or(0, |node| node.span.start);
        Fault::at(&self.text, at, what)
    }

    /// Puts a value under a name of an object, in place of another or behind the rest.
    pub(crate) fn set(&mut self, object: &[Step], name: &str, value: &Fresh) {
        let root = self.root();
        let is_object = |node: &&Node| matches!(node.kind, Kind::Object(_));
        let Some(node) = find(&root, object).filter(is_object) else { return };
        let style = Style::of(&self.text, &root);
        match node.member(name) {
            Some(member) if member.value.value(&self.text) == value.value() => {}
            Some(member) => self.text.replace_range(member.value.span.clone(), &style.write(value)),
            None => self.append(node, &style, &style.member(name, value)),
        }
    }

    /// Puts a value behind the others of an array.
    pub(crate) fn push(&mut self, array: &[Step], value: &Fresh) {
        let root = self.root();
        let is_array = |node: &&Node| matches!(node.kind, Kind::Array(_));
        let Some(node) = find(&root, array).filter(is_array) else { return };
        let style = Style::of(&self.text, &root);
        self.append(node, &style, &style.write(value));
    }

    /// Takes out what is at a place.
    pub(crate) fn remove(&mut self, path: &[Step]) {
        let root = self.root();
        let Some((last, parent)) = path.split_last() else { return };
        let Some(parent) = find(&root, parent) else { return };
        let (spans, at) = match (&parent.kind, last) {
            (Kind::Object(members), Step::Name(name)) => {
                let spans: Vec<_> =
                    members.iter().map(|it| (it.start, it.value.span.end)).collect();
                (spans, members.iter().rposition(|member| member.name == *name))
            }
            (Kind::Array(elements), Step::Index(index)) => {
                let spans: Vec<_> =
                    elements.iter().map(|it| (it.span.start, it.span.end)).collect();
                (spans, Some(*index).filter(|index| *index < elements.len()))
            }
            _ => return,
        };
        if let Some(at) = at {
            self.cut(parent, &spans, at);
        }
    }

    /// Always JSON: it was when it was read, and every cut leaves it so.
    fn root(&self) -> Node {
        let root = tree::parse(&self.text, self.dialect).ok().flatten();
        root.unwrap_or(Node { span: 0..0, kind: Kind::Scalar })
    }

    fn append(&mut self, node: &Node, style: &Style, element: &str) {
        let last = match &node.kind {
            Kind::Object(members) => members.last().map(|it| (it.start, it.value.span.end)),
            Kind::Array(elements) => elements.last().map(|it| (it.span.start, it.span.end)),
            Kind::Scalar => return,
        };
        match last {
            Some(last) => self.append_behind(last, node.span.end - 1, style, element),
            None => self.append_first(node, style, element),
        }
    }

    /// On a line of its own where the last one, or the closing bracket, has one.
    fn append_behind(
        &mut self,
        (start, end): (usize, usize),
        close: usize,
        style: &Style,
        element: &str,
    ) {
        let gap = gap::after(&self.text, end);
        let has_line = |at: usize| line_break_before(&self.text, at).is_some();
        let own_line = has_line(start) || has_line(close) || gap.open;
        let between = match (own_line, style.spaced) {
            (true, _) => format!("{}{}", style.newline, indent(&self.text, start)),
            (false, true) => " ".to_owned(),
            (false, false) => String::new(),
        };
        let comma = if gap.comma.is_some() { "," } else { "" };
        self.text.insert_str(gap.end, &format!("{between}{element}{comma}"));
        if gap.comma.is_none() {
            self.text.insert(end, ',');
        }
    }

    /// Comments that the empty brackets hold stay before it.
    fn append_first(&mut self, node: &Node, style: &Style, element: &str) {
        let inside = node.span.start + 1..node.span.end - 1;
        let kept = self.text[inside.clone()].trim_end().to_owned();
        if style.one_line {
            self.text.replace_range(inside, &format!("{kept}{element}"));
            return;
        }
        let Style { unit, newline, .. } = style;
        let outer = indent(&self.text, node.span.start).to_owned();
        let new = format!("{kept}{newline}{outer}{unit}{element}{newline}{outer}");
        self.text.replace_range(inside, &new);
    }

    /// Cuts the child at `at` out of its parent, with the comma that it no longer needs.
    fn cut(&mut self, parent: &Node, spans: &[(usize, usize)], at: usize) {
        let (start, end) = spans[at];
        let gap = gap::after(&self.text, end);
        let line = line_break_before(&self.text, start);
        let next = spans.get(at + 1).map(|(start, _)| *start);
        let before = at.checked_sub(1).map(|before| spans[before].1);
        let blanks = self.text[..start].trim_end_matches([' ', '\t']).len();
        // With a neighbour before it, the blanks between the two are its own.
        let from = line.unwrap_or(if before.is_some() { blanks } else { start });
        match (gap.comma, next) {
            (Some(_), Some(next)) if line.is_none() => self.text.replace_range(start..next, ""),
            (Some(comma), _) => {
                let to = if line.is_some() { gap.end } else { comma + 1 };
                self.text.replace_range(from..to, "");
            }
            (None, _) => {
                self.text.replace_range(from..end, "");
                self.drop_comma(before, from);
            }
        }
        if spans.len() == 1 {
            self.close(parent.span.start);
        }
    }

    /// The one before is the last now.
    fn drop_comma(&mut self, before: Option<usize>, end: usize) {
        let Some(comma) = before.and_then(|before| gap::after(&self.text, before).comma) else {
            return;
        };
        let blank = self.text[comma + 1..end].trim_start_matches([' ', '\t']).is_empty();
        self.text.replace_range(comma..if blank { end } else { comma + 1 }, "");
    }

    /// Brackets with nothing but blanks in them are closed.
    fn close(&mut self, open: usize) {
        let inside = &self.text[open + 1..];
        let blank = inside.len() - inside.trim_start().len();
        if inside[blank..].starts_with(['}', ']']) {
            self.text.replace_range(open + 1..open + 1 + blank, "");
        }
    }
}

fn find<'a>(root: &'a Node, path: &[Step]) -> Option<&'a Node> {
    path.iter().try_fold(root, |node, step| match step {
        Step::Name(name) => node.member(name).map(|member| &member.value),
        Step::Index(index) => node.elements().get(*index),
    })
}

#[cfg(test)]
mod tests;
