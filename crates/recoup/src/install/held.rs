//! What of ours a file holds, as the receipt keeps it: whoever takes it out later may have
//! other places for everything, and must find it all the same.

use serde::{Deserialize, Serialize};

use super::client::{Holds, Servers, Shape};
use super::edit::Dialect;

/// One thing of ours in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Held {
    /// Commands for events.
    Hooks,
    /// A server, in the object that these names lead to.
    Servers {
        at: Vec<String>,
        /// Whether the file may have comments.
        comments: bool,
    },
    /// A server, in TOML.
    TomlServers,
    /// Pi's extension: the whole file.
    Extension,
    /// A line of git's list.
    Line(String),
}

impl Held {
    /// The servers as they are looked for. How an entry of ours is laid out does not matter.
    pub(crate) fn servers(at: &[String], comments: bool) -> Servers {
        let dialect = if comments { Dialect::Comments } else { Dialect::Strict };
        Servers { at: at.to_vec(), shape: Shape::Plain, dialect }
    }
}

impl From<&Holds> for Held {
    fn from(holds: &Holds) -> Self {
        match holds {
            Holds::Hooks(_) => Self::Hooks,
            Holds::Servers(servers) => Self::Servers {
                at: servers.at.clone(),
                comments: servers.dialect == Dialect::Comments,
            },
            Holds::TomlServers => Self::TomlServers,
            Holds::Extension => Self::Extension,
        }
    }
}
