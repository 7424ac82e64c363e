//! YAML. The parser's own budget stops documents that expand when they are read: nested anchors,
//! deep nesting, endless merges.

use serde::de::{Deserialize, Deserializer};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Spanned};

use super::visit::Tree;
use super::{Broken, Node, Position, Value};

/// Parses a whole document; an empty one is null.
pub(in crate::config) fn read(text: &str) -> Result<Node, Broken> {
    let options = serde_saphyr::options! {
        // The file is another program's: duplicates and odd numbers elsewhere in it are not our
        // concern.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Located>(text, options)
        .map(Node::from)
        .map_err(|error| broken(&error))
}

fn broken(error: &serde_saphyr::Error) -> Broken {
    let position = error.location().filter(|at| *at != Location::UNKNOWN);
    let message = error.without_snippet().to_string();
    // Messages end with the position, which ours begin with, or with advice for callers of the
    // parser.
    let end = [" at line ", "; use "].iter().filter_map(|end| message.find(end)).min();
    let message = message[..end.unwrap_or(message.len())].trim().to_owned();
    Broken {
        position: position.map(|at| Position { line: at.line(), column: at.column() }),
        message,
    }
}

/// A node with a line number.
struct Located(Node);

/// A value without a line number, which `Spanned` wraps.
struct Bare(Value);

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value: Bare(value), referenced, .. } = Spanned::deserialize(deserializer)?;
        let line = (referenced != Location::UNKNOWN).then(|| referenced.line());
        Ok(Self(Node { line, value }))
    }
}

impl<'de> Deserialize<'de> for Bare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Tree::<Located>::new()).map(Self)
    }
}

impl From<Located> for Node {
    fn from(Located(node): Located) -> Self {
        node
    }
}
