//! What of ours goes into a client's file, and comes out of it again.

pub(crate) mod config_toml;
pub(crate) mod hooks;
pub(crate) mod servers;

use recoup_core::secrets;

use super::edit::{Fault, Fresh, Json, Step};

/// What was done to a file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    /// In words, for people.
    pub(crate) said: Vec<String>,
    /// The objects and lists that were not there before: once they are empty again, they go.
    pub(crate) created: Vec<Vec<String>>,
    /// What was left alone, and why.
    pub(crate) notes: Vec<String>,
    /// The file is ours from its first line to its last.
    pub(crate) whole: bool,
    /// Something of ours was there before.
    pub(crate) had_ours: bool,
    /// The file is what it was before recoup, to the byte.
    pub(crate) restored: bool,
}

impl Done {
    /// Takes a note down. It may quote what others wrote, and is shown and logged.
    pub(crate) fn note(&mut self, note: impl AsRef<str>) {
        self.notes.push(secrets::redact(note.as_ref()).into_owned());
    }
}

/// Stands among what we made for the object that all else is in.
pub(crate) const ROOT: Vec<String> = Vec::new();

/// Which objects and lists may go once they are empty.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Emptied<'a> {
    /// Those that we made.
    Made(&'a [Vec<String>]),
    /// Nobody knows who made them.
    Any,
}

impl Emptied<'_> {
    fn may_go(self, path: &[Step]) -> bool {
        let Self::Made(made) = self else { return true };
        made.iter().any(|made| *made == names(path))
    }
}

/// Makes sure that there is an object at the end of `names`; says which had to be made.
fn ensure_objects(json: &mut Json, names: &[&str]) -> Result<Vec<Vec<String>>, Fault> {
    let mut created = Vec::new();
    let mut path: Vec<Step> = Vec::new();
    for name in names {
        let above = path.clone();
        path.push((*name).into());
        match json.at(&path) {
            None => {
                json.set(&above, name, &Fresh::EMPTY);
                created.push(self::names(&path));
            }
            Some(value) if value.is_object() => {}
            Some(_) => {
                let what = format!("“{name}” should be an object: {{ … }}");
                return Err(json.fault_at(&path, &what));
            }
        }
    }
    Ok(created)
}

/// Takes out what is at `path` if it is empty and may go.
fn remove_empty(json: &mut Json, path: &[Step], emptied: Emptied<'_>) {
    let empty = json.at(path).is_some_and(|value| {
        value.as_object().is_some_and(serde_json::Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty)
    });
    if empty && emptied.may_go(path) {
        json.remove(path);
    }
}

fn names(path: &[Step]) -> Vec<String> {
    let name = |step: &Step| match step {
        Step::Name(name) => name.clone(),
        Step::Index(index) => index.to_string(),
    };
    path.iter().map(name).collect()
}
