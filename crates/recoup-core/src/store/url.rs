//! Stores by URL. A URL that can't be read says which part is wrong.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::sqlite::Waits;
use super::{FaultLog, Sqlite, Store};
use crate::error::{Error, Result};

/// Which store, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// `sqlite:PATH`
    Sqlite(PathBuf),
}

impl StoreUrl {
    /// Reads a URL. A relative path is taken from `base`, `~/` from `home`.
    pub fn parse(text: &str, base: &Path, home: Option<&Path>) -> Result<Self> {
        let shown = without_credentials(text);
        match text.split_once(':') {
            Some(("sqlite", "")) => Err(Error::usage(format!(
                "invalid store {shown:?}: the path is missing; expected sqlite:PATH"
            ))),
            Some(("sqlite", path)) => Ok(Self::Sqlite(absolute(path, base, home)?)),
            Some((scheme, _)) => Err(Error::usage(format!(
                "invalid store {shown:?}: unknown scheme {scheme:?}; expected sqlite:PATH"
            ))),
            None => Err(Error::usage(format!(
                "invalid store {shown:?}: no scheme; expected sqlite:PATH"
            ))),
        }
    }

    /// Opens the store. Nothing is read or created before it is needed.
    pub fn open(&self, faults: Arc<dyn FaultLog>) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(path) => Arc::new(Sqlite::at(path, Waits::default(), faults)),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
        }
    }
}

/// A URL as people may see it: what stands before the host is a name and a
/// password. Passwords may hold anything, so the last `@` is taken.
pub fn without_credentials(url: &str) -> Cow<'_, str> {
    let hidden =
        url.split_once("//").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1)));
    match hidden {
        Some((scheme, host)) => Cow::Owned(format!("{scheme}//***@{host}")),
        None => Cow::Borrowed(url),
    }
}

fn absolute(path: &str, base: &Path, home: Option<&Path>) -> Result<PathBuf> {
    match path.strip_prefix("~/") {
        // Without `.`, so that one file has one name.
        None => Ok(base.join(path).components().collect()),
        Some(rest) => home.map(|home| home.join(rest)).ok_or_else(|| {
            Error::usage(format!("invalid store path {path:?}: there is no home directory for ~"))
        }),
    }
}
