//! VS Code: servers in `mcp.json` of the user's profile, or `.vscode/mcp.json` of a project.

use std::path::PathBuf;

use super::{AgentClient, InstallLevel, ServerEntryShape, SettingsFile, server_settings_file};
use crate::install::places::InstallPaths;

pub(super) fn detection_hints(places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![profile(places)], &["code"])
}

pub(super) fn settings_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let path = match level {
        InstallLevel::User => profile(places).join("mcp.json"),
        InstallLevel::Project => places.root.join(".vscode/mcp.json"),
    };
    server_settings_file(AgentClient::VsCode, level, path, "servers", ServerEntryShape::Typed)
}

/// The default profile.
fn profile(places: &InstallPaths) -> PathBuf {
    if cfg!(target_os = "macos") {
        return places.home.join("Library/Application Support/Code/User");
    }
    places.config.join("Code/User")
}
