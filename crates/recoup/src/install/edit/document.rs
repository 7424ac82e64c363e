//! JSON text with the spans of its values, which are updated on every edit: settings of many
//! megabytes are edited dozens of times, and parsed once.

use std::ops::Range;

use super::gap::{self, indent, line_break_before};
use super::style::JsonStyle;
use super::tree::JsonSyntaxNode;

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
        let gap = gap::after(&self.text, end);
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
        let gap = gap::after(&self.text, end);
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
        let is_open = gap::ends_in_line_comment(&self.text, before.unwrap_or(parent + 1), from);
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
        let Some(comma) = before.and_then(|before| gap::after(&self.text, before).comma) else {
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
