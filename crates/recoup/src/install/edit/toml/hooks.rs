//! Removal of some hooks from TOML.
//!
//! ```text
//! [[hooks.Stop]]                 or   Stop = [{ hooks = [{ command = "…" }] }]
//! [[hooks.Stop.hooks]]                in a table, or in `hooks = { … }`
//! command = "…"
//! ```

use serde_json::Value;
use toml_edit::{Item, Table, Value as Inline};

use super::super::SettingsSyntaxError;
use super::cut::TomlCuts;
use super::{item_to_json, parse, value_to_json};

const HOOKS: &str = "hooks";

/// Removes the matching hooks, then groups and events without hooks, and a table without events.
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
        Item::Value(list) => plan_inline_event(list, goes),
        _ => HookRemoval::None,
    }
}

fn plan_inline_event<'d>(list: &'d Inline, goes: &impl Fn(&Value) -> bool) -> HookRemoval<'d> {
    let inside = list.as_array().into_iter().flatten().map(|group| {
        let hooks = group.as_inline_table().and_then(|group| group.get(HOOKS));
        hooks.map_or(HookRemoval::None, |hooks| plan_inline_group(hooks, goes))
    });
    combine_removals(inside.collect(), |gone, inside| HookRemoval::Inline { list, gone, inside })
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

#[cfg(test)]
mod tests;
