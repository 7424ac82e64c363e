//! Our entries in clients' files: insertion and removal.

pub(crate) mod config_toml;
pub(crate) mod hooks;
pub(crate) mod servers;

use recoup_core::secrets;

use super::edit::{JsonFile, JsonPathStep, NewValue, SettingsSyntaxError};

/// Result of editing a file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct EditSummary {
    /// Changes, in words for people.
    pub(crate) said: Vec<String>,
    /// Objects and lists that were created: they go once they are empty again.
    pub(crate) created: Vec<Vec<String>>,
    /// Remarks on settings that were left alone, and why.
    pub(crate) notes: Vec<String>,
    /// The whole file is ours.
    pub(crate) whole: bool,
    /// The file held something of ours before.
    pub(crate) had_ours: bool,
    /// The file is as it was before recoup, to the byte.
    pub(crate) restored: bool,
}

impl EditSummary {
    /// Adds a note without secrets: it may quote settings, and is shown and logged.
    pub(crate) fn add_note(&mut self, note: impl AsRef<str>) {
        self.notes.push(secrets::redact(note.as_ref()).into_owned());
    }
}

/// Marks, among the created paths, the top-level object.
pub(crate) const ROOT: Vec<String> = Vec::new();

/// Which objects and lists are removed once they are empty.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EmptiedContainers<'a> {
    /// Only containers that we created.
    Made(&'a [Vec<String>]),
    /// All: it is unknown who created them.
    Any,
}

impl EmptiedContainers<'_> {
    fn may_remove(self, path: &[JsonPathStep]) -> bool {
        let Self::Made(made) = self else { return true };
        made.iter().any(|made| *made == names(path))
    }
}

/// Ensures that the path `names` leads to an object. Returns the paths that were created.
fn ensure_objects(
    json: &mut JsonFile,
    names: &[&str],
) -> Result<Vec<Vec<String>>, SettingsSyntaxError> {
    let mut created = Vec::new();
    let mut path: Vec<JsonPathStep> = Vec::new();
    for name in names {
        let above = path.clone();
        path.push((*name).into());
        match json.value_at(&path) {
            None => {
                json.set(&above, name, &NewValue::EMPTY);
                created.push(self::names(&path));
            }
            Some(value) if value.is_object() => {}
            Some(_) => {
                let what = format!("“{name}” should be an object: {{ … }}");
                return Err(json.error_at(&path, &what));
            }
        }
    }
    Ok(created)
}

/// Removes an empty container, if the policy allows it.
fn remove_empty(json: &mut JsonFile, path: &[JsonPathStep], emptied: EmptiedContainers<'_>) {
    let empty = json.value_at(path).is_some_and(|value| {
        value.as_object().is_some_and(serde_json::Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty)
    });
    if empty && emptied.may_remove(path) {
        json.remove(path);
    }
}

fn names(path: &[JsonPathStep]) -> Vec<String> {
    let name = |step: &JsonPathStep| match step {
        JsonPathStep::Name(name) => name.clone(),
        JsonPathStep::Index(index) => index.to_string(),
    };
    path.iter().map(name).collect()
}
