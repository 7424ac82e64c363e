//! `.ai-agent.json`: only its block `cache`.

use super::section::Reader;
use crate::config::document::{Node, Value};
use crate::config::given::Raw;
use crate::config::keys::{MAX_ENTRIES, STORE};
use crate::config::redis::RedisBlock;

const BLOCK: &str = "cache";

pub(super) fn walk(document: &Node, reader: &mut Reader) {
    let Some(block) = document.at(&[BLOCK]) else { return };
    let entries = reader.table(BLOCK, block, &["backend", "sqlite", "redis", "maxEntries"]);
    let wants_redis = backend_is_redis(&entries, reader);
    let mut server = RedisBlock::default();
    for (name, full, node) in &entries {
        match *name {
            "sqlite" => sqlite(full, node, reader, !wants_redis),
            "redis" => server = redis(full, node, reader),
            "maxEntries" => reader.give(&MAX_ENTRIES.info, full, node),
            _ => {}
        }
    }
    let backend = entries.iter().find(|(name, ..)| *name == "backend");
    if let Some((_, full, node)) = backend.filter(|_| wants_redis) {
        reader.give_raw(&STORE.info, full, node, Raw::Redis(Box::new(server)));
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

/// The path counts only if SQLite is the backend; it is checked either way.
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

/// Messages name the key and never the value, which may be a password.
fn redis(block: &str, node: &Node, reader: &mut Reader) -> RedisBlock {
    let known = &["url", "username", "password", "database", "keyPrefix"];
    let mut server = RedisBlock::default();
    for (name, full, node) in reader.table(block, node, known) {
        let (text, expected) = match (name, &node.value) {
            ("database", value) => (whole(value), "a whole number"),
            (_, Value::Text(text)) => (Some(text.clone()), "a string"),
            (_, _) => (None, "a string"),
        };
        if text.is_none() {
            reader.problem(&full, node, format!("expected {expected}"));
        }
        *match name {
            "url" => &mut server.url,
            "username" => &mut server.username,
            "password" => &mut server.password,
            "database" => &mut server.database,
            _ => &mut server.key_prefix,
        } = text;
    }
    server
}

/// The number as text, which may contain a variable.
fn whole(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        Value::Text(text) if text.parse::<u32>().is_ok() || text.contains("${") => {
            Some(text.clone())
        }
        _ => None,
    }
}
