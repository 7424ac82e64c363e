//! Kinds of content in a file, as the receipt stores them: removal must work even if all paths are
//! configured differently by then.

use serde::{Deserialize, Serialize};

use super::client::{Holds, Servers, Shape};
use super::edit::Dialect;

/// One kind of content that we put into a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Held {
    /// Commands for events.
    Hooks,
    /// A server, in the object at this path.
    Servers {
        at: Vec<String>,
        /// True if the file may have comments.
        comments: bool,
    },
    /// A server, in TOML.
    TomlServers,
    /// Pi's extension: the whole file.
    Extension,
    /// A line of git's `info/exclude`.
    Line(String),
}

impl Held {
    /// Returns the location of the servers. The layout of our entry does not matter.
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
