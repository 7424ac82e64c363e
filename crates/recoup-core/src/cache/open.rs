//! The short way to a cache: a URL to open it, and a key for each result.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Cache, CacheOptions, CacheParts, LookupRequest, PathContext, Ttl};
use crate::base::IgnoreFaults;
use crate::base::clock::SystemClock;
use crate::base::fsx;
use crate::entry::{Body, Draft};
use crate::error::{IoContext as _, Result};
use crate::key::{EntryId, Key, Kind, Scope};
use crate::store::{ClaimRegistry, FileClaims, StoreContext, StoreUrl, ThreadClaims};

impl Cache {
    /// Opens the cache at a store URL: `sqlite:PATH`, `dir:DIR`, `file:DIR` or, with the feature
    /// `redis`, `redis://HOST`. A relative path is resolved against the current directory. Nothing
    /// is created before the first write.
    ///
    /// Processes that open the same URL share the entries, and of all that miss the same key at the
    /// same time one computes it.
    ///
    /// ```
    /// use recoup_core::prelude::*;
    ///
    /// # fn main() -> recoup_core::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite:{}/answers.db", dir.path().display());
    /// # let open = |_: &str| Cache::open(&url);
    /// let (here, there) = (open("sqlite:answers.db")?, open("sqlite:answers.db")?);
    /// let key = Key::of(["review", "v2"]);
    /// here.get_or_compute(&key, Ttl::days(1), || Ok("looks good"))?;
    /// let found = there.get_or_compute(&key, Ttl::days(1), || Ok("computed again"))?;
    /// assert_eq!(found.to_bytes()?, "looks good");
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(url: &str) -> Result<Self> {
        Self::open_with(url, CacheOptions::default())
    }

    /// Opens the cache at a store URL with other than the default options.
    pub fn open_with(url: &str, options: CacheOptions) -> Result<Self> {
        let cwd = std::path::absolute(".")
            .with_context(|| "cannot find the current directory".to_owned())?;
        let url = StoreUrl::parse(url, &cwd, None)?;
        let clock = Arc::new(SystemClock);
        let context =
            StoreContext { clock: clock.clone(), faults: Arc::new(IgnoreFaults), breakers: None };
        let store = url.open(&context);
        let near: Arc<dyn ClaimRegistry> = match url.path() {
            Some(path) => Arc::new(FileClaims::at(fsx::with_suffix(path, ".claims"))),
            None => Arc::new(ThreadClaims::default()),
        };
        let claims = url.claims(&context, near);
        Ok(Self::from_parts(CacheParts { store, clock, ledger: None, claims, options }))
    }

    /// Returns the result stored under `key`; on a miss computes it, stores it for `ttl` and returns
    /// it. Of all concurrent callers one computes and the others wait for its result. If the store
    /// fails, the result is computed and returned all the same. A result that contains a secret, or
    /// exceeds the limits, is returned and not stored.
    ///
    /// For sources, other scopes or kinds, and to learn what happened, use
    /// [`Cache::lookup_or_compute`].
    ///
    /// ```
    /// use recoup_core::prelude::*;
    ///
    /// # fn main() -> recoup_core::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let cache = Cache::open(&format!("sqlite:{}/answers.db", dir.path().display()))?;
    /// let answer = cache.get_or_compute(&Key::of(["2 + 2"]), Ttl::days(1), || {
    ///     Ok("4") // the expensive part
    /// })?;
    /// assert_eq!(answer.to_bytes()?, "4");
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_or_compute<T: Into<Body>>(
        &self,
        key: &Key,
        ttl: Ttl,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<Body> {
        let id = EntryId::new(Scope::global(), key.clone());
        let paths = PathContext::at("/");
        let request = LookupRequest::new(Kind::Result, &id, &paths);
        let computed = self.lookup_or_compute(&request, || {
            compute().map(|result| (Draft::new(Kind::Result, result), ttl))
        })?;
        Ok(computed.body)
    }
}

impl PathContext {
    /// A context whose root and working directory are `dir`, an absolute path.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        let root = dir.into();
        Self { cwd: root.clone(), root }
    }
}
