//! Zed: servers among its settings, `~/.config/zed/settings.json` or `.zed/settings.json` of a
//! project, under `context_servers`. Older versions require the source of a server, newer ones
//! ignore it.

use std::path::PathBuf;

use super::{AgentClient, InstallLevel, ServerEntryShape, SettingsFile, server_settings_file};
use crate::install::places::InstallPaths;

pub(super) fn detection_hints(places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![dir(places)], &["zed", "zeditor"])
}

pub(super) fn settings_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let path = match level {
        InstallLevel::User => dir(places).join("settings.json"),
        InstallLevel::Project => places.root.join(".zed/settings.json"),
    };
    server_settings_file(AgentClient::Zed, level, path, "context_servers", ServerEntryShape::Custom)
}

/// On macOS Zed ignores `XDG_CONFIG_HOME`.
fn dir(places: &InstallPaths) -> PathBuf {
    if cfg!(target_os = "macos") {
        return places.home.join(".config/zed");
    }
    places.config.join("zed")
}
