//! Identification of a result: by its key, or by the parts that the key is made from.

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
    /// The identified result; `None` if nothing was given.
    pub fn resolve(&self) -> Result<Option<ResolvedKey>> {
        let key = self.key.map(Key::parse).transpose()?;
        match (key, self.recipe()?) {
            (Some(key), None) => Ok(Some(ResolvedKey { key, parts: Vec::new() })),
            (given, Some(recipe)) => self.check_key_matches(given, &recipe).map(Some),
            (None, None) => Ok(None),
        }
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
                    "{mark}paths, {mark}query and {mark}operation go together: {} missing",
                    missing.join(" and ")
                )))
            }
        }
    }

    /// A key given beside its parts must be the one that they make.
    fn check_key_matches(&self, given: Option<Key>, recipe: &ResultRecipe) -> Result<ResolvedKey> {
        let (key, mark) = (recipe.key()?, self.mark);
        match given {
            Some(given) if given != key => Err(Error::usage(format!(
                "{mark}key {given} is not the key of these {mark}paths, {mark}query and \
                 {mark}operation, which is {key}"
            ))),
            _ => Ok(ResolvedKey { key, parts: self.redact_query_preview(recipe.parts()) }),
        }
    }

    /// Redacts the preview of the query. The secrets are looked for in the query as given:
    /// lower-cased, many are no longer recognized.
    fn redact_query_preview(&self, parts: Vec<KeyPart>) -> Vec<KeyPart> {
        let query = secrets::redact(self.query.unwrap_or_default());
        let clean = ResultRecipe::new("", &query, "").parts();
        let preview = |name: &str| clean.iter().find(|part| part.name == name)?.preview.clone();
        let shown = |part: KeyPart| match part.name.as_str() {
            "query" => KeyPart { preview: preview("query"), ..part },
            _ => part,
        };
        parts.into_iter().map(shown).collect()
    }
}

/// Joins paths for [`ResultReference::paths`]. If commas or braces in the paths would be read as another
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
