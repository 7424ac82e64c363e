//! Zed: servers among its settings, `~/.config/zed/settings.json` or `.zed/settings.json` of a
//! project, under `context_servers`. Older versions require the source of a server, newer ones
//! ignore it.

use std::path::PathBuf;

use super::{Client, Level, Shape, Slot, servers};
use crate::install::places::Places;

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![dir(places)], &["zed", "zeditor"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let path = match level {
        Level::User => dir(places).join("settings.json"),
        Level::Project => places.root.join(".zed/settings.json"),
    };
    servers(Client::Zed, level, path, "context_servers", Shape::Custom)
}

/// On macOS Zed ignores `XDG_CONFIG_HOME`.
fn dir(places: &Places) -> PathBuf {
    if cfg!(target_os = "macos") {
        return places.home.join(".config/zed");
    }
    places.config.join("zed")
}
