//! Pi: an extension, in `~/.pi/agent/extensions` or `.pi/extensions` of a project. Pi itself
//! has no servers to register.

use std::path::PathBuf;

use super::{Client, Holds, Level, Slot};
use crate::install::places::Places;

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.pi.clone()], &["pi"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let dir = match level {
        Level::User => places.pi.clone(),
        Level::Project => places.root.join(".pi"),
    };
    vec![Slot::new(Client::Pi, level, dir.join("extensions/recoup.ts"), Holds::Extension)]
}
