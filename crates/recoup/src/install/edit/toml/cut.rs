//! Removal from TOML text that leaves every other byte. A comment above the removed part stays: it
//! may be about something else.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{InlineTable, Item, Key, Table, Value as Inline};

use super::super::SettingsSyntaxError;
use super::{item_to_json, parse, value_to_json};

const HOOKS: &str = "hooks";

/// Removes a top-level key.
pub(crate) fn without_key(text: &str, name: &str) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let mut cuts = TomlCuts::of(text);
    if let Some((key, value)) = document.as_table().get_key_value(name) {
        cuts.cut_item(Some(key), value);
    }
    Ok(cuts.apply())
}

/// Removes the matching hooks, in whichever form they are, then groups and events without hooks,
/// and a table without events.
///
/// ```text
/// [[hooks.Stop]]                 or   Stop = [{ hooks = [{ command = "…" }] }]
/// [[hooks.Stop.hooks]]                in a table, or in `hooks = { … }`
/// command = "…"
/// ```
pub(crate) fn without_hooks(
    text: &str,
    goes: impl Fn(&Value) -> bool,
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let mut cuts = TomlCuts::of(text);
    let Some((key, hooks)) = document.as_table().get_key_value(HOOKS) else {
        return Ok(text.to_owned());
    };
    let Some(events) = hooks.as_table_like() else { return Ok(text.to_owned()) };
    let all: Vec<(&str, HookRemoval<'_>)> =
        events.iter().map(|(name, groups)| (name, plan_event(groups, &goes))).collect();
    if !all.is_empty() && all.iter().all(|(_, sort)| sort.is_all()) {
        cuts.cut_item(Some(key), hooks);
    } else {
        let gone: Vec<&str> = all.iter().filter(|it| it.1.is_all()).map(|it| it.0).collect();
        cuts.cut_members(hooks, &gone);
        for (_, sort) in all {
            apply_removal(sort, &mut cuts);
        }
    }
    Ok(cuts.apply())
}

/// Ranges to be cut out of a text.
pub(super) struct TomlCuts<'a> {
    text: &'a str,
    /// Whole lines.
    lines: Vec<Range<usize>>,
    /// Parts of lines.
    pieces: Vec<Range<usize>>,
}

impl<'a> TomlCuts<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, lines: Vec::new(), pieces: Vec::new() }
    }

    /// Cuts members of a table, whatever form it has.
    pub(super) fn cut_members(&mut self, table: &Item, gone: &[&str]) {
        if let Some(table) = table.as_inline_table() {
            let all = inline_elements(self.text, table);
            let gone: Vec<usize> =
                (0..all.len()).filter(|at| gone.contains(&all[*at].name)).collect();
            let spans: Vec<_> = all.into_iter().map(|it| it.span).collect();
            self.cut_elements(&spans, &gone, false);
        } else if let Some(table) = table.as_table() {
            let gone = gone.iter().filter_map(|name| table.get_key_value(name));
            gone.for_each(|(key, item)| self.cut_item(Some(key), item));
        }
    }

    /// Cuts members of a table that dotted keys in these braces make up, or the braces themselves.
    pub(super) fn cut_dotted_members(&mut self, braces: &InlineTable, table: &Item, gone: &[&str]) {
        let mut ends = Vec::new();
        for value in gone.iter().filter_map(|name| table.get(name)?.as_value()) {
            visit_value_ends(value, &mut |end| ends.push(end));
        }
        let spans: Vec<_> =
            inline_elements(self.text, braces).into_iter().map(|it| it.span).collect();
        let gone: Vec<usize> =
            (0..spans.len()).filter(|at| ends.contains(&spans[*at].end)).collect();
        self.cut_elements(&spans, &gone, false);
    }

    /// Cuts list elements, each with one comma; comments between them stay. `lines` is set if a
    /// trailing comma is allowed: then elements alone on their lines go with these.
    fn cut_elements(&mut self, spans: &[Range<usize>], gone: &[usize], lines: bool) {
        for at in gone.iter().copied().filter(|at| *at < spans.len()) {
            let span = spans[at].clone();
            let comma = comma_behind(self.text, span.end);
            if let Some(whole) = self.own_lines(&span, comma).filter(|_| lines) {
                self.pieces.push(whole);
                continue;
            }
            let kept = (0..at).rev().find(|before| !gone.contains(before));
            match (comma, spans.get(at + 1), kept) {
                (Some(_), Some(next), _) if self.has_no_comment(span.end..next.start) => {
                    self.pieces.push(span.start..next.start);
                }
                // A trailing comma stays: the one before the element goes.
                (Some(_), None, Some(kept)) if self.has_no_comment(spans[kept].end..span.end) => {
                    self.pieces.push(spans[kept].end..span.end);
                }
                (Some(comma), _, _) => self.pieces.extend([span, comma..comma + 1]),
                (None, _, Some(kept)) => {
                    let between = (kept..at).map(|it| spans[it].end..spans[it + 1].start);
                    if between.clone().all(|it| self.has_no_comment(it)) {
                        self.pieces.push(spans[kept].end..span.end);
                    } else {
                        let comma = comma_behind(self.text, spans[kept].end);
                        self.pieces.extend(comma.map(|comma| comma..comma + 1));
                        self.pieces.push(span);
                    }
                }
                // With the blanks behind: those before belong to the bracket.
                (None, _, None) => {
                    let behind = &self.text[span.end..];
                    let blanks = behind.len() - behind.trim_start().len();
                    self.pieces.push(span.start..span.end + blanks);
                }
            }
        }
    }

    /// True if the range contains no comment.
    fn has_no_comment(&self, range: Range<usize>) -> bool {
        !self.text[range].contains('#')
    }

    /// Returns the whole lines of an element, with its comma and trailing comment, if nothing else
    /// is on them. A comma on another line also separates others, and would be left over.
    fn own_lines(&self, span: &Range<usize>, comma: Option<usize>) -> Option<Range<usize>> {
        let start = line_start(self.text, span.start);
        let end = line_end(self.text, span.end);
        let before = &self.text[start..span.start];
        let behind = self.text[span.end..end].trim_start();
        let behind = behind.strip_prefix(',').unwrap_or(behind).trim_start();
        let alone = before.trim().is_empty() && (behind.is_empty() || behind.starts_with('#'));
        (alone && comma.is_none_or(|comma| comma < end)).then_some(start..end)
    }

    /// Cuts all lines of an item of a table that is not inline.
    pub(super) fn cut_item(&mut self, key: Option<&Key>, item: &Item) {
        match item {
            Item::None => {}
            Item::Value(value) => {
                let start = key.and_then(Key::span).or(value.span()).map(|span| span.start);
                let end = value.span().map(|span| span.end);
                self.lines.extend(start.zip(end).map(|(start, end)| start..end));
            }
            Item::Table(table) => self.cut_table(table),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|it| self.cut_table(it)),
        }
    }

    fn cut_table(&mut self, table: &Table) {
        let mut own = TomlCuts::of(self.text);
        let is_dotted = table.is_dotted();
        let has_header = !table.is_implicit() && !is_dotted;
        own.lines.extend(table.span().filter(|span| has_header && !span.is_empty()));
        for (key, item) in table.iter().filter_map(|(name, _)| table.get_key_value(name)) {
            let is_below = match item {
                Item::Table(table) => !table.is_dotted(),
                Item::ArrayOfTables(_) => true,
                _ => false,
            };
            let into = if is_below { &mut *self } else { &mut own };
            into.cut_item(Some(key), item);
        }
        // Dotted keys may be interleaved with others.
        if is_dotted {
            self.lines.append(&mut own.lines);
            return;
        }
        // Comments between its keys belong to the table.
        let start = own.lines.iter().map(|it| it.start).min();
        let end = own.lines.iter().map(|it| it.end).max();
        self.lines.extend(start.zip(end).map(|(start, end)| start..end));
    }

    /// Returns the text without the cuts.
    pub(super) fn apply(self) -> String {
        let text = self.text;
        let whole = |it: Range<usize>| line_start(text, it.start)..line_end(text, it.end);
        let lines: Vec<_> = self.lines.into_iter().map(whole).collect();
        let lines = merged(lines, |gap| text[gap].trim().is_empty());
        let lines = lines.into_iter().map(|it| with_blanks(text, it)).collect::<Vec<_>>();
        let mut left = String::with_capacity(text.len());
        let mut from = 0;
        for cut in merged([lines, self.pieces].concat(), |gap| gap.is_empty()) {
            left.push_str(&text[from..cut.start]);
            from = cut.end;
        }
        left + &text[from..]
    }
}

/// Sorts ranges, and merges those that overlap or have only a negligible gap between them.
fn merged(
    mut ranges: Vec<Range<usize>>,
    is_one: impl Fn(Range<usize>) -> bool,
) -> Vec<Range<usize>> {
    ranges.sort_by_key(|it| it.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for it in ranges {
        match merged.last_mut() {
            Some(last) if it.start <= last.end || is_one(last.end..it.start) => {
                last.end = last.end.max(it.end);
            }
            _ => merged.push(it),
        }
    }
    merged
}

/// Extends lines by the empty ones before, if empty lines or the file's end follow.
fn with_blanks(text: &str, lines: Range<usize>) -> Range<usize> {
    let behind = &text[lines.end..];
    let first = behind.split_inclusive('\n').next().unwrap_or_default();
    if !first.trim().is_empty() {
        return lines;
    }
    let before = text[..lines.start].trim_end();
    if before.is_empty() && behind.trim().is_empty() {
        // Only empty lines are left.
        return lines;
    }
    if before.is_empty() {
        // The rest begins the file.
        let blank = behind.len() - behind.trim_start_matches(['\r', '\n']).len();
        return 0..lines.end + blank;
    }
    line_end(text, before.len())..lines.end
}

/// Removals from the groups of an event, or from the hooks of a group.
enum HookRemoval<'a> {
    /// No such list, or nothing to remove.
    None,
    All,
    /// Removes these elements, and parts of others.
    Some {
        list: &'a Item,
        gone: Vec<usize>,
        inside: Vec<HookRemoval<'a>>,
    },
    /// `Some`, in an inline list.
    Inline {
        list: &'a Inline,
        gone: Vec<usize>,
        inside: Vec<HookRemoval<'a>>,
    },
}

impl HookRemoval<'_> {
    fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }
}

/// Plans the removals from the groups of an event.
fn plan_event<'d>(groups: &'d Item, goes: &impl Fn(&Value) -> bool) -> HookRemoval<'d> {
    match groups {
        Item::ArrayOfTables(tables) => {
            let inside = tables.iter().map(|group| plan_group(group.get(HOOKS), goes));
            combine_removals(inside.collect(), |gone, inside| HookRemoval::Some {
                list: groups,
                gone,
                inside,
            })
        }
        Item::Value(list) => {
            let inside = list.as_array().into_iter().flatten().map(|group| {
                let hooks = group.as_inline_table().and_then(|group| group.get(HOOKS));
                hooks.map_or(HookRemoval::None, |hooks| plan_inline_group(hooks, goes))
            });
            combine_removals(inside.collect(), |gone, inside| HookRemoval::Inline {
                list,
                gone,
                inside,
            })
        }
        _ => HookRemoval::None,
    }
}

/// Plans the removals from the hooks of a group.
fn plan_group<'d>(hooks: Option<&'d Item>, goes: &impl Fn(&Value) -> bool) -> HookRemoval<'d> {
    match hooks {
        Some(list @ Item::ArrayOfTables(tables)) => {
            let fate =
                |hook: &Table| removal_of_hook(goes(&item_to_json(&Item::Table(hook.clone()))));
            let inside = tables.iter().map(fate).collect();
            combine_removals(inside, |gone, inside| HookRemoval::Some { list, gone, inside })
        }
        Some(Item::Value(list)) => plan_inline_group(list, goes),
        _ => HookRemoval::None,
    }
}

fn plan_inline_group<'d>(list: &'d Inline, goes: &impl Fn(&Value) -> bool) -> HookRemoval<'d> {
    let hooks = list.as_array().into_iter().flatten();
    let inside = hooks.map(|hook| removal_of_hook(goes(&value_to_json(hook)))).collect();
    combine_removals(inside, |gone, inside| HookRemoval::Inline { list, gone, inside })
}

/// Cuts the removed elements out of a list that stays.
fn apply_removal(sort: HookRemoval<'_>, cuts: &mut TomlCuts<'_>) {
    let inside = match sort {
        HookRemoval::None | HookRemoval::All => return,
        HookRemoval::Some { list, gone, inside } => {
            let tables = list.as_array_of_tables().into_iter().flatten().enumerate();
            for (_, table) in tables.filter(|(at, _)| gone.contains(at)) {
                cuts.cut_table(table);
            }
            inside
        }
        HookRemoval::Inline { list, gone, inside } => {
            let spans = list.as_array().into_iter().flatten().map(Inline::span);
            let spans: Option<Vec<_>> = spans.collect();
            cuts.cut_elements(&spans.unwrap_or_default(), &gone, true);
            inside
        }
    };
    for sort in inside {
        apply_removal(sort, cuts);
    }
}

fn removal_of_hook<'d>(goes: bool) -> HookRemoval<'d> {
    if goes { HookRemoval::All } else { HookRemoval::None }
}

fn combine_removals<'d>(
    inside: Vec<HookRemoval<'d>>,
    some: impl FnOnce(Vec<usize>, Vec<HookRemoval<'d>>) -> HookRemoval<'d>,
) -> HookRemoval<'d> {
    let gone: Vec<usize> = (0..inside.len()).filter(|at| inside[*at].is_all()).collect();
    match inside.len() {
        0 => HookRemoval::None,
        all if gone.len() == all => HookRemoval::All,
        _ => some(gone, inside),
    }
}

/// One `key = value` of an inline table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InlineTableElement<'d> {
    /// First part of a dotted key.
    pub(super) name: &'d str,
    pub(super) span: Range<usize>,
}

/// Returns the elements of an inline table in text order. Dotted keys may share a first part, and
/// have others between them.
pub(super) fn inline_elements<'d>(
    text: &str,
    table: &'d InlineTable,
) -> Vec<InlineTableElement<'d>> {
    let mut ends: Vec<(&str, usize)> = Vec::new();
    for (name, value) in table {
        visit_value_ends(value, &mut |end| ends.push((name, end)));
    }
    ends.sort_by_key(|(_, end)| *end);
    // Only the last part of a dotted key has a span: the element begins behind the comma.
    let mut from = table.span().map_or(0, |span| span.start + 1);
    let element = |(name, end): (&'d str, usize)| {
        let span = skip_blanks_and_comments(text, from)..end;
        from = comma_behind(text, end).map_or(end, |comma| comma + 1);
        InlineTableElement { name, span }
    };
    ends.into_iter().map(element).collect()
}

/// Visits the ends of all values of a key, or of dotted keys that begin with it.
fn visit_value_ends(value: &Inline, found: &mut impl FnMut(usize)) {
    match value {
        Inline::InlineTable(table) if table.is_dotted() => {
            table.iter().for_each(|(_, value)| visit_value_ends(value, found));
        }
        value => value.span().into_iter().for_each(|span| found(span.end)),
    }
}

/// Returns the comma behind an element, after any comments.
fn comma_behind(text: &str, at: usize) -> Option<usize> {
    let at = skip_blanks_and_comments(text, at);
    text[at..].starts_with(',').then_some(at)
}

/// Skips blanks and comments.
fn skip_blanks_and_comments(text: &str, mut at: usize) -> usize {
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        if !text[at..].starts_with('#') {
            return at;
        }
        at = line_end(text, at);
    }
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests;
