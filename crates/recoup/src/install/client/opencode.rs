//! opencode: servers in `opencode.json` or `opencode.jsonc`, in `~/.config/opencode` or at the
//! root of a project, whichever exists.

use std::path::PathBuf;

use super::{Client, Level, Shape, Slot, servers};
use crate::install::places::Places;

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.config.join("opencode")], &["opencode"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let dir = match level {
        Level::User => places.config.join("opencode"),
        Level::Project => places.root.clone(),
    };
    let with_comments = dir.join("opencode.jsonc");
    let path = if with_comments.exists() { with_comments } else { dir.join("opencode.json") };
    servers(Client::OpenCode, level, path, "mcp", Shape::Local)
}
