//! Our own files, `config.toml` and `recoup.toml`: only names in the table of keys.

use super::section::Reader;
use crate::config::document::{Node, Value};
use crate::config::keys::{self, Info, KEYS, Repository};
use crate::config::prices;

pub(super) fn walk(document: &Node, reader: &mut Reader) {
    entries("", document, reader);
}

fn entries(above: &str, node: &Node, reader: &mut Reader) {
    let Value::Table(entries) = &node.value else {
        return reader.refuse(above, node, "a table");
    };
    for (name, node) in entries {
        match (above, name.as_str()) {
            ("", "prices") => models(node, reader),
            _ => entry(&joined(above, name), node, reader),
        }
    }
}

/// Reads `[prices."MODEL"]`, from the user's file only: with a repository's prices, costs of
/// projects would not be comparable.
fn models(node: &Node, reader: &mut Reader) {
    if !reader.is_users() {
        let message = "prices belong into your own configuration file (`recoup config path`)";
        return reader.problem("prices", node, message);
    }
    let Value::Table(entries) = &node.value else {
        return reader.refuse("prices", node, "a table for each model");
    };
    for (model, node) in entries {
        match prices::read(node) {
            Ok(price) => reader.prices.push((model.clone(), price)),
            Err((entry, why)) => reader.problem(&format!("prices.{model:?}{entry}"), node, why),
        }
    }
}

fn entry(full: &str, node: &Node, reader: &mut Reader) {
    match keys::find(full) {
        Some(key) if !reader.is_users() && !may_say(key, &node.value) => {
            let message = match key.repository {
                Repository::MaySwitchOff => "a repository may only switch it off (false)",
                _ => "this belongs into your own configuration file (`recoup config path`)",
            };
            reader.problem(full, node, message);
        }
        Some(key) => reader.give(key, full, node),
        None if is_table(full) => entries(full, node, reader),
        None => reader.unknown(full, node, KEYS.iter().map(|key| key.info().name)),
    }
}

/// True if a repository's file may set this value at all, with trust or without.
fn may_say(key: &Info, value: &Value) -> bool {
    match key.repository {
        Repository::May | Repository::MayForItself | Repository::AfterTrust => true,
        Repository::MaySwitchOff => matches!(value, Value::Bool(false)),
        Repository::MayNot => false,
    }
}

fn is_table(full: &str) -> bool {
    let begins = |name: &str| name.strip_prefix(full).is_some_and(|rest| rest.starts_with('.'));
    KEYS.iter().any(|key| begins(key.info().name))
}

fn joined(above: &str, name: &str) -> String {
    // `"cache.ttl"` is one name with a dot in it, and no key has one.
    let name = if name.contains('.') { format!("{name:?}") } else { name.to_owned() };
    if above.is_empty() { name } else { format!("{above}.{name}") }
}
