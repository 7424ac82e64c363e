//! A Redis store in the words of `.ai-agent.json`: its parts, each of which may
//! name variables, until they are put together.

use std::fmt;
use std::path::Path;

use recoup_core::Result;
use recoup_core::store::redis::Target;
use recoup_core::store::{StoreUrl, without_credentials};

/// Where that program looks when nothing is said.
const DEFAULT_URL: &str = "redis://127.0.0.1:6379";

/// What was said. One of the parts is a password: nothing here is shown as it is.
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

    /// Whether any part names a variable.
    pub(super) fn names_variables(&self) -> bool {
        self.parts().into_iter().flatten().any(|part| part.contains("${"))
    }

    /// The same with every part changed.
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

    /// The store that it means.
    pub(super) fn store(&self, base: &Path, home: Option<&Path>) -> Result<StoreUrl> {
        let url = self.url.as_deref().unwrap_or(DEFAULT_URL);
        let mut target = Target::parse(url, base, home)?
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

/// The server alone.
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
