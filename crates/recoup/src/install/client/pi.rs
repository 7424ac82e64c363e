//! Pi: an extension that calls our hooks, and servers in a file of their own.
//!
//! ```text
//! user      ~/.pi/agent/extensions/recoup.ts, ~/.pi/agent/mcp.json
//! project   .pi/extensions/recoup.ts, .pi/mcp.json: both once Pi's user trusts the project
//! ```
//!
//! Older versions have no servers, and ignore that file.

use std::path::PathBuf;

use super::{Client, Holds, Level, Servers, Shape, Slot};
use crate::install::edit::Dialect;
use crate::install::places::Places;

pub(super) fn signs(places: &Places) -> (Vec<PathBuf>, &'static [&'static str]) {
    (vec![places.pi.clone()], &["pi"])
}

pub(super) fn slots(level: Level, places: &Places) -> Vec<Slot> {
    let dir = match level {
        Level::User => places.pi.clone(),
        Level::Project => places.root.join(".pi"),
    };
    // Pi accepts no comments there.
    let at = vec!["mcpServers".to_owned()];
    let servers = Servers { at, shape: Shape::Plain, dialect: Dialect::Strict };
    let slot = |name, holds| Slot::new(Client::Pi, level, dir.join(name), holds);
    vec![slot("extensions/recoup.ts", Holds::Extension), slot("mcp.json", Holds::Servers(servers))]
}
