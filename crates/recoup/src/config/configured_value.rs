//! A configured value before it is parsed: its key, raw value, origin, and whether it counts.

use recoup_core::base::project::{Project, ProjectStanding};
use recoup_core::store::without_credentials;
use serde_json::Number;

use super::document::ConfigValue;
use super::keys::{KeyInfo, RepositoryPermission};
use super::origin::ValueOrigin;
use super::redis::RedisBlock;

/// One value for one key from one origin.
#[derive(Debug)]
pub(crate) struct ConfiguredValue {
    pub(crate) key: &'static KeyInfo,
    pub(crate) raw: RawSetting,
    pub(crate) origin: ValueOrigin,
    pub(crate) standing: ValueStanding,
}

/// A value as it was written.
#[derive(Debug, Clone)]
pub(crate) enum RawSetting {
    Bool(bool),
    Number(Number),
    /// A string in a file, where types have to agree.
    Text(String),
    /// The text of a variable or a flag, which have no types.
    Word(String),
    /// A number of days, from sources that cannot express another duration.
    Days(String),
    /// A Redis store, as another program's file describes it.
    Redis(Box<RedisBlock>),
}

/// Standing of a value: whether it counts, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueStanding {
    Counts,
    /// From a repository that the user has not trusted.
    Untrusted,
    /// A repository's limit, while entries are stored in another scope.
    OtherScope,
}

impl RawSetting {
    /// Converts a file's value; none for types that no key takes.
    pub(super) fn from_file(value: &ConfigValue) -> Option<Self> {
        match value {
            ConfigValue::Bool(value) => Some(Self::Bool(*value)),
            ConfigValue::Number(number) => Some(Self::Number(number.clone())),
            ConfigValue::Text(text) => Some(Self::Text(text.clone())),
            ConfigValue::Null
            | ConfigValue::List
            | ConfigValue::Table(_)
            | ConfigValue::Other(_) => None,
        }
    }

    /// True if the value contains variables to expand.
    pub(super) fn names_variables(&self) -> bool {
        match self {
            Self::Text(text) | Self::Days(text) => text.contains("${"),
            Self::Redis(block) => block.names_variables(),
            Self::Bool(_) | Self::Number(_) | Self::Word(_) => false,
        }
    }

    /// The value as written, for display, without passwords.
    pub(crate) fn display_text(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) | Self::Word(text) => without_credentials(text).into_owned(),
            Self::Days(days) => format!("{days} days"),
            Self::Redis(block) => block.to_string(),
        }
    }
}

impl ConfiguredValue {
    /// True if this is the default.
    pub(super) fn is_built_in(&self) -> bool {
        matches!(self.origin, ValueOrigin::BuiltIn)
    }

    /// True if a repository may set this only with the user's consent: storage locations, variables
    /// that are read, and limits on entries that other clones have stored.
    pub(crate) fn needs_trust(&self, project: &Project) -> bool {
        let alone =
            matches!(project.standing(), ProjectStanding::Own | ProjectStanding::Apart { .. });
        let sensitive = match self.key.repository {
            RepositoryPermission::AfterTrust => true,
            RepositoryPermission::MayForItself => !alone,
            RepositoryPermission::May
            | RepositoryPermission::MaySwitchOff
            | RepositoryPermission::MayNot => false,
        };
        self.origin.is_from_repository() && (sensitive || self.raw.names_variables())
    }
}
