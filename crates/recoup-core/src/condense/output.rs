//! What a strategy makes: an object whose fields stand in the order in which
//! they were set.

use serde::Serialize;

use super::layout;

/// A condensed result.
#[derive(Debug, Clone, Default)]
pub struct Condensed {
    /// Names, and values as compact JSON.
    fields: Vec<(String, String)>,
}

impl Condensed {
    /// Sets a field, in place of one with the same name.
    pub(super) fn set(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        let json = serde_json::to_string(value).expect("what is made from JSON is JSON");
        self.set_json(name, json);
    }

    /// The same for what is JSON already.
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

    /// As it is printed: two spaces for each level, no newline at the end.
    pub fn to_json(&self) -> String {
        let named = |(name, value): &(String, String)| {
            let name = serde_json::to_string(name).expect("text is always JSON");
            format!("{name}:{value}")
        };
        let fields: Vec<_> = self.fields.iter().map(named).collect();
        layout::pretty(&format!("{{{}}}", fields.join(",")))
    }
}
