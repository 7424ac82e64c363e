//! Origins of values: the layers, weakest first, and the places in them.

use std::fmt;
use std::rc::Rc;

use serde::{Serialize, Serializer};

use super::env::EnvVar;

/// Configuration layer, in ascending precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
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
pub(crate) enum File {
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
pub(crate) enum Origin {
    BuiltIn,
    File {
        file: File,
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
impl Serialize for Layer {
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

impl File {
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

    pub(super) fn layer(self) -> Layer {
        match self {
            Self::Loa | Self::AiAgent => Layer::Peer,
            Self::User => Layer::User,
            Self::Project => Layer::Project,
        }
    }
}

impl Origin {
    pub(crate) fn layer(&self) -> Layer {
        match self {
            Self::BuiltIn => Layer::BuiltIn,
            Self::File { file, .. } => file.layer(),
            Self::PeerVariable(_) => Layer::PeerVariable,
            Self::Variable(_) => Layer::Variable,
            Self::Flag(_) => Layer::Flag,
        }
    }

    /// Sort key for display: by layer, by file, by line.
    pub(super) fn order(&self) -> (Layer, Option<File>, Option<u64>) {
        match self {
            Self::File { file, line, .. } => (file.layer(), Some(*file), *line),
            _ => (self.layer(), None, None),
        }
    }

    /// True if the value comes from a repository, not from the user.
    pub(crate) fn of_repository(&self) -> bool {
        matches!(self, Self::File { file, .. } if File::OF_REPOSITORY.contains(file))
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
impl fmt::Display for Origin {
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
