//! Codex's `config.toml`: our server among others, and calls of ours that somebody wrote there by
//! hand, in `[hooks]` or as `notify`. Beside our `hooks.json` these would report everything twice:
//! Codex runs the hooks of both files, and `notify` repeats them.

use crate::clients;
use serde_json::Value;

use super::hooks::{custom_command_note, list_events};
use super::proxied::proxied_servers;
use super::servers::{self, SERVER, ServerCommand, our_servers};
use super::{EditSummary, EmptiedContainers, LINE_END};
use crate::install::edit::toml::{self, SERVERS};
use crate::install::edit::{SettingsSyntaxError, split_bom};

const NOTIFY: &str = "notify";

/// Ensures that our server is there once, and that no hook runs twice. `notify` stays if no hook
/// runs (`hooks_run`): then it is all there is.
pub(crate) fn put(
    text: &str,
    start: &ServerCommand<'_>,
    hooks_run: bool,
) -> Result<(String, EditSummary), SettingsSyntaxError> {
    let mut done = EditSummary::default();
    let (text, gone) = without_calls(text, hooks_run, &mut done)?;
    if !gone.is_empty() {
        done.said.push(format!("removed hand-written calls: {}", list_events(&gone)));
    }
    let root = toml::parse_to_json(&text)?;
    let known = our_servers(root.get(SERVERS));
    done.had_ours |= !proxied_servers(root.get(SERVERS)).is_empty();
    if known.is_empty() {
        if let Some(other) = root.get(SERVERS).and_then(|all| all.get(SERVER)) {
            done.add_note(servers::name_taken_note(other));
            return Ok((text, done));
        }
        if root.get(SERVERS).is_none() {
            done.created.push(vec![SERVERS.to_owned()]);
        }
        done.said.push(format!("server “{SERVER}”"));
        let after = toml::put_server(&text, SERVER, start.program, &start.args(&[]))?;
        if !text.is_empty() && !text.ends_with('\n') && after.ends_with('\n') {
            done.created.push(vec![LINE_END.to_owned()]);
        }
        return Ok((after, done));
    }
    done.had_ours |= known.iter().any(|(_, call)| !call.wrapped);
    let mut after = text;
    for (name, call) in known {
        if call.wrapped {
            done.add_note(servers::custom_server_note(&name, &call));
            continue;
        }
        let put = toml::put_server(&after, &name, start.program, &start.args(&call.args))?;
        if put != after {
            done.said.push(format!("server “{name}” updated"));
        }
        after = put;
    }
    Ok((after, done))
}

/// Removes all of it, and the containers that are empty then, as far as `emptied` allows.
pub(crate) fn remove(
    text: &str,
    emptied: EmptiedContainers<'_>,
) -> Result<(String, EditSummary), SettingsSyntaxError> {
    let mut done = EditSummary::default();
    let empty = emptied.may_remove(&[SERVERS.into()]);
    let mut left = text.to_owned();
    for (name, call) in our_servers(toml::parse_to_json(text)?.get(SERVERS)) {
        if call.wrapped {
            done.add_note(servers::custom_server_note(&name, &call));
            continue;
        }
        left = toml::remove_server(&left, &name, empty)?;
        done.said.push(format!("server “{name}”"));
    }
    let (mut left, gone) = without_calls(&left, true, &mut done)?;
    emptied.remove_line_end(text, &mut left);
    if !gone.is_empty() {
        done.said.push(format!("hand-written calls: {}", list_events(&gone)));
    }
    Ok((left, done))
}

/// Returns the events at which a custom command of the user calls us.
pub(crate) fn custom_hook_events(text: &str) -> Vec<String> {
    // Errors are reported when this file is edited itself.
    let root = toml::parse_to_json(split_bom(text).1).unwrap_or_default();
    let hooks = root.get("hooks").into_iter().flat_map(clients::hooks_at_events);
    let own = hooks.filter(|(_, it)| it.call.wrapped).map(|(event, _)| event.to_owned());
    own.collect()
}

/// Removes our plain calls, not custom commands. Also returns where they were.
fn without_calls(
    text: &str,
    notify_goes: bool,
    done: &mut EditSummary,
) -> Result<(String, Vec<String>), SettingsSyntaxError> {
    let root = toml::parse_to_json(text)?;
    let mut left = text.to_owned();
    let mut gone: Vec<String> = Vec::new();
    for (event, it) in root.get("hooks").into_iter().flat_map(clients::hooks_at_events) {
        done.had_ours = true;
        if it.call.wrapped {
            done.add_note(custom_command_note(&format!("config.toml at {event}"), &it.call));
        } else if gone.last().is_none_or(|last| last != event) {
            gone.push(event.to_owned());
        }
    }
    if !gone.is_empty() {
        let is_plain = |hook: &Value| clients::call_in_hook(hook).is_some_and(|call| !call.wrapped);
        left = toml::without_hooks(&left, is_plain)?;
        ensure_parses(text, &left, "hooks")?;
    }
    match clients::call_in_notify(&root) {
        Some(call) if call.wrapped => {
            done.had_ours = true;
            done.add_note(custom_command_note("notify in config.toml", &call));
        }
        Some(_) if notify_goes => {
            done.had_ours = true;
            left = toml::remove_fields(&left, &[], &[NOTIFY])?;
            ensure_parses(text, &left, NOTIFY)?;
            gone.push(NOTIFY.to_owned());
        }
        Some(_) => done.had_ours = true,
        None => {}
    }
    Ok((left, gone))
}

/// Replaces a syntax error in our own output with advice: the user cannot fix that text.
fn ensure_parses(text: &str, left: &str, name: &str) -> Result<(), SettingsSyntaxError> {
    let at = text.find(name).unwrap_or(0);
    let what =
        format!("the call of recoup in “{name}” can't be removed automatically: remove it by hand");
    toml::parse_to_json(left).map(drop).map_err(|_| SettingsSyntaxError::at(text, at, what))
}
