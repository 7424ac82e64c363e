//! The result key of contract 1: paths, query and operation. Fixed by that contract, check vector
//! included.

use super::{Key, Kind, Nature, Part, Recipe};
use crate::base::digest::Digest;
use crate::error::Result;

/// Paths, query and operation, in the form in which they are hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultRecipe {
    paths: String,
    query: String,
    operation: String,
}

impl ResultRecipe {
    /// `paths` is a comma-separated list.
    pub fn new(paths: &str, query: &str, operation: &str) -> Self {
        Self {
            paths: sorted_unique(paths),
            query: normalized(query),
            operation: operation.to_owned(),
        }
    }
}

impl Recipe for ResultRecipe {
    const KIND: Kind = Kind::Result;

    fn key(&self) -> Result<Key> {
        let Self { paths, query, operation } = self;
        let text = format!("{paths}|{query}|{operation}");
        Ok(Key::from_digest(Digest::of(text.as_bytes())))
    }

    fn parts(&self) -> Vec<Part> {
        let Self { paths, query, operation } = self;
        vec![
            Part::shown("paths", paths),
            Part::shown("query", query),
            Part::shown("operation", operation),
        ]
    }

    fn nature(part: &str) -> Nature {
        if part == "paths" { Nature::List(',') } else { Nature::Text }
    }
}

/// Sorted bytewise, each once, joined with commas again.
fn sorted_unique(paths: &str) -> String {
    let mut paths: Vec<&str> = paths.split(',').collect();
    paths.sort_unstable();
    paths.dedup();
    paths.join(",")
}

/// Lower-cased, trimmed, inner white space collapsed to one space.
fn normalized(query: &str) -> String {
    query.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}
