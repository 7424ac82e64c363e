//! Which result is meant: a key, or what was looked at, what was asked and for what work.
//! The same words give the same key as `recoup cache`.

use recoup_core::entry::Identity;
use recoup_core::key::result::ResultRecipe;
use recoup_core::key::{Id, Key, Part, Recipe as _};
use recoup_core::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

use super::arguments::Texts;
use super::schema::{text, texts};
use crate::mcp::Surroundings;

/// `key`, or `paths`, `query` and `operation`, or both.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    pub(super) key: Option<String>,
    pub(super) paths: Option<Texts>,
    pub(super) query: Option<String>,
    pub(super) operation: Option<String>,
}

/// An entry, and the parts of its key where they are known.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) id: Id,
    pub(super) parts: Vec<Part>,
    pub(super) identity: Identity,
}

/// The fields of that in a schema.
pub(super) fn fields() -> Vec<(&'static str, Value)> {
    vec![
        ("paths", texts("What the work looks at: files, directories or globs, in any order")),
        ("query", text("The question; case and white space do not matter")),
        ("operation", text("The kind of work, such as review or security-audit")),
        ("key", text("In place of these: the key that another call told")),
    ]
}

impl Asked {
    pub(super) fn resolve(&self, around: &dyn Surroundings) -> Result<Named> {
        let given = self.key.as_deref().map(Key::parse).transpose()?;
        let (key, parts) = match (given, self.recipe()?) {
            (Some(key), None) => (key, Vec::new()),
            (given, Some(recipe)) => (agreed(given, recipe.key()?)?, recipe.parts()),
            (None, None) => {
                return Err(Error::usage(
                    "which result? Give paths, query and operation, or a key",
                ));
            }
        };
        let identity = Identity { name: self.operation.clone(), ..Identity::default() };
        Ok(Named { id: Id::new(around.scope(), key), parts, identity })
    }

    /// All three parts, or none.
    fn recipe(&self) -> Result<Option<ResultRecipe>> {
        let Self { key: _, paths, query, operation } = self;
        match (paths, query, operation) {
            (None, None, None) => Ok(None),
            (Some(Texts(paths)), Some(query), Some(operation)) => {
                Ok(Some(ResultRecipe::new(&paths.join(","), query, operation)))
            }
            _ => {
                let parts = [
                    ("paths", paths.is_none()),
                    ("query", query.is_none()),
                    ("operation", operation.is_none()),
                ];
                let missing: Vec<_> =
                    parts.iter().filter(|(_, missing)| *missing).map(|(name, _)| *name).collect();
                Err(Error::usage(format!(
                    "paths, query and operation go together: {} missing",
                    missing.join(" and ")
                )))
            }
        }
    }
}

fn agreed(given: Option<Key>, made: Key) -> Result<Key> {
    match given {
        Some(given) if given != made => Err(Error::usage(format!(
            "{given} is not the key of these paths, query and operation, which is {made}"
        ))),
        _ => Ok(made),
    }
}
