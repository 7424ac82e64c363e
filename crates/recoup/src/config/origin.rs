//! Origins of values: the layers, weakest first, and the places in them.

use std::fmt;
use std::rc::Rc;

use serde::{Serialize, Serializer};

use super::env::EnvVar;

/// Configuration layer, in ascending precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConfigLayer {
    BuiltIn,
    /// Files of the programs that we replace, in the project's root.
    Peer,
    User,
    Project,
    PeerVariable,
    Variable,
    Flag,
}

/// A file that may hold configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConfigFile {
    /// `.loa.config.yaml` in the project's root.
    Loa,
    /// `.ai-agent.json` in the project's root.
    AiAgent,
    /// `config.toml` in our own directory.
    User,
    /// `recoup.toml` in the project's root.
    Project,
}

/// Origin of one value.
#[derive(Debug, Clone)]
pub(crate) enum ValueOrigin {
    BuiltIn,
    File {
        file: ConfigFile,
        /// Name of the file for display.
        shown: Rc<str>,
        /// Full name of the key in that file.
        key: String,
        line: Option<u64>,
    },
    /// A variable of the programs that we replace.
    PeerVariable(EnvVar),
    /// A variable of our own.
    Variable(EnvVar),
    Flag(&'static str),
}

/// Serialized as one word, as in `config show --json`.
impl Serialize for ConfigLayer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::BuiltIn => "built-in",
            Self::Peer => "peer",
            Self::User => "user",
            Self::Project => "project",
            Self::PeerVariable | Self::Variable => "environment",
            Self::Flag => "flag",
        })
    }
}

impl ConfigFile {
    /// Files that come with a repository.
    pub(crate) const OF_REPOSITORY: [Self; 3] = [Self::Loa, Self::AiAgent, Self::Project];

    /// File name within its directory.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Loa => ".loa.config.yaml",
            Self::AiAgent => ".ai-agent.json",
            Self::User => "config.toml",
            Self::Project => "recoup.toml",
        }
    }

    pub(super) fn layer(self) -> ConfigLayer {
        match self {
            Self::Loa | Self::AiAgent => ConfigLayer::Peer,
            Self::User => ConfigLayer::User,
            Self::Project => ConfigLayer::Project,
        }
    }
}

impl ValueOrigin {
    pub(crate) fn layer(&self) -> ConfigLayer {
        match self {
            Self::BuiltIn => ConfigLayer::BuiltIn,
            Self::File { file, .. } => file.layer(),
            Self::PeerVariable(_) => ConfigLayer::PeerVariable,
            Self::Variable(_) => ConfigLayer::Variable,
            Self::Flag(_) => ConfigLayer::Flag,
        }
    }

    /// Sort key for display: by layer, by file, by line.
    pub(super) fn sort_key(&self) -> (ConfigLayer, Option<ConfigFile>, Option<u64>) {
        match self {
            Self::File { file, line, .. } => (file.layer(), Some(*file), *line),
            _ => (self.layer(), None, None),
        }
    }

    /// True if the value comes from a repository, not from the user.
    pub(crate) fn is_from_repository(&self) -> bool {
        matches!(self, Self::File { file, .. } if ConfigFile::OF_REPOSITORY.contains(file))
    }

    /// The place and, in a file, the key: `recoup.toml:3: cache.ttl`.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::File { key, .. } => format!("{self}: {key}"),
            _ => self.to_string(),
        }
    }
}

/// `built-in`, `recoup.toml:3`, `RECOUP_STORE` or `--store`.
impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File { shown, line: Some(line), .. } => write!(f, "{shown}:{line}"),
            Self::File { shown, line: None, .. } => f.write_str(shown),
            Self::PeerVariable(variable) | Self::Variable(variable) => f.write_str(variable.name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}
