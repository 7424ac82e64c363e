//! Which result is meant: a key, or the parts that a key is made from.

use clap::Args;
use recoup_core::entry::Identity;
use recoup_core::key::result::ResultRecipe;
use recoup_core::key::{Key, Part, Recipe as _};
use recoup_core::{Error, Result};

/// `--key`, or `--paths --query --operation`, or both.
#[derive(Debug, Args)]
pub(in crate::cli) struct NamedArgs {
    /// The entry's key
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: Option<String>,
    /// In place of the key: what was looked at, separated by commas
    #[arg(long, value_name = "CSV", allow_hyphen_values = true)]
    paths: Option<String>,
    /// In place of the key: what was asked
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: Option<String>,
    /// In place of the key: the skill or operation
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    operation: Option<String>,
}

/// A key, and the parts it was made from where they are known.
#[derive(Debug)]
pub(in crate::cli) struct Named {
    pub(in crate::cli) key: Key,
    pub(in crate::cli) parts: Vec<Part>,
}

impl Named {
    /// The operation, where there is one: that is who asks, and who answered.
    pub(super) fn identity(&self) -> Identity {
        let operation = self.parts.iter().find(|part| part.name == "operation");
        Identity { name: operation.and_then(|part| part.preview.clone()), ..Identity::default() }
    }
}

impl NamedArgs {
    pub(in crate::cli) fn is_given(&self) -> bool {
        let Self { key, paths, query, operation } = self;
        [key, paths, query, operation].into_iter().any(Option::is_some)
    }

    pub(in crate::cli) fn resolve(&self) -> Result<Named> {
        let key = self.key.as_deref().map(Key::parse).transpose()?;
        match (key, self.recipe()?) {
            (Some(key), None) => Ok(Named { key, parts: Vec::new() }),
            (given, Some(recipe)) => agreed(given, &recipe),
            (None, None) => Err(Error::usage(
                "which entry? Give --key KEY, or --paths CSV --query TEXT --operation NAME",
            )),
        }
    }

    /// All three parts, or none.
    fn recipe(&self) -> Result<Option<ResultRecipe>> {
        let parts =
            [("--paths", &self.paths), ("--query", &self.query), ("--operation", &self.operation)];
        match (&self.paths, &self.query, &self.operation) {
            (None, None, None) => Ok(None),
            (Some(paths), Some(query), Some(operation)) => {
                Ok(Some(ResultRecipe::new(paths, query, operation)))
            }
            _ => {
                let missing: Vec<_> = parts
                    .iter()
                    .filter(|(_, value)| value.is_none())
                    .map(|(name, _)| *name)
                    .collect();
                Err(Error::usage(format!(
                    "--paths, --query and --operation go together: {} missing",
                    missing.join(" and ")
                )))
            }
        }
    }
}

/// A list as it was meant: `a,,b,` has two, and `*.{rs,ts}` is one.
pub(super) fn listed(given: Option<&str>) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut braces = 0usize;
    for c in given.unwrap_or_default().chars() {
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

/// A key beside its parts must be the one that they make.
fn agreed(given: Option<Key>, recipe: &ResultRecipe) -> Result<Named> {
    let key = recipe.key()?;
    match given {
        Some(given) if given != key => Err(Error::usage(format!(
            "--key {given} is not the key of these --paths, --query and --operation, which is {key}"
        ))),
        _ => Ok(Named { key, parts: recipe.parts() }),
    }
}
