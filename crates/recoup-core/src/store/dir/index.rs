//! `index.json`, as contract 1 has it: for us an export, for other tools the
//! truth. What we do not know in it is kept as it is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::{Fields, raw};
use super::layout;
use super::listed::Listed;
use super::stats::Stats;
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx;
use crate::base::name::Name;
use crate::error::{ErrorKind, Result};

const SCHEMA_VERSION: &str = "1.0.0";

/// What is found in the place of an index.
#[derive(Debug)]
pub(super) enum Found {
    Whole(Index),
    /// Nothing is lost with it: it is not there, or empty.
    Nothing,
    /// Something that is no index.
    Broken,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    /// Everything but the entries, which only have their place among them.
    fields: Fields,
    entries: BTreeMap<String, Box<RawValue>>,
}

impl Index {
    /// An empty one that has been counting since the beginning. When it was begun
    /// shows when it is written.
    pub(super) fn with_stats(stats: Stats) -> Self {
        let mut index = Self::default();
        for name in ["schema_version", "created_at", "entries"] {
            index.fields.set(name, raw(&()));
        }
        index.add_stats(Stats::default(), stats);
        index
    }

    /// Read whole, or not at all.
    pub(super) fn find(path: &Path) -> Result<Found> {
        let json = match layout::read(path) {
            Ok(None) => return Ok(Found::Nothing),
            Ok(Some(json)) if json.trim_ascii().is_empty() => return Ok(Found::Nothing),
            Ok(Some(json)) => json,
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(Found::Broken),
            Err(error) => return Err(error),
        };
        Ok(serde_json::from_slice(&json).map_or(Found::Broken, Found::Whole))
    }

    /// What a reader makes of it: a broken index lists nothing.
    pub(super) fn read(path: &Path) -> Result<Self> {
        Ok(match Self::find(path)? {
            Found::Whole(index) => index,
            Found::Nothing | Found::Broken => Self::default(),
        })
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// What is said of an entry, if all of it can be read.
    pub(super) fn listed(&self, key: &str) -> Option<Listed> {
        serde_json::from_str(self.entries.get(key)?.get()).ok()
    }

    /// The file of an entry's full result, where that is one of ours: the path
    /// before it is as its writer saw the directory.
    pub(super) fn full_name(&self, key: &str) -> Option<String> {
        let entry: Fields = serde_json::from_str(self.entries.get(key)?.get()).ok()?;
        let path = PathBuf::from(entry.get::<String>("full_result_path")?);
        let name = path.file_name()?.to_str()?;
        let in_full = path.parent()?.file_name()? == "full";
        (in_full && Name::parse("full result", name).is_ok()).then(|| name.to_owned())
    }

    /// Lists an entry, in place of any that was listed.
    pub(super) fn insert(&mut self, key: &str, listed: &Listed) {
        self.entries.insert(key.to_owned(), raw(listed));
    }

    /// Puts right what is said of an entry, and keeps what else is said of it.
    pub(super) fn restate(&mut self, key: &str, listed: &Listed) {
        let mut entry = self.entry(key);
        entry.set_all(serde_json::from_str(raw(listed).get()).expect("it was just written"));
        self.entries.insert(key.to_owned(), raw(&entry));
    }

    fn entry(&self, key: &str) -> Fields {
        let entry = self.entries.get(key);
        entry.and_then(|entry| serde_json::from_str(entry.get()).ok()).unwrap_or_default()
    }

    pub(super) fn remove(&mut self, key: &str) -> bool {
        self.entries.remove(key).is_some()
    }

    /// Counts hits of a listed entry, which had at least `in_all` of them.
    pub(super) fn add_hits(&mut self, key: &str, hits: u64, in_all: u64, last: Timestamp) {
        if !self.contains(key) {
            return;
        }
        let mut entry = self.entry(key);
        let counted = entry.get::<u64>("hit_count").unwrap_or(0).saturating_add(hits);
        let last = entry.get::<i64>("last_hit").unwrap_or(i64::MIN).max(last.as_seconds());
        entry.set("hit_count", raw(&counted.max(in_all)));
        entry.set("last_hit", raw(&last));
        self.entries.insert(key.to_owned(), raw(&entry));
    }

    /// Counts look-ups, of which there were at least `least` in all.
    pub(super) fn add_stats(&mut self, added: Stats, least: Stats) {
        let mut stats = self.fields.get::<Fields>("stats").unwrap_or_default();
        Stats::read(&stats).plus(added).at_least(least).write(&mut stats);
        self.fields.set("stats", raw(&stats));
    }

    pub(super) fn write(&mut self, path: &Path) -> Result<()> {
        self.complete();
        fsx::write_whole(path, self.to_json().as_bytes())
    }

    /// Adds what every index has, and leaves what is there in its place.
    fn complete(&mut self) {
        if self.fields.get::<String>("schema_version").is_none() {
            self.fields.set("schema_version", raw(&SCHEMA_VERSION));
        }
        if self.fields.get::<String>("created_at").is_none() {
            self.fields.set("created_at", raw(&self.first_moment().to_second()));
        }
        self.fields.set("entries", raw(&()));
        if self.fields.get::<Stats>("stats").is_none() {
            self.add_stats(Stats::default(), Stats::default());
        }
    }

    /// An index that had to be made again is as old as the oldest that it lists.
    fn first_moment(&self) -> Timestamp {
        let oldest = self.keys().filter_map(|key| self.listed(key)).map(|it| it.created_at).min();
        oldest.map_or_else(|| SystemClock.now(), Timestamp::from_seconds)
    }

    /// One line for each entry, so that people can read it too.
    fn to_json(&self) -> String {
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
