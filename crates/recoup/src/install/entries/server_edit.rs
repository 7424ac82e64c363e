//! Edit of one server's entry, applied to JSON, to TOML, or to the value itself.

use serde_json::{Map, Value, json};

use crate::install::edit::{
    EmptiedContainers, JsonPathStep, NewValue, SettingsSyntaxError, SettingsText,
};

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

    /// Applies the edit to the entry at a path.
    pub(super) fn apply(
        &self,
        file: &mut SettingsText,
        entry: &[JsonPathStep],
    ) -> Result<(), SettingsSyntaxError> {
        for (field, value) in &self.set {
            file.set(entry, field, &NewValue::plain(value.clone()))?;
        }
        for (field, name, value) in &self.members {
            let object = [entry, &[(*field).into()]].concat();
            match value {
                Some(value) => file.set(&object, name, &NewValue::plain(value.as_str()))?,
                None => {
                    let member = [&object[..], &[name.as_str().into()]].concat();
                    file.remove(&member, EmptiedContainers::Any)?;
                }
            }
        }
        for field in &self.removed {
            file.remove(&[entry, &[(*field).into()]].concat(), EmptiedContainers::Any)?;
        }
        Ok(())
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
