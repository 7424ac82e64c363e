//! How a caller names a result: by its key, by the paths, query and operation that make the key, or by
//! both.

use crate::entry::ProducerIdentity;
use crate::error::{Error, Result};
use crate::key::result::ResultRecipe;
use crate::key::{Key, KeyPart, KeyRecipe as _};
use crate::secrets;

/// How a caller identifies a result: by key, by (paths, query, operation), or both.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResultReference<'a> {
    /// The key.
    pub key: Option<&'a str>,
    /// The paths, separated by commas.
    pub paths: Option<&'a str>,
    /// The question.
    pub query: Option<&'a str>,
    /// The skill or operation.
    pub operation: Option<&'a str>,
    /// Prefix of these names in error messages, such as `--`.
    pub mark: &'a str,
}

/// A key and, if known, the parts that it was made from.
#[derive(Debug)]
pub struct ResolvedKey {
    /// The key.
    pub key: Key,
    /// Its parts; empty for a bare key.
    pub parts: Vec<KeyPart>,
}

impl ResolvedKey {
    /// Identity with the operation as its name, if there is one.
    pub fn identity(&self) -> ProducerIdentity {
        let operation = self.parts.iter().find(|part| part.name == "operation");
        ProducerIdentity {
            name: operation.and_then(|part| part.preview.clone()),
            ..ProducerIdentity::default()
        }
    }
}

impl ResultReference<'_> {
    /// The identified result; `None` if nothing was given. A key given beside its parts must be the
    /// one that they make.
    pub fn resolve(&self) -> Result<Option<ResolvedKey>> {
        let given = self.key.map(Key::parse).transpose()?;
        let Some(recipe) = self.recipe()? else {
            return Ok(given.map(|key| ResolvedKey { key, parts: Vec::new() }));
        };
        let (key, mark) = (recipe.key()?, self.mark);
        if let Some(given) = given.filter(|given| *given != key) {
            return Err(Error::usage(format!(
                "{mark}key {given} does not match {mark}paths, {mark}query and {mark}operation, \
                 whose key is {key}"
            )));
        }
        // Secrets are looked for in the query as given: lower-cased, many are no longer recognized.
        let query = secrets::redact(self.query.unwrap_or_default());
        let clean = ResultRecipe::new("", &query, "").parts();
        let mut parts = recipe.parts();
        for part in parts.iter_mut().filter(|part| part.name == "query") {
            let clean = clean.iter().find(|clean| clean.name == part.name);
            part.preview = clean.and_then(|clean| clean.preview.clone());
        }
        Ok(Some(ResolvedKey { key, parts }))
    }

    /// All three parts, or none.
    fn recipe(&self) -> Result<Option<ResultRecipe>> {
        let Self { key: _, paths, query, operation, mark } = *self;
        match (paths, query, operation) {
            (None, None, None) => Ok(None),
            (Some(paths), Some(query), Some(operation)) => {
                Ok(Some(ResultRecipe::new(paths, query, operation)))
            }
            _ => {
                let parts = [("paths", paths), ("query", query), ("operation", operation)];
                let missing = parts.iter().filter(|(_, given)| given.is_none());
                let missing: Vec<String> =
                    missing.map(|(name, _)| format!("{mark}{name}")).collect();
                Err(Error::usage(format!(
                    "{mark}paths, {mark}query and {mark}operation must be given together: {} missing",
                    missing.join(" and ")
                )))
            }
        }
    }
}

/// Joins paths for [`ResultReference::paths`], from which keys are made. If commas or braces in the paths would be read as another
/// list, every comma in a path is escaped with a backslash.
pub fn join_paths(paths: &[String]) -> String {
    let plain = paths.join(",");
    if split_path_list(&plain).iter().eq(paths.iter().filter(|path| !path.is_empty())) {
        return plain;
    }
    let marked: Vec<String> = paths.iter().map(|path| path.replace(',', "\\,")).collect();
    marked.join(",")
}

/// Splits a list at its commas: `a,,b,` has two items, `*.{rs,ts}` is one.
pub fn split_path_list(given: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut braces = 0usize;
    for c in given.chars() {
        match c {
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            _ => {}
        }
        if c == ',' && braces == 0 {
            items.push(String::new());
        } else if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    items.retain(|item| !item.is_empty());
    items
}
