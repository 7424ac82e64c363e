//! Calls of ours that somebody wrote into Codex's `config.toml` by hand, in `[hooks]` or as `notify`.
//! Beside our `hooks.json` these would report everything twice: Codex runs the hooks of both files,
//! and `notify` repeats them.

use crate::clients;
use serde_json::Value;

use super::EditSummary;
use super::hooks::{custom_command_note, list_events};
use crate::install::edit::{SettingsSyntax, SettingsSyntaxError, parse_settings, toml};

const NOTIFY: &str = "notify";

/// Returns the events at which a custom command of the user calls us.
pub(crate) fn custom_hook_events(text: &str) -> Vec<String> {
    // Errors are reported when this file is edited itself.
    let root = parse_settings(text, SettingsSyntax::Toml).unwrap_or_default();
    let hooks = root.get("hooks").into_iter().flat_map(clients::hooks_at_events);
    let own = hooks.filter(|(_, it)| it.call.wrapped).map(|(event, _)| event.to_owned());
    own.collect()
}

/// Removes our plain calls, not custom commands. `notify` stays unless it is to go: if no hook runs,
/// it is all there is.
pub(crate) fn remove_calls(
    text: &mut String,
    notify_goes: bool,
) -> Result<EditSummary, SettingsSyntaxError> {
    let root = toml::parse_to_json(text)?;
    let mut done = EditSummary::default();
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
        replace_text(text, toml::without_hooks(text, is_plain)?, "hooks")?;
    }
    if let Some(call) = clients::call_in_notify(&root) {
        done.had_ours = true;
        if call.wrapped {
            done.add_note(custom_command_note("notify in config.toml", &call));
        } else if notify_goes {
            replace_text(text, toml::remove_fields(text, &[], &[NOTIFY])?, NOTIFY)?;
            gone.push(NOTIFY.to_owned());
        }
    }
    if !gone.is_empty() {
        done.said.push(format!("hand-written calls: {}", list_events(&gone)));
    }
    Ok(done)
}

/// Replaces a syntax error in our own output with advice: the user cannot fix that text.
fn replace_text(text: &mut String, left: String, name: &str) -> Result<(), SettingsSyntaxError> {
    toml::parse_to_json(&left).map_err(|_| {
        let what = format!(
            "the call of recoup in “{name}” can't be removed automatically: remove it by hand"
        );
        SettingsSyntaxError::at(text, text.find(name).unwrap_or(0), what)
    })?;
    *text = left;
    Ok(())
}
