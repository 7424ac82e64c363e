//! Kinds of content in a file, as the receipt stores them: removal must work even if all paths are
//! configured differently by then.

use serde::{Deserialize, Serialize};

use super::client::{ServerEntryShape, ServerLayout, SettingsContent};
use super::edit::JsonDialect;

/// One kind of content that we put into a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InstalledContent {
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

impl InstalledContent {
    /// Returns the location of the servers. The layout of our entry does not matter.
    pub(crate) fn server_layout(at: &[String], comments: bool) -> ServerLayout {
        let dialect = if comments { JsonDialect::Comments } else { JsonDialect::Strict };
        ServerLayout { at: at.to_vec(), shape: ServerEntryShape::Plain, dialect }
    }
}

impl From<&SettingsContent> for InstalledContent {
    fn from(holds: &SettingsContent) -> Self {
        match holds {
            SettingsContent::Hooks(_) => Self::Hooks,
            SettingsContent::Servers(servers) => Self::Servers {
                at: servers.at.clone(),
                comments: servers.dialect == JsonDialect::Comments,
            },
            SettingsContent::TomlServers => Self::TomlServers,
            SettingsContent::Extension => Self::Extension,
        }
    }
}
