//! A JSON object of which we know some fields: the others, and their order, are preserved.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Debug, Clone, Default)]
pub(super) struct JsonFields(Vec<(String, Box<RawValue>)>);

impl JsonFields {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), &**value))
    }

    /// A field, if it is present and has that type.
    pub(super) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let (_, value) = self.0.iter().find(|(found, _)| found == name)?;
        serde_json::from_str(value.get()).ok()
    }

    pub(super) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(found, _)| found == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Sets all fields of another object.
    pub(super) fn set_all(&mut self, others: Self) {
        for (name, value) in others.0 {
            self.set(&name, value);
        }
    }
}

/// Serializes a value that cannot fail to.
pub(super) fn to_raw_json(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("text, numbers and lists always serialize")
}

impl Serialize for JsonFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for JsonFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JsonFieldsVisitor;
        impl<'de> Visitor<'de> for JsonFieldsVisitor {
            type Value = JsonFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<JsonFields, M::Error> {
                let mut fields = JsonFields::default();
                while let Some((name, value)) = map.next_entry::<String, _>()? {
                    fields.set(&name, value);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(JsonFieldsVisitor)
    }
}
