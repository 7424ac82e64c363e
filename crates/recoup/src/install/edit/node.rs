//! Syntax tree that keeps every byte: values, and the blanks, comments and commas between them.
//!
//! It holds JSON with comments and the values of TOML. The crates parse and say where values stand;
//! their own editable trees do not keep what is not ours. `jsonc_parser::cst` breaks an object on one
//! line into many when a member is added, and trims blank lines; `toml_edit::DocumentMut` loses CRLF,
//! the missing end of a last line and comments above what is removed, and moves dotted keys together.

use std::ops::Range;

/// A value with the text of everything in it.
#[derive(Debug, Clone)]
pub(crate) enum SyntaxNode {
    Object(SyntaxList),
    Array(SyntaxList),
    Scalar(String),
}

/// Items between brackets.
#[derive(Debug, Clone, Default)]
pub(crate) struct SyntaxList {
    pub(crate) items: Vec<SyntaxItem>,
    /// Blanks and comments before the closing bracket.
    pub(crate) end: String,
}

/// One member of an object, or one element of an array.
#[derive(Debug, Clone)]
pub(crate) struct SyntaxItem {
    /// Name of a member; a dotted key in TOML has several parts. Empty for elements.
    pub(crate) name: Vec<String>,
    /// Blanks and comments before it.
    before: String,
    /// Text of the name, and what is between it and the value.
    head: String,
    pub(crate) value: SyntaxNode,
    /// Blanks and comments before its comma.
    after: String,
    comma: bool,
}

/// Child of a node that is being built.
pub(crate) struct SyntaxPart {
    pub(crate) name: Vec<String>,
    pub(crate) span: Range<usize>,
    pub(crate) value: SyntaxNode,
}

/// Layout of a text, so that additions look like the rest.
#[derive(Debug, Clone)]
pub(crate) struct AdditionStyle {
    /// Indentation of one level.
    pub(crate) unit: String,
    pub(crate) newline: &'static str,
    /// Blank behind a colon, and between items on one line.
    pub(crate) blank: &'static str,
    /// True if empty brackets stay on their line.
    pub(crate) one_line: bool,
}

impl SyntaxNode {
    /// Returns the items of an object or an array.
    pub(crate) fn list(&self) -> Option<&SyntaxList> {
        match self {
            Self::Object(list) | Self::Array(list) => Some(list),
            Self::Scalar(_) => None,
        }
    }

    /// Returns the items of an object or an array, to be edited.
    pub(crate) fn list_mut(&mut self) -> Option<&mut SyntaxList> {
        match self {
            Self::Object(list) | Self::Array(list) => Some(list),
            Self::Scalar(_) => None,
        }
    }

    /// Text of the value.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        let (open, list, close) = match self {
            Self::Object(list) => ('{', list, '}'),
            Self::Array(list) => ('[', list, ']'),
            Self::Scalar(scalar) => return text.push_str(scalar),
        };
        text.push(open);
        list.items.iter().for_each(|item| item.write(text));
        text.push_str(&list.end);
        text.push(close);
    }
}

impl SyntaxItem {
    /// Item to be appended: its text without the value's, and the value.
    pub(crate) fn new(name: Vec<String>, head: String, value: SyntaxNode) -> Self {
        let (before, after) = (String::new(), String::new());
        Self { name, before, head, value, after, comma: false }
    }

    /// Blanks and comments before the item.
    pub(crate) fn before(&self) -> &str {
        &self.before
    }

    /// Length of what is before the value.
    pub(crate) fn value_offset(&self) -> usize {
        self.before.len() + self.head.len()
    }

    /// True if a blank or a line end is before the value.
    pub(crate) fn is_spaced(&self) -> bool {
        self.head.ends_with([' ', '\t', '\n'])
    }

    pub(crate) fn write(&self, text: &mut String) {
        text.push_str(&self.before);
        text.push_str(&self.head);
        self.value.write(text);
        text.push_str(&self.after);
        text.extend(self.comma.then_some(','));
    }
}

impl SyntaxList {
    /// Builds the list whose inside is a range of a text.
    pub(crate) fn build(text: &str, inside: Range<usize>, parts: Vec<SyntaxPart>) -> Self {
        let mut at = inside.start;
        let mut items = Vec::with_capacity(parts.len());
        for SyntaxPart { name, span, value } in parts {
            let start = at + trivia_length(&text[at..]);
            let before = text[at..start].to_owned();
            let head = text[start..span.start].to_owned();
            let length = trivia_length(&text[span.end..]);
            let comma = text[span.end + length..].starts_with(',');
            // Without a comma, what follows belongs to the closing bracket.
            let length = if comma { length } else { 0 };
            let after = text[span.end..span.end + length].to_owned();
            at = span.end + length + usize::from(comma);
            items.push(SyntaxItem { name, before, head, value, after, comma });
        }
        Self { items, end: text[at..inside.end].to_owned() }
    }

    /// Appends an item: on a line of its own if the last one, or the closing bracket, is on one.
    /// Comments on the line of the last item stay there. The line with the opening bracket is
    /// indented by `outer`.
    pub(crate) fn append(&mut self, mut new: SyntaxItem, style: &AdditionStyle, outer: &str) {
        let AdditionStyle { unit, newline, blank, one_line } = style;
        if self.items.is_empty() && *one_line {
            let last = self.end.rsplit('\n').next().filter(|it| it.trim().is_empty());
            let last = last.unwrap_or_default().to_owned();
            new.before = std::mem::replace(&mut self.end, last);
        } else if self.items.is_empty() {
            new.before = format!("{}{newline}{outer}{unit}", self.end.trim_end());
            self.end = format!("{newline}{outer}");
        } else {
            let line = comments_on_line(&self.end);
            let indent = self.indent(self.items.len() - 1, outer).to_owned();
            let last = self.items.last_mut().expect("there is one");
            let is_open = ends_in_line_comment(&self.end[..line]);
            let own_line = starts_line(&last.before) || starts_line(&self.end) || is_open;
            new.comma = std::mem::replace(&mut last.comma, true);
            let rest = self.end.split_off(line);
            let between = if own_line { format!("{newline}{indent}") } else { (*blank).to_owned() };
            new.before = std::mem::replace(&mut self.end, rest) + &between;
        }
        self.items.push(new);
    }

    /// Removes an item, with the comma that is no longer needed. Comments of others stay.
    pub(crate) fn remove(&mut self, at: usize) {
        let gone = self.items.remove(at);
        let is_last = at == self.items.len();
        // What follows it: the next item, or the closing bracket.
        let next = match self.items.get_mut(at) {
            Some(next) => &mut next.before,
            None => &mut self.end,
        };
        let behind = comments_on_line(next);
        let is_followed =
            !is_last && !next[behind..].trim_start_matches([' ', '\t']).starts_with(['\r', '\n']);
        // Its line goes, with the comments behind it, unless the next item is on it.
        let is_line = starts_line(&gone.before) && !is_followed;
        let rest = if is_line {
            &next[behind..]
        } else if is_last {
            next.as_str()
        } else {
            next.trim_start_matches([' ', '\t'])
        };
        let between = if gone.after.trim().is_empty() { "" } else { gone.after.as_str() };
        let rest = format!("{between}{rest}");
        let mut kept = gone.before.as_str();
        if is_line || at > 0 && !is_followed {
            kept = kept.trim_end_matches([' ', '\t']);
        }
        if is_line {
            kept = kept.strip_suffix('\n').unwrap_or(kept);
            kept = kept.strip_suffix('\r').unwrap_or(kept);
        }
        // A line comment would swallow the rest of this line.
        let follows = rest.trim_start_matches([' ', '\t']);
        let is_swallowed = ends_in_line_comment(kept) && !follows.starts_with(['\r', '\n']);
        *next = if is_swallowed { gone.before.clone() } else { kept.to_owned() } + &rest;
        if let Some(last) = self.items.last_mut().filter(|_| is_last && !gone.comma) {
            last.comma = false;
            let after = std::mem::take(&mut last.after);
            if !after.trim().is_empty() {
                self.end.insert_str(0, &after);
            }
        }
        if self.items.is_empty() && self.end.trim().is_empty() {
            self.end.clear();
        }
    }

    /// Indentation of the line that an item is on.
    pub(crate) fn indent<'a>(&'a self, at: usize, outer: &'a str) -> &'a str {
        let line =
            self.items[..=at].iter().rev().find_map(|it| Some(it.before.rsplit_once('\n')?.1));
        line.map_or(outer, |line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()])
    }

    /// Indentation of the first item on a line of its own, at any depth, relative to its parent.
    pub(crate) fn unit<'a>(&'a self, outer: &'a str) -> Option<&'a str> {
        self.items.iter().enumerate().find_map(|(at, item)| {
            let indent = self.indent(at, outer);
            let more = indent.strip_prefix(outer).filter(|it| !it.is_empty());
            more.filter(|_| starts_line(&item.before)).or_else(|| item.value.list()?.unit(indent))
        })
    }
}

/// True if a line begins behind these blanks and comments.
fn starts_line(trivia: &str) -> bool {
    trivia.trim_end_matches([' ', '\t']).ends_with('\n')
}

/// Length of the blanks and comments that a text begins with.
pub(crate) fn trivia_length(text: &str) -> usize {
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        match comment_length(&text[at..]) {
            Some(length) => at += length,
            None => return at,
        }
    }
}

/// End of the comments that begin on the first line of blanks and comments.
fn comments_on_line(trivia: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = trivia[end..].trim_start_matches([' ', '\t']);
        let Some(length) = comment_length(rest) else { return end };
        end = trivia.len() - rest.len() + length;
        if !rest.starts_with("/*") {
            return end;
        }
    }
}

/// True if blanks and comments end in a comment that only a line end ends.
fn ends_in_line_comment(trivia: &str) -> bool {
    let mut at = 0;
    loop {
        at += trivia[at..].len() - trivia[at..].trim_start().len();
        let Some(length) = comment_length(&trivia[at..]) else { return false };
        if at + length == trivia.len() {
            return !trivia[at..].starts_with("/*");
        }
        at += length;
    }
}

/// Length of the comment that a text begins with, without its line end.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") || text.starts_with('#') {
        return Some(text.find(['\r', '\n']).unwrap_or(text.len()));
    }
    let block = text.strip_prefix("/*")?;
    Some(block.find("*/").map_or(text.len(), |at| at + 4))
}
