//! Gemini CLI: servers among its settings, `~/.gemini/settings.json` or
//! `.gemini/settings.json` of a project.

use std::path::PathBuf;

use super::{AgentClient, InstallLevel, ServerEntryShape, SettingsFile, server_settings_file};
use crate::install::places::InstallPaths;

pub(super) fn detection_hints(places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.home.join(".gemini")], &["gemini"])
}

pub(super) fn settings_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let dir = if level == InstallLevel::User { &places.home } else { &places.root };
    server_settings_file(
        AgentClient::Gemini,
        level,
        dir.join(".gemini/settings.json"),
        "mcpServers",
        ServerEntryShape::Plain,
    )
}
