//! JSON. Nested at most 128 deep, which is the parser's own limit.

use serde::de::{Deserialize, Deserializer};

use super::visit::TreeVisitor;
use super::{ConfigNode, DocumentError, TextPosition};

/// Parses a whole document.
pub(in crate::config) fn read(text: &str) -> Result<ConfigNode, DocumentError> {
    serde_json::from_str::<UnlocatedNode>(text).map(ConfigNode::from).map_err(|error| {
        DocumentError {
            position: Some(TextPosition {
                line: error.line() as u64,
                column: error.column() as u64,
            }),
            message: without_position(&error.to_string()).to_owned(),
        }
    })
}

/// Removes the position at the end of the parser's message, since ours comes first.
fn without_position(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(message, _)| message)
}

/// A node without a line number.
struct UnlocatedNode(ConfigNode);

impl<'de> Deserialize<'de> for UnlocatedNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(TreeVisitor::<Self>::new())?;
        Ok(Self(ConfigNode { line: None, value }))
    }
}

impl From<UnlocatedNode> for ConfigNode {
    fn from(UnlocatedNode(node): UnlocatedNode) -> Self {
        node
    }
}
