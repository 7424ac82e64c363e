//! JSON text with the spans of its values, which are updated on every edit: settings of many
//! megabytes are edited dozens of times, and parsed once. Additions have the layout of the text.

use std::ops::Range;

use serde_json::Value;

use super::NewValue;
use super::tree::{JsonSyntaxKind, JsonSyntaxNode};

/// JSON text and its syntax tree.
#[derive(Debug, Clone)]
pub(super) struct JsonDocument {
    pub(super) text: String,
    pub(super) root: JsonSyntaxNode,
}

/// Span of an object or a list, and of its last child, name included.
#[derive(Debug, Clone)]
pub(super) struct ContainerOutline {
    span: Range<usize>,
    last: Option<(usize, usize)>,
}

impl ContainerOutline {
    pub(super) fn of(node: &JsonSyntaxNode) -> Self {
        Self { span: node.span.clone(), last: node.children().last().copied() }
    }
}

impl JsonDocument {
    /// Replaces a range of text and shifts the spans behind it. The caller updates the tree's
    /// nodes.
    pub(super) fn splice(&mut self, range: Range<usize>, text: &str) {
        self.text.replace_range(range.clone(), text);
        self.root.shift_spans(&range, text.len());
    }

    /// Appends an element. Returns its start.
    pub(super) fn append(
        &mut self,
        outline: &ContainerOutline,
        style: &JsonStyle,
        element: &str,
    ) -> usize {
        match outline.last {
            Some(last) => self.append_behind(last, outline.span.end - 1, style, element),
            None => self.append_first(outline, style, element),
        }
    }

    /// Appends on a new line if the last element, or the closing bracket, is on one.
    fn append_behind(
        &mut self,
        (start, end): (usize, usize),
        close: usize,
        style: &JsonStyle,
        element: &str,
    ) -> usize {
        let gap = gap_after(&self.text, end);
        let has_line = |at: usize| line_break_before(&self.text, at).is_some();
        let own_line = has_line(start) || has_line(close) || gap.open;
        let between = match (own_line, style.spaced) {
            (true, _) => format!("{}{}", style.newline, indent(&self.text, start)),
            (false, true) => " ".to_owned(),
            (false, false) => String::new(),
        };
        let comma = if gap.comma.is_some() { "," } else { "" };
        self.splice(gap.end..gap.end, &format!("{between}{element}{comma}"));
        let at = gap.end + between.len();
        if gap.comma.is_some() {
            return at;
        }
        self.splice(end..end, ",");
        at + 1
    }

    /// Keeps comments inside the empty brackets, before the element.
    fn append_first(
        &mut self,
        outline: &ContainerOutline,
        style: &JsonStyle,
        element: &str,
    ) -> usize {
        let inside = outline.span.start + 1..outline.span.end - 1;
        let kept = self.text[inside.clone()].trim_end().to_owned();
        let outer = indent(&self.text, outline.span.start);
        let JsonStyle { unit, newline, .. } = style;
        let (before, behind) = if style.one_line {
            (kept, String::new())
        } else {
            (format!("{kept}{newline}{outer}{unit}"), format!("{newline}{outer}"))
        };
        let at = inside.start + before.len();
        self.splice(inside, &format!("{before}{element}{behind}"));
        at
    }

    /// Removes the child with index `at`, with the comma that is no longer needed.
    pub(super) fn cut(&mut self, parent: usize, children: &[(usize, usize)], at: usize) {
        let (start, end) = children[at];
        let gap = gap_after(&self.text, end);
        let line = line_break_before(&self.text, start);
        let next = children.get(at + 1).map(|(start, _)| *start);
        let before = at.checked_sub(1).map(|before| children[before].1);
        let blanks = self.text[..start].trim_end_matches([' ', '\t']).len();
        // The blanks between it and the element before go with it.
        let from = line.unwrap_or(if before.is_some() { blanks } else { start });
        let to = match gap.comma {
            Some(comma) => {
                if line.is_some() {
                    gap.end
                } else {
                    comma + 1
                }
            }
            None => end,
        };
        // A line comment would swallow the rest of this line.
        let follows = self.text[to..].trim_start_matches([' ', '\t']).chars().next();
        let is_open = ends_in_line_comment(&self.text, before.unwrap_or(parent + 1), from);
        let needs_line = is_open && !matches!(follows, None | Some('\r' | '\n'));
        let from = if needs_line { start } else { from };
        match (gap.comma, next) {
            (Some(_), Some(next)) if line.is_none() => self.splice(start..next, ""),
            (Some(_), _) => self.splice(from..to, ""),
            (None, _) => {
                self.splice(from..end, "");
                self.drop_comma(before, from);
            }
        }
        if children.len() == 1 {
            self.close(parent);
        }
    }

    /// Drops the comma of the element that is now the last.
    fn drop_comma(&mut self, before: Option<usize>, end: usize) {
        let Some(comma) = before.and_then(|before| gap_after(&self.text, before).comma) else {
            return;
        };
        let blank = self.text[comma + 1..end].trim_start_matches([' ', '\t']).is_empty();
        self.splice(comma..if blank { end } else { comma + 1 }, "");
    }

    /// Removes the blanks between empty brackets.
    fn close(&mut self, open: usize) {
        let inside = &self.text[open + 1..];
        let blank = inside.len() - inside.trim_start().len();
        if inside[blank..].starts_with(['}', ']']) {
            self.splice(open + 1..open + 1 + blank, "");
        }
    }
}

/// Layout of a JSON text, so that additions look like the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonStyle {
    /// Indentation of one level.
    unit: String,
    pub(super) newline: &'static str,
    /// True if a blank follows a colon and a comma.
    spaced: bool,
    /// True if everything is on one line.
    one_line: bool,
}

impl JsonStyle {
    /// Detects the layout of a text, with the usual one as default.
    pub(super) fn of(text: &str, root: &JsonSyntaxNode) -> Self {
        let one_line = !root.children().is_empty() && !text[root.span.clone()].contains('\n');
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
            NewValue::Plain(Value::Object(fields)) => {
                let member =
                    |(name, it): (&String, &Value)| self.member(name, &NewValue::Plain(it.clone()));
                format!("{{{}}}", fields.iter().map(member).collect::<Vec<_>>().join(&comma))
            }
            NewValue::Plain(Value::Array(items)) => {
                let item = |it: &Value| self.write(&NewValue::Plain(it.clone()));
                format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(&comma))
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

/// The gap behind a value: white space, comments, and perhaps a comma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ValueGap {
    /// Position of the comma, if there is one.
    comma: Option<usize>,
    /// End of the comma (or the value) and the comments on the same line.
    end: usize,
    /// True if a line comment ends the gap.
    open: bool,
}

/// Returns the gap behind the value that ends at `end`.
fn gap_after(text: &str, end: usize) -> ValueGap {
    // The next comma may be behind comments.
    let mut at = end;
    let comma = loop {
        at += text[at..].len() - text[at..].trim_start().len();
        match comment_length(&text[at..]) {
            Some(length) => at += length,
            None => break text[at..].starts_with(',').then_some(at),
        }
    };
    // Comments that begin on the same line belong to the gap.
    let mut end = comma.map_or(end, |at| at + 1);
    loop {
        let rest = text[end..].trim_start_matches([' ', '\t']);
        let Some(length) = comment_length(rest) else {
            return ValueGap { comma, end, open: false };
        };
        end = text.len() - rest.len() + length;
        if rest.starts_with("//") {
            return ValueGap { comma, end, open: true };
        }
    }
}

/// Length of the comment that `text` begins with, without its line end.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\r', '\n']).unwrap_or(text.len()));
    }
    let block = text.strip_prefix("/*")?;
    Some(block.find("*/").map_or(text.len(), |at| at + 4))
}

/// True if a line comment ends at `to`, with nothing but commas, blanks and comments from `at` on.
fn ends_in_line_comment(text: &str, mut at: usize, to: usize) -> bool {
    while at < to {
        let rest = &text[at..to];
        let blank = |c: char| c.is_whitespace() || c == ',';
        at += rest.len() - rest.trim_start_matches(blank).len();
        let Some(length) = comment_length(&text[at..to]) else { return false };
        at += length;
        if at >= to && text[at - length..].starts_with("//") {
            return true;
        }
    }
    false
}

/// Start of the line break before `at`, if only blanks are between.
fn line_break_before(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    let start = before.strip_suffix('\n')?;
    Some(start.strip_suffix('\r').unwrap_or(start).len())
}

/// Indentation of the line of `at`.
fn indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
