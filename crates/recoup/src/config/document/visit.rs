//! Builds the tree from a serde deserializer. Generic over the node, as YAML has positions and JSON
//! has none.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Node, Value};

/// Visitor of one value whose children are `N`s.
pub(super) struct Tree<N>(PhantomData<N>);

impl<N> Tree<N> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, N: Deserialize<'de> + Into<Node>> Visitor<'de> for Tree<N> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or_else(|| Value::Other(value.to_string()), Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut table = Vec::new();
        while let Some((Name(name), node)) = entries.next_entry::<Name, N>()? {
            table.push((name, node.into()));
        }
        Ok(Value::Table(table))
    }
}

/// The name of an entry. YAML permits names that are not text: none of our keys is one.
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(Tree::<NoName>::new())?;
        Ok(Self(match value {
            Value::Text(name) => name,
            other => other.to_string(),
        }))
    }
}

/// Placeholder for the content of a name that is itself a table, which is ignored.
struct NoName;

impl<'de> Deserialize<'de> for NoName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl From<NoName> for Node {
    fn from(NoName: NoName) -> Self {
        Self { line: None, value: Value::Null }
    }
}
