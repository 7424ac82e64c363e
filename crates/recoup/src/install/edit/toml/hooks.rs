//! Removal of some hooks from TOML.
//!
//! ```text
//! [[hooks.Stop]]                 or   Stop = [{ hooks = [{ command = "…" }] }]
//! [[hooks.Stop.hooks]]                in a table, or in `hooks = { … }`
//! command = "…"
//! ```

use serde_json::Value;
use toml_edit::{Item, Table, Value as Inline};

use super::super::Fault;
use super::cut::Cuts;
use super::{of_item, of_value, parse};

const HOOKS: &str = "hooks";

/// Removes the matching hooks, then groups and events without hooks, and a table without events.
pub(crate) fn without_hooks(text: &str, goes: impl Fn(&Value) -> bool) -> Result<String, Fault> {
    let document = parse(text)?;
    let mut cuts = Cuts::of(text);
    let Some((key, hooks)) = document.as_table().get_key_value(HOOKS) else {
        return Ok(text.to_owned());
    };
    let Some(events) = hooks.as_table_like() else { return Ok(text.to_owned()) };
    let all: Vec<(&str, Sort<'_>)> =
        events.iter().map(|(name, groups)| (name, sort(groups, &goes))).collect();
    if !all.is_empty() && all.iter().all(|(_, sort)| sort.is_all()) {
        cuts.lines_of(Some(key), hooks);
    } else {
        let gone: Vec<&str> = all.iter().filter(|it| it.1.is_all()).map(|it| it.0).collect();
        cuts.members(hooks, &gone);
        for (_, sort) in all {
            note(sort, &mut cuts);
        }
    }
    Ok(cuts.made())
}

/// Removals from the groups of an event, or from the hooks of a group.
enum Sort<'a> {
    /// No such list, or nothing to remove.
    None,
    All,
    /// Removes these elements, and parts of others.
    Some {
        list: &'a Item,
        gone: Vec<usize>,
        inside: Vec<Sort<'a>>,
    },
    /// `Some`, in an inline list.
    Inline {
        list: &'a Inline,
        gone: Vec<usize>,
        inside: Vec<Sort<'a>>,
    },
}

impl Sort<'_> {
    fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }
}

/// Plans the removals from the groups of an event.
fn sort<'d>(groups: &'d Item, goes: &impl Fn(&Value) -> bool) -> Sort<'d> {
    match groups {
        Item::ArrayOfTables(tables) => {
            let inside = tables.iter().map(|group| sort_hooks(group.get(HOOKS), goes));
            decided(inside.collect(), |gone, inside| Sort::Some { list: groups, gone, inside })
        }
        Item::Value(list) => sort_inline(list, goes),
        _ => Sort::None,
    }
}

fn sort_inline<'d>(list: &'d Inline, goes: &impl Fn(&Value) -> bool) -> Sort<'d> {
    let inside = list.as_array().into_iter().flatten().map(|group| {
        let hooks = group.as_inline_table().and_then(|group| group.get(HOOKS));
        hooks.map_or(Sort::None, |hooks| sort_values(hooks, goes))
    });
    decided(inside.collect(), |gone, inside| Sort::Inline { list, gone, inside })
}

/// Plans the removals from the hooks of a group.
fn sort_hooks<'d>(hooks: Option<&'d Item>, goes: &impl Fn(&Value) -> bool) -> Sort<'d> {
    match hooks {
        Some(list @ Item::ArrayOfTables(tables)) => {
            let fate = |hook: &Table| fate(goes(&of_item(&Item::Table(hook.clone()))));
            let inside = tables.iter().map(fate).collect();
            decided(inside, |gone, inside| Sort::Some { list, gone, inside })
        }
        Some(Item::Value(list)) => sort_values(list, goes),
        _ => Sort::None,
    }
}

fn sort_values<'d>(list: &'d Inline, goes: &impl Fn(&Value) -> bool) -> Sort<'d> {
    let hooks = list.as_array().into_iter().flatten();
    let inside = hooks.map(|hook| fate(goes(&of_value(hook)))).collect();
    decided(inside, |gone, inside| Sort::Inline { list, gone, inside })
}

/// Cuts the removed elements out of a list that stays.
fn note(sort: Sort<'_>, cuts: &mut Cuts<'_>) {
    let inside = match sort {
        Sort::None | Sort::All => return,
        Sort::Some { list, gone, inside } => {
            let tables = list.as_array_of_tables().into_iter().flatten().enumerate();
            for (_, table) in tables.filter(|(at, _)| gone.contains(at)) {
                cuts.lines_of_table(table);
            }
            inside
        }
        Sort::Inline { list, gone, inside } => {
            let spans = list.as_array().into_iter().flatten().map(Inline::span);
            let spans: Option<Vec<_>> = spans.collect();
            cuts.elements(&spans.unwrap_or_default(), &gone, true);
            inside
        }
    };
    for sort in inside {
        note(sort, cuts);
    }
}

fn fate<'d>(goes: bool) -> Sort<'d> {
    if goes { Sort::All } else { Sort::None }
}

fn decided<'d>(
    inside: Vec<Sort<'d>>,
    some: impl FnOnce(Vec<usize>, Vec<Sort<'d>>) -> Sort<'d>,
) -> Sort<'d> {
    let gone: Vec<usize> = (0..inside.len()).filter(|at| inside[*at].is_all()).collect();
    match inside.len() {
        0 => Sort::None,
        all if gone.len() == all => Sort::All,
        _ => some(gone, inside),
    }
}

#[cfg(test)]
mod tests;
