//! JSON. Nested at most 128 deep, which is the parser's own limit.

use serde::de::{Deserialize, Deserializer};

use super::visit::Tree;
use super::{Broken, Node, Position};

/// Parses a whole document.
pub(in crate::config) fn read(text: &str) -> Result<Node, Broken> {
    serde_json::from_str::<Plain>(text).map(Node::from).map_err(|error| Broken {
        position: Some(Position { line: error.line() as u64, column: error.column() as u64 }),
        message: without_position(&error.to_string()).to_owned(),
    })
}

/// Removes the position at the end of the parser's message, since ours comes first.
fn without_position(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(message, _)| message)
}

/// A node without a line number.
struct Plain(Node);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(Tree::<Self>::new())?;
        Ok(Self(Node { line: None, value }))
    }
}

impl From<Plain> for Node {
    fn from(Plain(node): Plain) -> Self {
        node
    }
}
