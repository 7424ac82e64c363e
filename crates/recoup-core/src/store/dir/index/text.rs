//! JSON form of the index: read whole or not at all, and written readably.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::super::fields::to_raw_json;
use super::super::stats::IndexStats;
use super::DirectoryIndex;
use crate::base::clock::{Clock as _, SystemClock, Timestamp};

const SCHEMA_VERSION: &str = "1.0.0";

impl DirectoryIndex {
    /// Adds missing required fields, and leaves the others in place.
    pub(super) fn add_required_fields(&mut self) {
        if self.fields.get::<String>("schema_version").is_none() {
            self.fields.set("schema_version", to_raw_json(&SCHEMA_VERSION));
        }
        if self.fields.get::<String>("created_at").is_none() {
            self.fields.set("created_at", to_raw_json(&self.oldest_creation().to_second_string()));
        }
        self.fields.set("entries", to_raw_json(&()));
        if self.fields.get::<IndexStats>("stats").is_none() {
            self.apply_stats(IndexStats::default(), IndexStats::default());
        }
    }

    /// A rebuilt index gets the creation time of its oldest entry.
    fn oldest_creation(&self) -> Timestamp {
        let oldest =
            self.keys().filter_map(|key| self.entry_for(key)).map(|it| it.created_at).min();
        oldest.map_or_else(|| SystemClock.now(), Timestamp::from_seconds)
    }

    /// Writes one line per entry, for human readers.
    pub(super) fn to_json(&self) -> String {
        let mut json = String::from("{");
        for (n, (name, value)) in self.fields.iter().enumerate() {
            start_line(&mut json, n, "  ", name);
            match name {
                "entries" => self.entries_to_json(&mut json),
                _ => json.push_str(value.get()),
            }
        }
        json.push_str("\n}\n");
        json
    }

    fn entries_to_json(&self, json: &mut String) {
        json.push('{');
        for (n, (key, entry)) in self.entries.iter().enumerate() {
            start_line(json, n, "    ", key);
            json.push_str(entry.get());
        }
        json.push_str(if self.entries.is_empty() { "}" } else { "\n  }" });
    }
}

fn start_line(json: &mut String, number: usize, indent: &str, name: &str) {
    json.push_str(if number == 0 { "\n" } else { ",\n" });
    json.push_str(indent);
    json.push_str(to_raw_json(&name).get());
    json.push_str(": ");
}

impl<'de> Deserialize<'de> for DirectoryIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IndexVisitor;
        impl<'de> Visitor<'de> for IndexVisitor {
            type Value = DirectoryIndex;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an index")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<DirectoryIndex, M::Error> {
                let mut index = DirectoryIndex::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "entries" {
                        index.entries = map.next_value()?;
                        index.fields.set(&name, to_raw_json(&()));
                    } else {
                        index.fields.set(&name, map.next_value()?);
                    }
                }
                Ok(index)
            }
        }
        deserializer.deserialize_map(IndexVisitor)
    }
}
