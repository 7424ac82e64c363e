//! Our own files, `config.toml` and `recoup.toml`: only names in the table of keys.

use super::section::SectionReader;
use crate::config::document::{ConfigNode, ConfigValue};
use crate::config::keys::{self, KEYS, KeyInfo, RepositoryPermission};
use crate::config::prices;

pub(super) fn walk(document: &ConfigNode, reader: &mut SectionReader) {
    read_table("", document, reader);
}

fn read_table(above: &str, node: &ConfigNode, reader: &mut SectionReader) {
    let ConfigValue::Table(entries) = &node.value else {
        return reader.add_type_problem(above, node, "a table");
    };
    for (name, node) in entries {
        match (above, name.as_str()) {
            ("", "prices") => read_prices(node, reader),
            _ => read_entry(&join_name(above, name), node, reader),
        }
    }
}

/// Reads `[prices."MODEL"]`, from the user's file only: with a repository's prices, costs of
/// projects would not be comparable.
fn read_prices(node: &ConfigNode, reader: &mut SectionReader) {
    if !reader.is_user_file() {
        let message = "prices belong into your own configuration file (`recoup config path`)";
        return reader.add_problem("prices", node, message);
    }
    let ConfigValue::Table(entries) = &node.value else {
        return reader.add_type_problem("prices", node, "a table for each model");
    };
    for (model, node) in entries {
        match prices::read_price(node) {
            Ok(price) => reader.prices.push((model.clone(), price)),
            Err((entry, why)) => reader.add_problem(&format!("prices.{model:?}{entry}"), node, why),
        }
    }
}

fn read_entry(full: &str, node: &ConfigNode, reader: &mut SectionReader) {
    match keys::find_key(full) {
        Some(key) if !reader.is_user_file() && !may_repository_set(key, &node.value) => {
            let message = match key.repository {
                RepositoryPermission::MaySwitchOff => "a repository may only switch it off (false)",
                _ => "this belongs into your own configuration file (`recoup config path`)",
            };
            reader.add_problem(full, node, message);
        }
        Some(key) => reader.add_value(key, full, node),
        None if is_table(full) => read_table(full, node, reader),
        None => reader.add_unknown_name(full, node, KEYS.iter().map(|key| key.info().name)),
    }
}

/// True if a repository's file may set this value at all, with trust or without.
fn may_repository_set(key: &KeyInfo, value: &ConfigValue) -> bool {
    match key.repository {
        RepositoryPermission::May
        | RepositoryPermission::MayForItself
        | RepositoryPermission::AfterTrust => true,
        RepositoryPermission::MaySwitchOff => matches!(value, ConfigValue::Bool(false)),
        RepositoryPermission::MayNot => false,
    }
}

fn is_table(full: &str) -> bool {
    let begins = |name: &str| name.strip_prefix(full).is_some_and(|rest| rest.starts_with('.'));
    KEYS.iter().any(|key| begins(key.info().name))
}

fn join_name(above: &str, name: &str) -> String {
    // `"cache.ttl"` is one name with a dot in it, and no key has one.
    let name = if name.contains('.') { format!("{name:?}") } else { name.to_owned() };
    if above.is_empty() { name } else { format!("{above}.{name}") }
}
