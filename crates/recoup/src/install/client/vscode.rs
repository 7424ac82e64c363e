//! VS Code: servers in `mcp.json` of the user's profile, or `.vscode/mcp.json` of a project.

use std::path::PathBuf;

use super::{Client, Level, Shape, Slot, servers};
use crate::install::places::Places;

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![profile(places)], &["code"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let path = match level {
        Level::User => profile(places).join("mcp.json"),
        Level::Project => places.root.join(".vscode/mcp.json"),
    };
    servers(Client::VsCode, level, path, "servers", Shape::Typed)
}

/// The default profile.
fn profile(places: &Places) -> PathBuf {
    if cfg!(target_os = "macos") {
        return places.home.join("Library/Application Support/Code/User");
    }
    places.config.join("Code/User")
}
