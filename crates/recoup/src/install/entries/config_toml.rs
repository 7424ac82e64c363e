//! Calls of ours that somebody wrote into Codex's `config.toml` by hand, in `[hooks]` or as `notify`.
//! Beside our `hooks.json` these would report everything twice: Codex runs the hooks of both files,
//! and `notify` repeats them.

use crate::clients;

use super::EditSummary;
use super::hooks::{self, custom_command_note, list_events};
use crate::install::edit::{
    EmptiedContainers, SettingsSyntax, SettingsSyntaxError, SettingsText, parse_settings,
};

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
    file: &mut SettingsText,
    notify_goes: bool,
) -> Result<EditSummary, SettingsSyntaxError> {
    let place = |event: &str| format!("config.toml at {event}");
    let mut done = hooks::remove_calls(file, &["hooks"], EmptiedContainers::Any, place)?;
    if let Some(call) = clients::call_in_notify(&file.value_at(&[]).unwrap_or_default()) {
        done.had_ours = true;
        if call.wrapped {
            done.add_note(custom_command_note("notify in config.toml", &call));
        } else if notify_goes {
            file.remove(&[NOTIFY.into()], EmptiedContainers::Any)?;
            done.said.push(NOTIFY.to_owned());
        }
    }
    if !done.said.is_empty() {
        done.said = vec![format!("hand-written calls: {}", list_events(&done.said))];
    }
    Ok(done)
}
