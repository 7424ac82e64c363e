//! Pi: an extension that calls our hooks, and servers in a file of their own.
//!
//! ```text
//! user      ~/.pi/agent/extensions/recoup.ts, ~/.pi/agent/mcp.json
//! project   .pi/extensions/recoup.ts, .pi/mcp.json: both once Pi's user trusts the project
//! ```
//!
//! Older versions have no servers, and ignore that file.

use std::path::PathBuf;

use super::{
    AgentClient, InstallLevel, ServerEntryShape, ServerLayout, SettingsContent, SettingsFile,
};
use crate::install::edit::JsonDialect;
use crate::install::places::InstallPaths;

pub(super) fn detection_hints(places: &InstallPaths) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.pi.clone()], &["pi"])
}

pub(super) fn settings_files(level: InstallLevel, places: &InstallPaths) -> Vec<SettingsFile> {
    let dir = match level {
        InstallLevel::User => places.pi.clone(),
        InstallLevel::Project => places.root.join(".pi"),
    };
    // Pi accepts no comments there.
    let at = vec!["mcpServers".to_owned()];
    let servers = ServerLayout { at, shape: ServerEntryShape::Plain, dialect: JsonDialect::Strict };
    let slot = |name, holds| SettingsFile::new(AgentClient::Pi, level, dir.join(name), holds);
    vec![
        slot("extensions/recoup.ts", SettingsContent::Extension),
        slot("mcp.json", SettingsContent::Servers(servers)),
    ]
}
