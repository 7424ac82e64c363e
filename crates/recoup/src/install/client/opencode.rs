//! opencode: servers in `opencode.json` or `opencode.jsonc`, in `~/.config/opencode` or at the
//! root of a project, whichever exists.

use std::path::PathBuf;

use super::{AgentClient, InstallLevel, ServerEntryShape, SettingsFile, server_settings_file};
use crate::install::places::InstallPaths;

pub(super) fn detection_hints(places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.config.join("opencode")], &["opencode"])
}

pub(super) fn settings_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let dir = match level {
        InstallLevel::User => places.config.join("opencode"),
        InstallLevel::Project => places.root.clone(),
    };
    let with_comments = dir.join("opencode.jsonc");
    let path = if with_comments.exists() { with_comments } else { dir.join("opencode.json") };
    server_settings_file(AgentClient::OpenCode, level, path, "mcp", ServerEntryShape::Local)
}
