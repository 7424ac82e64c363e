//! Hooks in TOML: `[[hooks]]`, each with its event as a field, as Kimi Code has them. It runs no hook
//! of a file with an unknown field or event, so nothing marks ours but the command itself.

use serde_json::Value;

use super::EditSummary;
use super::hooks::{custom_command_note, list_events, shell_line};
use crate::clients::{HookLayout, RecoupCall, call_in_hook, group_limit};
use crate::install::edit::{EmptiedContainers, LINE_END, SettingsSyntaxError, SettingsText, toml};

const HOOKS: &str = "hooks";

/// A hook of ours in the list.
pub(crate) struct ListedHook<'v> {
    /// Index in the list.
    at: usize,
    pub(crate) event: String,
    pub(crate) hook: &'v Value,
    pub(crate) call: RecoupCall,
}

/// Returns our hooks.
pub(crate) fn our_hooks(root: &Value) -> Vec<ListedHook<'_>> {
    let all = root.get(HOOKS).and_then(Value::as_array).into_iter().flatten().enumerate();
    let ours = all.filter_map(|(at, hook)| {
        let event = hook.get("event")?.as_str()?.to_owned();
        Some(ListedHook { at, event, hook, call: call_in_hook(hook)? })
    });
    ours.collect()
}

/// Ensures that every event calls `program` once, for all tools. A command of the user's own takes
/// precedence.
pub(crate) fn put(
    file: &mut SettingsText,
    wanted: &HookLayout,
    program: &str,
) -> Result<EditSummary, SettingsSyntaxError> {
    let line = shell_line(wanted, program);
    let root = file.value_at(&[]).unwrap_or_default();
    let ours = our_hooks(&root);
    let mut done = EditSummary { had_ours: !ours.is_empty(), ..EditSummary::default() };
    let (mut kept, mut added) = (Vec::new(), Vec::new());
    for (event, timeout) in &wanted.events {
        let at_event = || ours.iter().filter(|it| it.event == *event);
        let is_current = |it: &&ListedHook<'_>| {
            let told = it.hook.get("timeout").and_then(Value::as_u64);
            it.hook["command"] == *line && told >= Some(*timeout) && group_limit(it.hook).is_none()
        };
        if let Some(own) = at_event().find(|it| it.call.wrapped) {
            done.add_note(custom_command_note(event, &own.call));
        } else if let Some(current) = at_event().find(is_current) {
            kept.push(current.at);
        } else {
            added.push((*event, *timeout));
        }
    }
    let gone = ours.iter().filter(|it| !it.call.wrapped && !kept.contains(&it.at));
    let gone: Vec<usize> = gone.map(|it| it.at).collect();
    let tables = added.iter().map(|(event, timeout)| {
        let timeout = i64::try_from(*timeout).unwrap_or(i64::MAX);
        vec![("event", (*event).into()), ("command", (&*line).into()), ("timeout", timeout.into())]
    });
    remove_items(file, &gone)?;
    let lacked_line_end = file.lacks_line_end();
    if let SettingsText::Toml { text, .. } = file {
        *text = toml::append_list_tables(text, HOOKS, &tables.collect::<Vec<_>>())?;
    }
    if lacked_line_end && !file.lacks_line_end() {
        done.created.push(vec![LINE_END.to_owned()]);
    }
    if !added.is_empty() {
        let events: Vec<String> = added.iter().map(|(event, _)| (*event).to_owned()).collect();
        let what = if done.had_ours { "hooks updated:" } else { "hooks for" };
        done.said.push(format!("{what} {}", list_events(&events)));
    } else if !gone.is_empty() {
        done.said.push("hooks updated: repeated ones removed".to_owned());
    }
    Ok(done)
}

/// Removes our calls, except custom commands.
pub(crate) fn remove(file: &mut SettingsText) -> Result<EditSummary, SettingsSyntaxError> {
    let root = file.value_at(&[]).unwrap_or_default();
    let (own, plain): (Vec<_>, Vec<_>) =
        our_hooks(&root).into_iter().partition(|it| it.call.wrapped);
    let mut done = EditSummary::default();
    for it in &own {
        done.add_note(custom_command_note(&it.event, &it.call));
    }
    let gone: Vec<usize> = plain.iter().map(|it| it.at).collect();
    remove_items(file, &gone)?;
    if !plain.is_empty() {
        let events: Vec<String> = plain.into_iter().map(|it| it.event).collect();
        done.said.push(format!("hooks for {}", list_events(&events)));
    }
    Ok(done)
}

fn remove_items(file: &mut SettingsText, gone: &[usize]) -> Result<(), SettingsSyntaxError> {
    let mut last_first = gone.iter().rev();
    last_first.try_for_each(|at| file.remove(&[HOOKS.into(), (*at).into()], EmptiedContainers::Any))
}
