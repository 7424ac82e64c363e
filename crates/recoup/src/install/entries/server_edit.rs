//! Edit of one server's entry, applied to JSON, to TOML, or to the value itself.

use serde_json::{Map, Value, json};

use super::{EmptiedContainers, remove_empty};
use crate::install::edit::toml::{self, SERVERS};
use crate::install::edit::{JsonFile, JsonPathStep, NewValue, SettingsSyntaxError};

/// Changes of one server's entry.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ServerEntryEdit {
    pub(super) set: Vec<(&'static str, Value)>,
    pub(super) removed: Vec<&'static str>,
    /// Members of objects in the entry: the field, their names, and their values if they are set.
    pub(super) members: Vec<(&'static str, String, Option<String>)>,
}

impl ServerEntryEdit {
    /// True if a list has such a word.
    pub(super) fn has_word(&self, is_it: impl Fn(&str) -> bool) -> bool {
        let words = self.set.iter().filter_map(|(_, value)| value.as_array()).flatten();
        words.into_iter().filter_map(Value::as_str).any(is_it)
    }

    pub(super) fn apply_to_json(&self, json: &mut JsonFile, entry: &[JsonPathStep]) {
        for (field, value) in &self.set {
            json.set(entry, field, &NewValue::plain(value.clone()));
        }
        for (field, name, value) in &self.members {
            let object = [entry, &[(*field).into()]].concat();
            match value {
                Some(value) if json.value_at(&object).is_some() => {
                    json.set(&object, name, &NewValue::plain(value.as_str()));
                }
                Some(value) => json.set(entry, field, &NewValue::plain(json!({ name: value }))),
                None => {
                    json.remove(&[&object[..], &[name.as_str().into()]].concat());
                    remove_empty(json, &object, EmptiedContainers::Any);
                }
            }
        }
        for field in &self.removed {
            json.remove(&[entry, &[(*field).into()]].concat());
        }
    }

    /// Applies the edit; a value that the `earlier` text has as well is written as there.
    pub(super) fn apply_to_toml(
        &self,
        text: &str,
        server: &str,
        earlier: Option<&str>,
    ) -> Result<String, SettingsSyntaxError> {
        let fields = self.set.iter().map(|(field, value)| (*field, toml::from_json(value)));
        let mut text = toml::put_fields(text, &[SERVERS, server], &fields.collect::<Vec<_>>())?;
        if let Some(earlier) = earlier {
            for (field, _) in &self.set {
                text = toml::restore_writing(&text, earlier, &[SERVERS, server, field])?;
            }
        }
        for (field, name, value) in &self.members {
            let path = [SERVERS, server, field];
            text = match value {
                Some(value) => toml::put_fields(&text, &path, &[(name, value.as_str().into())])?,
                None => toml::remove_fields(&text, &path, &[name])?,
            };
            let left = toml::parse_to_json(&text)?;
            let left = path.iter().try_fold(&left, |value, name| value.get(name));
            if left.is_some_and(|left| *left == json!({})) {
                text = toml::remove_fields(&text, &path[..2], &path[2..])?;
            }
        }
        toml::remove_fields(&text, &[SERVERS, server], &self.removed)
    }

    pub(super) fn apply_to_value(&self, entry: &mut Map<String, Value>) {
        for (field, value) in &self.set {
            entry.insert((*field).to_owned(), value.clone());
        }
        for (field, name, value) in &self.members {
            let object = entry.entry(*field).or_insert_with(|| json!({}));
            let Some(object) = object.as_object_mut() else { continue };
            match value {
                Some(value) => drop(object.insert(name.clone(), value.as_str().into())),
                None => drop(object.remove(name)),
            }
        }
        for field in &self.removed {
            entry.remove(*field);
        }
    }
}
