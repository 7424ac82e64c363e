//! Store URLs: parsing, and opening the store.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::claims::LayeredClaims;
use super::guarded::CircuitBreaker;
#[cfg(feature = "redis")]
use super::redis::RedisClaims;
use super::redis_target::{self, RedisTarget};
use super::sqlite::WaitLimits;
use super::{ClaimRegistry, DirectoryStore, FaultLog, FileStore, SqliteStore, Store};
#[cfg(feature = "redis")]
use super::{GuardedStore, RedisStore};
use crate::base::clock::Clock;
use crate::base::digest::{Sha256Digest, encode_hex};
use crate::error::{Error, Result};

/// The URL forms, for error messages.
const FORMS: &str =
    "sqlite:PATH, file:DIR, dir:DIR, redis://HOST, rediss://HOST or redis+cluster://HOST";

/// URL of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// `sqlite:PATH`
    Sqlite(PathBuf),
    /// `file:DIR`
    File(PathBuf),
    /// `dir:DIR`
    Dir(PathBuf),
    /// `redis://…` and its variants
    #[cfg(feature = "redis")]
    Redis(Box<RedisTarget>),
}

/// Services that a store gets from the program.
#[derive(Debug, Clone)]
pub struct StoreContext {
    /// The source of times.
    pub clock: Arc<dyn Clock>,
    /// Receives faults that did not stop the work.
    pub faults: Arc<dyn FaultLog>,
    /// Directory in which processes share the state of circuit breakers; `None` keeps that state
    /// per process.
    pub breakers: Option<PathBuf>,
}

impl StoreUrl {
    /// Parses a URL. A relative path is resolved against `base`, `~/` against `home`.
    pub fn parse(text: &str, base: &Path, home: Option<&Path>) -> Result<Self> {
        let invalid = |fault: String| {
            let shown = redis_target::redact_url(text);
            Error::usage(format!("invalid store {shown:?}: {fault}; expected {FORMS}"))
        };
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(invalid("no scheme".to_owned()));
        };
        if RedisTarget::has_scheme(scheme) {
            #[cfg(feature = "redis")]
            return RedisTarget::parse(text, base, home)
                .map(|target| Self::Redis(Box::new(target)));
            #[cfg(not(feature = "redis"))]
            return Err(invalid("built without the feature `redis`".to_owned()));
        }
        let make = match scheme {
            "sqlite" => Self::Sqlite,
            "file" => Self::File,
            "dir" => Self::Dir,
            _ => {
                // Anything before the last `@` may be a password.
                let shown = scheme.rsplit_once('@').map_or(scheme, |(_, after)| after);
                return Err(invalid(format!("unknown scheme {shown:?}")));
            }
        };
        if rest.is_empty() {
            return Err(invalid("the path is missing".to_owned()));
        }
        resolve_path(rest, base, home).map(make)
    }

    /// Opens the store as a tier in front of another. Writes wait for locks no longer than reads,
    /// because this tier only saves time.
    pub fn open_as_front_tier(&self, around: &StoreContext) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(path) => {
                let read = WaitLimits::default().read;
                let waits = WaitLimits { read, write: read };
                Arc::new(SqliteStore::at(path, waits, Arc::clone(&around.faults)))
            }
            _ => self.open(around),
        }
    }

    /// Opens the store. Nothing is read, connected or created before the first use.
    pub fn open(&self, around: &StoreContext) -> Arc<dyn Store> {
        let StoreContext { clock, faults, .. } = around;
        match self {
            Self::Sqlite(path) => {
                Arc::new(SqliteStore::at(path, WaitLimits::default(), Arc::clone(faults)))
            }
            Self::File(dir) => Arc::new(FileStore::at(dir, Arc::clone(clock))),
            Self::Dir(dir) => Arc::new(DirectoryStore::at(dir, Arc::clone(faults))),
            #[cfg(feature = "redis")]
            Self::Redis(target) => {
                let server = Arc::new(RedisStore::at(RedisTarget::clone(target)));
                Arc::new(GuardedStore::new(server, self.breaker_file(around), Arc::clone(clock)))
            }
        }
    }

    /// Claims for the users of this store: `near` on this machine and, for a server, on that server
    /// too. Nothing is connected or created before the first use.
    pub fn claims(
        &self,
        around: &StoreContext,
        near: Arc<dyn ClaimRegistry>,
    ) -> Arc<dyn ClaimRegistry> {
        match self {
            Self::Sqlite(_) | Self::File(_) | Self::Dir(_) => near,
            #[cfg(feature = "redis")]
            Self::Redis(target) => Arc::new(LayeredClaims {
                near,
                far: Arc::new(RedisClaims::at(RedisTarget::clone(target))),
                breaker: CircuitBreaker::new(self.breaker_file(around), Arc::clone(&around.clock)),
                server: self.to_string(),
                faults: Arc::clone(&around.faults),
            }),
        }
    }

    fn breaker_file(&self, around: &StoreContext) -> Option<PathBuf> {
        around.breakers.as_ref().map(|dir| dir.join(self.fingerprint()))
    }

    /// The path of a store on the local disk.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path) | Self::File(path) | Self::Dir(path) => Some(path),
            #[cfg(feature = "redis")]
            Self::Redis(_) => None,
        }
    }

    /// True if the store is a directory whose format has no scopes: such a store is a scope of its
    /// own.
    pub fn is_own_scope(&self) -> bool {
        matches!(self, Self::File(_) | Self::Dir(_))
    }

    /// A short name for files that belong to this store, independent of credentials.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256Digest::of(self.to_string().as_bytes());
        encode_hex(&digest.as_bytes()[..8])
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::File(dir) => write!(f, "file:{}", dir.display()),
            Self::Dir(dir) => write!(f, "dir:{}", dir.display()),
            #[cfg(feature = "redis")]
            Self::Redis(target) => target.fmt(f),
        }
    }
}

/// Masks the user name and password in a URL. A password may contain anything, so the last `@` ends
/// it.
pub fn without_credentials(url: &str) -> Cow<'_, str> {
    let colon = url.split_once(':').filter(|(scheme, _)| RedisTarget::has_scheme(scheme));
    let (start, rest) = match (url.find("//"), colon) {
        (Some(slashes), _) => url.split_at(slashes + 2),
        (None, Some((scheme, _))) => url.split_at(scheme.len() + 1),
        (None, None) => return Cow::Borrowed(url),
    };
    match rest.rsplit_once('@') {
        Some((_, host)) => Cow::Owned(format!("{start}***@{host}")),
        None => Cow::Borrowed(url),
    }
}

/// Resolves a path against `base`, or against `home` for `~` and `~/…`.
pub(super) fn resolve_path(path: &str, base: &Path, home: Option<&Path>) -> Result<PathBuf> {
    let invalid = |fault: &str| Error::usage(format!("invalid store path {path:?}: {fault}"));
    let Some(rest) = path.strip_prefix('~') else {
        // Without `.`, so that each file has one spelling.
        return Ok(base.join(path).components().collect());
    };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(invalid(
            "only ~/ is supported, not another user's home; write ./~ for a file of that name",
        ));
    }
    let home = home.ok_or_else(|| invalid("there is no home directory for ~"))?;
    Ok(home.join(rest.trim_start_matches('/')))
}
