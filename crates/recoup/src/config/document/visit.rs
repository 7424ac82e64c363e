//! Builds the tree from a serde deserializer. Generic over the node, as YAML has positions and JSON
//! has none.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{ConfigNode, ConfigValue};

/// Visitor of one value whose children are `N`s.
pub(super) struct TreeVisitor<N>(PhantomData<N>);

impl<N> TreeVisitor<N> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, N: Deserialize<'de> + Into<ConfigNode>> Visitor<'de> for TreeVisitor<N> {
    type Value = ConfigValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Number(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Other(value.to_string()))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Other(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<ConfigValue, E> {
        Ok(Number::from_f64(value)
            .map_or_else(|| ConfigValue::Other(value.to_string()), ConfigValue::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ConfigValue, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ConfigValue::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ConfigValue, A::Error> {
        let mut table = Vec::new();
        while let Some((EntryName(name), node)) = entries.next_entry::<EntryName, N>()? {
            table.push((name, node.into()));
        }
        Ok(ConfigValue::Table(table))
    }
}

/// The name of an entry. YAML permits names that are not text: none of our keys is one.
struct EntryName(String);

impl<'de> Deserialize<'de> for EntryName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(TreeVisitor::<IgnoredName>::new())?;
        Ok(Self(match value {
            ConfigValue::Text(name) => name,
            other => other.to_string(),
        }))
    }
}

/// Placeholder for the content of a name that is itself a table, which is ignored.
struct IgnoredName;

impl<'de> Deserialize<'de> for IgnoredName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl From<IgnoredName> for ConfigNode {
    fn from(IgnoredName: IgnoredName) -> Self {
        Self { line: None, value: ConfigValue::Null }
    }
}
