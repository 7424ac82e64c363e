//! YAML. The parser's own budget stops documents that expand when they are read: nested anchors,
//! deep nesting, endless merges.

use serde::de::{Deserialize, Deserializer};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Spanned};

use super::visit::TreeVisitor;
use super::{ConfigNode, ConfigValue, DocumentError, TextPosition};

/// Parses a whole document; an empty one is null.
pub(in crate::config) fn read(text: &str) -> Result<ConfigNode, DocumentError> {
    let options = serde_saphyr::options! {
        // The file is another program's: duplicates and odd numbers elsewhere in it are not our
        // concern.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<LocatedNode>(text, options)
        .map(ConfigNode::from)
        .map_err(|error| to_document_error(&error))
}

fn to_document_error(error: &serde_saphyr::Error) -> DocumentError {
    let position = error.location().filter(|at| *at != Location::UNKNOWN);
    let message = error.without_snippet().to_string();
    // Messages end with the position, which ours begin with, or with advice for callers of the
    // parser.
    let end = [" at line ", "; use "].iter().filter_map(|end| message.find(end)).min();
    let message = message[..end.unwrap_or(message.len())].trim().to_owned();
    DocumentError {
        position: position.map(|at| TextPosition { line: at.line(), column: at.column() }),
        message,
    }
}

/// A node with a line number.
struct LocatedNode(ConfigNode);

/// A value without a line number, which `Spanned` wraps.
struct UnlocatedValue(ConfigValue);

impl<'de> Deserialize<'de> for LocatedNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value: UnlocatedValue(value), referenced, .. } =
            Spanned::deserialize(deserializer)?;
        let line = (referenced != Location::UNKNOWN).then(|| referenced.line());
        Ok(Self(ConfigNode { line, value }))
    }
}

impl<'de> Deserialize<'de> for UnlocatedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor::<LocatedNode>::new()).map(Self)
    }
}

impl From<LocatedNode> for ConfigNode {
    fn from(LocatedNode(node): LocatedNode) -> Self {
        node
    }
}
