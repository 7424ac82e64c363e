//! A configured value before it is parsed: its key, raw value, origin, and whether it counts. Also
//! the variables in it: `${NAME}` is expanded in strings of files whose author may decide which
//! variables are read, the user and repositories that the user trusts.

use std::fmt;
use std::path::Path;

use recoup_core::Result;
use recoup_core::base::project::{Project, ProjectStanding};
use recoup_core::store::redis::RedisTarget;
use recoup_core::store::{StoreUrl, without_credentials};
use serde_json::Number;

use super::document::ConfigValue;
use super::env;
use super::keys::{KeyInfo, RepositoryPermission};
use super::origin::ValueOrigin;

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
            | ConfigValue::List(_)
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

/// That program's default.
const DEFAULT_URL: &str = "redis://127.0.0.1:6379";

/// Parts of a Redis store. One is a password, so `Debug` and `Display` show only the server.
#[derive(Clone, Default)]
pub(crate) struct RedisBlock {
    pub(super) url: Option<String>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: Option<String>,
    pub(super) key_prefix: Option<String>,
}

impl RedisBlock {
    fn parts(&self) -> [Option<&String>; 5] {
        let Self { url, username, password, database, key_prefix } = self;
        [url, username, password, database, key_prefix].map(Option::as_ref)
    }

    /// True if any part contains variables.
    pub(super) fn names_variables(&self) -> bool {
        self.parts().into_iter().flatten().any(|part| part.contains("${"))
    }

    /// A copy with `change` applied to every part.
    pub(super) fn try_map<E>(&self, change: impl Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        let [url, username, password, database, key_prefix] =
            self.parts().map(|part| part.map(|part| change(part)).transpose());
        Ok(Self {
            url: url?,
            username: username?,
            password: password?,
            database: database?,
            key_prefix: key_prefix?,
        })
    }

    /// Combines the parts to a store.
    pub(super) fn to_store_url(&self, base: &Path, home: Option<&Path>) -> Result<StoreUrl> {
        let url = self.url.as_deref().unwrap_or(DEFAULT_URL);
        let mut target = RedisTarget::parse(url, base, home)?
            .with_credentials(self.username.clone(), self.password.clone());
        if let Some(database) = &self.database {
            target = target.with_database(database)?;
        }
        if let Some(prefix) = &self.key_prefix {
            target = target.with_prefix(prefix)?;
        }
        Ok(StoreUrl::Redis(Box::new(target)))
    }
}

/// Shows only the server.
impl fmt::Display for RedisBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_credentials(self.url.as_deref().unwrap_or(DEFAULT_URL)))
    }
}

impl fmt::Debug for RedisBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisBlock({self})")
    }
}

/// `raw` with its variables expanded, or why that fails; none if it has no variables.
pub(super) fn expand_variables(raw: &RawSetting) -> Result<Option<RawSetting>, String> {
    if !raw.names_variables() {
        return Ok(None);
    }
    let from_environment = |text: &str| expand_text(text, env::named_variable);
    Ok(Some(match raw {
        RawSetting::Text(text) => RawSetting::Text(from_environment(text)?),
        RawSetting::Days(text) => RawSetting::Days(from_environment(text)?),
        RawSetting::Redis(block) => RawSetting::Redis(Box::new(block.try_map(from_environment)?)),
        RawSetting::Bool(_) | RawSetting::Number(_) | RawSetting::Word(_) => return Ok(None),
    }))
}

/// `text` with each `${NAME}` replaced by its value, or why that fails.
pub(super) fn expand_text(
    text: &str,
    value_of: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut pieces = text.split("${");
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_name = |name: &str| {
        name.bytes().next().is_some_and(is_letter)
            && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
    };
    for piece in pieces {
        let Some((name, rest)) = piece.split_once('}').filter(|(name, _)| is_name(name)) else {
            return Err("expected the name of a variable in ${…}".to_owned());
        };
        let value = value_of(name).ok_or_else(|| format!("the variable {name} is not set"))?;
        filled.push_str(&value);
        filled.push_str(rest);
    }
    Ok(filled)
}
