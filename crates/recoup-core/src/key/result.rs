//! The key of a result: paths, query and operation. Fixed by the semantic-cache protocol, check vector
//! included.

use super::{Key, KeyPart, KeyRecipe, Kind, PartKind};
use crate::base::digest::Sha256Digest;
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
        // Sorted bytewise, each once.
        let mut paths: Vec<&str> = paths.split(',').collect();
        paths.sort_unstable();
        paths.dedup();
        // Lower-cased, trimmed, inner white space collapsed to one space.
        let query = query.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        Self { paths: paths.join(","), query, operation: operation.to_owned() }
    }
}

impl KeyRecipe for ResultRecipe {
    const KIND: Kind = Kind::Result;

    fn key(&self) -> Result<Key> {
        let Self { paths, query, operation } = self;
        let text = format!("{paths}|{query}|{operation}");
        Ok(Key::from_digest(Sha256Digest::of(text.as_bytes())))
    }

    fn parts(&self) -> Vec<KeyPart> {
        let Self { paths, query, operation } = self;
        vec![
            KeyPart::shown("paths", paths),
            KeyPart::shown("query", query),
            KeyPart::shown("operation", operation),
        ]
    }

    fn part_kind(part: &str) -> PartKind {
        if part == "paths" { PartKind::List(',') } else { PartKind::Text }
    }
}
