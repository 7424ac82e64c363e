//! Windsurf: servers in `~/.codeium/windsurf/mcp_config.json`; none for a project.
//!
//! Since June 2026 it is called Devin Desktop. Cascade still reads that file, and so does the
//! agent that replaces Cascade, which keeps its own settings in `~/.config/devin`.

use std::path::PathBuf;

use super::{Client, Level, Shape, Slot, servers};
use crate::install::places::Places;

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![dir(places), places.config.join("devin")], &["windsurf"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    if level == Level::Project {
        return Vec::new();
    }
    let path = dir(places).join("mcp_config.json");
    servers(Client::Windsurf, level, path, "mcpServers", Shape::Plain)
}

fn dir(places: &Places) -> PathBuf {
    places.home.join(".codeium/windsurf")
}
