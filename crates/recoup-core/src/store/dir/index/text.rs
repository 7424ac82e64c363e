//! JSON form of the index: read whole or not at all, and written readably.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::super::fields::raw;
use super::super::stats::Stats;
use super::Index;
use crate::base::clock::{Clock as _, SystemClock, Timestamp};

const SCHEMA_VERSION: &str = "1.0.0";

impl Index {
    /// Adds missing required fields, and leaves the others in place.
    pub(super) fn complete(&mut self) {
        if self.fields.get::<String>("schema_version").is_none() {
            self.fields.set("schema_version", raw(&SCHEMA_VERSION));
        }
        if self.fields.get::<String>("created_at").is_none() {
            self.fields.set("created_at", raw(&self.first_moment().to_second()));
        }
        self.fields.set("entries", raw(&()));
        if self.fields.get::<Stats>("stats").is_none() {
            self.tell_stats(Stats::default(), Stats::default());
        }
    }

    /// A rebuilt index gets the creation time of its oldest entry.
    fn first_moment(&self) -> Timestamp {
        let oldest = self.keys().filter_map(|key| self.listed(key)).map(|it| it.created_at).min();
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
    json.push_str(raw(&name).get());
    json.push_str(": ");
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Index;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an index")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Index, M::Error> {
                let mut index = Index::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "entries" {
                        index.entries = map.next_value()?;
                        index.fields.set(&name, raw(&()));
                    } else {
                        index.fields.set(&name, map.next_value()?);
                    }
                }
                Ok(index)
            }
        }
        deserializer.deserialize_map(Reader)
    }
}
