//! A Redis store as `.ai-agent.json` describes it: parts that may contain variables, until they are
//! combined.

use std::fmt;
use std::path::Path;

use recoup_core::Result;
use recoup_core::store::redis::RedisTarget;
use recoup_core::store::{StoreUrl, without_credentials};

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
