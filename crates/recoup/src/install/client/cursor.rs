//! Cursor: servers in `~/.cursor/mcp.json`, or `.cursor/mcp.json` of a project.

use std::path::PathBuf;

use super::{Client, Level, Shape, Slot, servers};
use crate::install::places::Places;

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.home.join(".cursor")], &["cursor", "cursor-agent"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let dir = if level == Level::User { &places.home } else { &places.root };
    servers(Client::Cursor, level, dir.join(".cursor/mcp.json"), "mcpServers", Shape::Plain)
}
