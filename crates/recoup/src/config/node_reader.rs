//! Typed values of a configuration tree, read strictly: what is wrong is collected, with its key and
//! line. Definitions in our configuration and agent files are read with it.

use std::collections::BTreeMap;
use std::time::Duration;

use recoup_core::cache::Ttl;
use serde_json::Value;

use super::document::{ConfigNode, ConfigValue};
use super::problem::{ALL_KEYS, unknown_key_message};

/// A problem below one file.
#[derive(Debug, Clone)]
pub(crate) struct NodeProblem {
    pub(crate) key: String,
    pub(crate) line: Option<u64>,
    pub(crate) message: String,
}

/// Reads values, and collects problems.
#[derive(Debug, Default)]
pub(crate) struct NodeReader {
    pub(crate) problems: Vec<NodeProblem>,
}

impl NodeReader {
    pub(crate) fn add(&mut self, key: &str, node: &ConfigNode, message: impl Into<String>) {
        let (key, message) = (key.to_owned(), message.into());
        self.problems.push(NodeProblem { key, line: node.line, message });
    }

    /// Adds a problem: the value is not what `expected` says.
    pub(crate) fn add_type(&mut self, key: &str, node: &ConfigNode, expected: &str) {
        self.add(key, node, format!("expected {expected} (got {})", node.value));
    }

    /// Adds a problem: there is no such key.
    pub(crate) fn add_unknown(&mut self, key: &str, node: &ConfigNode, known: &[&str]) {
        self.add(key, node, unknown_key_message(key, known.iter().copied(), ALL_KEYS));
    }

    /// The entries of a table; none with a problem if it is not one.
    pub(crate) fn table<'n>(
        &mut self,
        key: &str,
        node: &'n ConfigNode,
    ) -> Option<&'n [(String, ConfigNode)]> {
        if let ConfigValue::Table(entries) = &node.value {
            return Some(entries);
        }
        self.add_type(key, node, "a table");
        None
    }

    /// A text that is not empty.
    pub(crate) fn text(&mut self, key: &str, node: &ConfigNode, expected: &str) -> Option<String> {
        let text = text_of(node);
        if text.is_none() {
            self.add_type(key, node, expected);
        }
        text
    }

    /// A list of texts, or one text. Wrong items are not repeated: they may be credentials.
    pub(crate) fn texts(
        &mut self,
        key: &str,
        node: &ConfigNode,
        expected: &str,
    ) -> Option<Vec<(String, Option<u64>)>> {
        let with_line = |node: &ConfigNode| Some((text_of(node)?, node.line));
        let texts = match &node.value {
            ConfigValue::List(items) => items.iter().map(with_line).collect(),
            _ => with_line(node).map(|text| vec![text]),
        };
        if texts.is_none() {
            self.add(key, node, format!("expected {expected}"));
        }
        texts
    }

    /// A table of texts, whose values are not repeated: they may be credentials.
    pub(crate) fn text_map(
        &mut self,
        key: &str,
        node: &ConfigNode,
    ) -> Option<BTreeMap<String, String>> {
        let ConfigValue::Table(entries) = &node.value else {
            self.add(key, node, "expected a table of texts");
            return None;
        };
        let mut map = BTreeMap::new();
        for (name, node) in entries {
            let value = match &node.value {
                ConfigValue::Text(text) => text.clone(),
                ConfigValue::Number(number) => number.to_string(),
                ConfigValue::Bool(value) => value.to_string(),
                _ => {
                    self.add(&format!("{key}.{name}"), node, "expected text");
                    return None;
                }
            };
            map.insert(name.clone(), value);
        }
        Some(map)
    }

    /// True or false; `yes`, `no`, `on` and `off` as text, too.
    pub(crate) fn boolean(&mut self, key: &str, node: &ConfigNode) -> Option<bool> {
        let value = match &node.value {
            ConfigValue::Bool(value) => Some(*value),
            ConfigValue::Text(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => Some(true),
                "false" | "no" | "off" => Some(false),
                _ => None,
            },
            _ => None,
        };
        if value.is_none() {
            self.add_type(key, node, "true or false");
        }
        value
    }

    /// A finite number of at least 0.
    pub(crate) fn number(&mut self, key: &str, node: &ConfigNode) -> Option<f64> {
        let value = match &node.value {
            ConfigValue::Number(number) => number.as_f64(),
            ConfigValue::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        let value = value.filter(|value: &f64| value.is_finite() && *value >= 0.0);
        if value.is_none() {
            self.add_type(key, node, "a number");
        }
        value
    }

    /// A whole number above 0, also as text.
    pub(crate) fn count(&mut self, key: &str, node: &ConfigNode) -> Option<u32> {
        let value = match &node.value {
            ConfigValue::Number(number) => number.as_u64(),
            ConfigValue::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        let value = value.and_then(|value| u32::try_from(value).ok()).filter(|value| *value > 0);
        if value.is_none() {
            self.add_type(key, node, "a whole number above 0");
        }
        value
    }

    /// A whole number, also as text.
    pub(crate) fn count_or_zero(&mut self, key: &str, node: &ConfigNode) -> Option<u32> {
        let is_zero = match &node.value {
            ConfigValue::Number(number) => number.as_u64() == Some(0),
            ConfigValue::Text(text) => text.trim() == "0",
            _ => false,
        };
        if is_zero { Some(0) } else { self.count(key, node) }
    }

    /// A TTL of contract 2: a bare number is milliseconds.
    pub(crate) fn ttl(&mut self, key: &str, node: &ConfigNode) -> Option<Ttl> {
        let value = match &node.value {
            ConfigValue::List(_) | ConfigValue::Table(_) | ConfigValue::Other(_) => {
                self.add_type(key, node, EXPECTED_TTL);
                return None;
            }
            _ => node.to_json().unwrap_or(Value::Null),
        };
        let read = Ttl::from_json(key, &value);
        read.map_err(|error| {
            let message = error.to_string();
            let bare = message.strip_prefix(key).and_then(|rest| rest.strip_prefix(": "));
            self.add(key, node, bare.unwrap_or(&message));
        })
        .ok()
    }

    /// A time limit: milliseconds or a duration, more than nothing.
    pub(crate) fn time_limit(&mut self, key: &str, node: &ConfigNode) -> Option<Duration> {
        let millis = node.to_json().and_then(|value| Ttl::from_json(key, &value).ok()?.as_millis());
        let limit = millis.filter(|millis| *millis > 0).map(Duration::from_millis);
        if limit.is_none() {
            self.add_type(key, node, "a number of milliseconds or a duration such as 30s");
        }
        limit
    }
}

/// The text of a node; none if it is something else, or empty.
fn text_of(node: &ConfigNode) -> Option<String> {
    match &node.value {
        ConfigValue::Text(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    }
}

const EXPECTED_TTL: &str = "'off', 'forever', a number of milliseconds or a duration such as 5m";
