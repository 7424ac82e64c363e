//! `.ai-agent.json`: only its block `cache`.

use super::section::SectionReader;
use crate::config::configured_value::RawSetting;
use crate::config::document::{ConfigNode, ConfigValue};
use crate::config::keys::{MAX_ENTRIES, STORE};
use crate::config::redis::RedisBlock;

const BLOCK: &str = "cache";

pub(super) fn walk(document: &ConfigNode, reader: &mut SectionReader) {
    let Some(block) = document.at(&[BLOCK]) else { return };
    let entries = reader.table(BLOCK, block, &["backend", "sqlite", "redis", "maxEntries"]);
    let wants_redis = backend_is_redis(&entries, reader);
    let mut server = RedisBlock::default();
    for (name, full, node) in &entries {
        match *name {
            "sqlite" => sqlite(full, node, reader, !wants_redis),
            "redis" => server = redis(full, node, reader),
            "maxEntries" => reader.add_value(&MAX_ENTRIES.info, full, node),
            _ => {}
        }
    }
    let backend = entries.iter().find(|(name, ..)| *name == "backend");
    if let Some((_, full, node)) = backend.filter(|_| wants_redis) {
        reader.add_raw_value(&STORE.info, full, node, RawSetting::Redis(Box::new(server)));
    }
}

type BlockEntry<'a> = (&'static str, String, &'a ConfigNode);

fn backend_is_redis(entries: &[BlockEntry<'_>], reader: &mut SectionReader) -> bool {
    let Some((_, full, node)) = entries.iter().find(|(name, ..)| *name == "backend") else {
        return false;
    };
    match &node.value {
        ConfigValue::Text(backend) if backend == "sqlite" => false,
        ConfigValue::Text(backend) if backend == "redis" => true,
        _ => {
            reader.add_type_problem(full, node, "\"sqlite\" or \"redis\"");
            false
        }
    }
}

/// The path counts only if SQLite is the backend; it is checked either way.
fn sqlite(block: &str, node: &ConfigNode, reader: &mut SectionReader, counts: bool) {
    for (_, full, node) in reader.table(block, node, &["path"]) {
        match &node.value {
            ConfigValue::Text(path) if counts && !path.is_empty() => {
                let url = RawSetting::Text(format!("sqlite:{path}"));
                reader.add_raw_value(&STORE.info, &full, node, url);
            }
            ConfigValue::Text(path) if !path.is_empty() => {}
            _ => reader.add_type_problem(&full, node, "a path"),
        }
    }
}

/// Messages name the key and never the value, which may be a password.
fn redis(block: &str, node: &ConfigNode, reader: &mut SectionReader) -> RedisBlock {
    let known = &["url", "username", "password", "database", "keyPrefix"];
    let mut server = RedisBlock::default();
    for (name, full, node) in reader.table(block, node, known) {
        let (text, expected) = match (name, &node.value) {
            ("database", value) => (whole_number_text(value), "a whole number"),
            (_, ConfigValue::Text(text)) => (Some(text.clone()), "a string"),
            (_, _) => (None, "a string"),
        };
        if text.is_none() {
            reader.add_problem(&full, node, format!("expected {expected}"));
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
fn whole_number_text(value: &ConfigValue) -> Option<String> {
    match value {
        ConfigValue::Number(number) => number.as_u64().map(|number| number.to_string()),
        ConfigValue::Text(text) if text.parse::<u32>().is_ok() || text.contains("${") => {
            Some(text.clone())
        }
        _ => None,
    }
}
