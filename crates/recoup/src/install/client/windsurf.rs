//! Windsurf: servers in `~/.codeium/windsurf/mcp_config.json`; none for a project.
//!
//! Since June 2026 it is called Devin Desktop. Cascade still reads that file, and so does the
//! agent that replaces Cascade, which keeps its own settings in `~/.config/devin`.

use std::path::PathBuf;

use super::{AgentClient, InstallLevel, ServerEntryShape, SettingsFile, server_settings_file};
use crate::install::places::InstallPaths;

pub(super) fn detection_hints(places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![dir(places), places.config.join("devin")], &["windsurf"])
}

pub(super) fn settings_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    if level == InstallLevel::Project {
        return Vec::new();
    }
    let path = dir(places).join("mcp_config.json");
    server_settings_file(AgentClient::Windsurf, level, path, "mcpServers", ServerEntryShape::Plain)
}

fn dir(places: &InstallPaths) -> PathBuf {
    places.home.join(".codeium/windsurf")
}
