//! Gemini CLI: servers among its settings, `~/.gemini/settings.json` or
//! `.gemini/settings.json` of a project.

use std::path::PathBuf;

use super::{Client, Level, Shape, Slot, servers};
use crate::install::places::Places;

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.home.join(".gemini")], &["gemini"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let dir = if level == Level::User { &places.home } else { &places.root };
    servers(Client::Gemini, level, dir.join(".gemini/settings.json"), "mcpServers", Shape::Plain)
}
