//! A condensed result: an object with fields in insertion order, or the input itself if that is
//! shorter.

use serde::Serialize;

use super::layout;

/// A condensed result.
#[derive(Debug, Clone, Default)]
pub struct CondensedResult {
    /// Names, and values as compact JSON.
    fields: Vec<(String, String)>,
    /// The input as compact JSON, if it takes the place of the fields.
    input: Option<String>,
}

impl CondensedResult {
    /// The input itself in place of a condensed result.
    pub(super) fn from_input(json: String) -> Self {
        Self { fields: Vec::new(), input: Some(json) }
    }

    /// Sets a field, replacing one with the same name.
    pub(super) fn set(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        let json = serde_json::to_string(value).expect("what is made from JSON is JSON");
        self.set_json(name, json);
    }

    /// Sets a field to a value that is JSON already.
    pub(super) fn set_json(&mut self, name: &str, json: String) {
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => *value = json,
            None => self.fields.push((name.to_owned(), json)),
        }
    }

    /// Adds a field, unless there is one with the same name.
    pub(super) fn add_json(&mut self, name: &str, json: &str) {
        if self.fields.iter().all(|(known, _)| known != name) {
            self.fields.push((name.to_owned(), json.to_owned()));
        }
    }

    /// Compact JSON, for programs and agents: no white space, no newline at the end.
    pub fn to_json(&self) -> String {
        layout::compact(&self.raw_json())
    }

    /// JSON for people: two spaces for each level, no newline at the end.
    pub fn to_pretty_json(&self) -> String {
        layout::pretty(&self.raw_json())
    }

    fn raw_json(&self) -> String {
        if let Some(input) = &self.input {
            return input.clone();
        }
        let named = |(name, value): &(String, String)| {
            let name = serde_json::to_string(name).expect("text is always JSON");
            format!("{name}:{value}")
        };
        let fields: Vec<_> = self.fields.iter().map(named).collect();
        format!("{{{}}}", fields.join(","))
    }
}
