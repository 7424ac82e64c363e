//! Our plugin (`plugin/` in the repository) beside what `recoup init` writes: its server offers
//! nothing if the settings have ours, and its hooks are those of the table of clients.

use super::call::call_in_server;
use super::hook_settings::read_json;
use super::settings_file::{SettingsFile, SettingsSyntax};
use super::spec::InstallLevel;
use super::{AgentClient, ClientPlaces};

/// True if the user's or the project's JSON settings start our server. Codex needs no such check:
/// a server in its own settings replaces one of a plugin by its name.
pub(crate) fn has_our_server(client: AgentClient, places: &ClientPlaces<'_>) -> bool {
    let at_level = |level| client.files_at(level, places.dirs, places.root, None);
    let mut files = InstallLevel::ALL.into_iter().flat_map(at_level);
    files.any(|file| starts_our_server(&file).unwrap_or(false))
}

fn starts_our_server(file: &SettingsFile) -> Option<bool> {
    let SettingsSyntax::Json(dialect) = file.holds.syntax() else { return None };
    let (at, root) = (file.holds.servers_at()?, read_json(&file.path, dialect)?);
    let servers = at.iter().try_fold(&root, |value, name| value.get(name))?.as_object()?;
    Some(servers.values().any(|entry| call_in_server(entry).is_some()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    #[test]
    fn the_plugin_has_the_hooks_of_the_table() {
        for (client, root, file) in [
            (
                AgentClient::ClaudeCode,
                "CLAUDE_PLUGIN_ROOT",
                include_str!("../../../../plugin/hooks/hooks.json"),
            ),
            (
                AgentClient::Codex,
                "PLUGIN_ROOT",
                include_str!("../../../../plugin/hooks/codex.json"),
            ),
        ] {
            let hooks = client.spec().hooks.as_ref().unwrap();
            let of_event = |event: &str, timeout: u64| {
                let script = format!("sh \"${{{root}}}/hooks/recoup.sh\"");
                let command = format!("{script} {} {event}", client.as_str());
                json!([{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}])
            };
            let expected: Map<String, Value> = hooks
                .events
                .iter()
                .map(|it| (it.name.to_owned(), of_event(it.name, it.timeout)))
                .collect();
            let file: Value = serde_json::from_str(file).unwrap();
            assert_eq!(file, json!({"hooks": expected}), "{client:?}");
        }
    }
}
