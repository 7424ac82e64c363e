//! `.ai-agent.json`: its block `cache`, and nothing else of it.

use super::section::Reader;
use crate::config::document::{Node, Value};
use crate::config::given::Raw;
use crate::config::keys::{MAX_ENTRIES, STORE};

const BLOCK: &str = "cache";

pub(super) fn walk(document: &Node, reader: &mut Reader) {
    let Some(block) = document.at(&[BLOCK]) else { return };
    let entries = reader.table(BLOCK, block, &["backend", "sqlite", "redis", "maxEntries"]);
    let redis = backend_is_redis(&entries, reader);
    for (name, full, node) in &entries {
        match *name {
            "backend" if redis => reader.give_raw(&STORE.info, full, node, Raw::Redis),
            "backend" => {}
            "sqlite" => sqlite(full, node, reader, !redis),
            "redis" => self::redis(full, node, reader),
            _ => reader.give(&MAX_ENTRIES.info, full, node),
        }
    }
}

type Entry<'a> = (&'static str, String, &'a Node);

fn backend_is_redis(entries: &[Entry<'_>], reader: &mut Reader) -> bool {
    let Some((_, full, node)) = entries.iter().find(|(name, ..)| *name == "backend") else {
        return false;
    };
    match &node.value {
        Value::Text(backend) if backend == "sqlite" => false,
        Value::Text(backend) if backend == "redis" => true,
        _ => {
            reader.refuse(full, node, "\"sqlite\" or \"redis\"");
            false
        }
    }
}

/// The path counts only where SQLite is what is asked for; it is checked either way.
fn sqlite(block: &str, node: &Node, reader: &mut Reader, counts: bool) {
    for (_, full, node) in reader.table(block, node, &["path"]) {
        match &node.value {
            Value::Text(path) if counts && !path.is_empty() => {
                let url = Raw::Text(format!("sqlite:{path}"));
                reader.give_raw(&STORE.info, &full, node, url);
            }
            Value::Text(path) if !path.is_empty() => {}
            _ => reader.refuse(&full, node, "a path"),
        }
    }
}

/// Checked, and of no effect. Messages name the key and never the value: one
/// of them is a password.
fn redis(block: &str, node: &Node, reader: &mut Reader) {
    let known = &["url", "username", "password", "database", "keyPrefix"];
    for (name, full, node) in reader.table(block, node, known) {
        let (fits, expected) = match (name, &node.value) {
            ("database", value) => (is_whole(value), "a whole number"),
            (_, value) => (matches!(value, Value::Text(_)), "a string"),
        };
        if !fits {
            reader.problem(&full, node, format!("expected {expected}"));
        }
    }
}

fn is_whole(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_u64(),
        Value::Text(text) => text.parse::<u32>().is_ok() || text.contains("${"),
        _ => false,
    }
}
