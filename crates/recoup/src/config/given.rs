//! A value as it was given, before anything is made of it: what it says, for
//! which key, where, and whether it counts.

use recoup_core::base::project::{Project, ProjectStanding};
use recoup_core::store::without_credentials;
use serde_json::Number;

use super::document::Value;
use super::keys::{Info, Repository};
use super::origin::Origin;
use super::redis::RedisBlock;

/// One value for one key from one place.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) key: &'static Info,
    pub(crate) raw: Raw,
    pub(crate) origin: Origin,
    pub(crate) standing: Standing,
}

/// What was written there.
#[derive(Debug, Clone)]
pub(crate) enum Raw {
    Bool(bool),
    Number(Number),
    /// A string in a file, where types have to agree.
    Text(String),
    /// A variable or a flag, which are nothing but text.
    Word(String),
    /// A number of days, from where a duration can't be given otherwise.
    Days(String),
    /// A Redis store, as another program's file describes it.
    Redis(Box<RedisBlock>),
}

/// Whether a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Counts,
    /// It came with a repository that the user has not trusted with such things.
    Untrusted,
    /// A limit of a repository, and the entries are kept in another scope.
    OtherScope,
}

impl Raw {
    /// What a file says; none for what no key takes.
    pub(super) fn from_file(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Number(number) => Some(Self::Number(number.clone())),
            Value::Text(text) => Some(Self::Text(text.clone())),
            Value::Null | Value::List | Value::Table(_) | Value::Other(_) => None,
        }
    }

    /// Whether a file names variables in it.
    pub(super) fn names_variables(&self) -> bool {
        match self {
            Self::Text(text) | Self::Days(text) => text.contains("${"),
            Self::Redis(block) => block.names_variables(),
            Self::Bool(_) | Self::Number(_) | Self::Word(_) => false,
        }
    }

    /// As it was written, for people, without passwords.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) | Self::Word(text) => without_credentials(text).into_owned(),
            Self::Days(days) => format!("{days} days"),
            Self::Redis(block) => block.to_string(),
        }
    }
}

impl Given {
    /// Whether nobody said it.
    pub(super) fn is_built_in(&self) -> bool {
        matches!(self.origin, Origin::BuiltIn)
    }

    /// True if a repository may say this only with the user's consent: what is
    /// stored where, which variables are read, and limits on what other clones have stored.
    pub(crate) fn needs_trust(&self, project: &Project) -> bool {
        let alone =
            matches!(project.standing(), ProjectStanding::Own | ProjectStanding::Apart { .. });
        let sensitive = match self.key.repository {
            Repository::AfterTrust => true,
            Repository::MayForItself => !alone,
            Repository::May | Repository::MaySwitchOff | Repository::MayNot => false,
        };
        self.origin.of_repository() && (sensitive || self.raw.names_variables())
    }
}
