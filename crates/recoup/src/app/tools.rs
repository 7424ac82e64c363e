//! Opens the cache of one server's tool calls.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recoup_core::Result;
use recoup_core::cache::{CacheMode, PathContext, Ttl};
use recoup_core::key::Scope;
use recoup_core::store::StoreUrl;

use super::App;
use crate::config::env;
use crate::toolbox::{
    CallLog, FingerprintKey, ServerCachePolicy, ServerIdentity, ToolCache, ToolCacheParts,
};

/// A server whose tool calls are to be cached, and how.
#[derive(Debug)]
pub(crate) struct ToolCacheRequest<'a> {
    /// The name that the user gave the server; policies go by it.
    pub(crate) name: &'a str,
    /// The server, without credentials.
    pub(crate) server: ServerIdentity,
    /// Working directory of the server.
    pub(crate) directory: PathBuf,
    /// File of `--config`, which takes precedence over all others.
    pub(crate) config: Option<&'a Path>,
    /// Further variables whose values are part of the server's identity, beside those of the
    /// configuration.
    pub(crate) credential_variables: &'a [String],
    /// Other credentials by name, such as headers.
    pub(crate) credentials: Vec<(String, Vec<u8>)>,
    pub(crate) mode: CacheMode,
    pub(crate) max_age: Option<Ttl>,
}

impl App {
    /// The cache of a server's tool calls. Faults are reported, and calls pass uncached; only a
    /// mistake in the file of `--config` is an error.
    pub(crate) fn tool_cache(&self, request: ToolCacheRequest<'_>) -> Result<ToolCache> {
        let ToolCacheRequest { name, server, directory, config, mode, max_age, .. } = request;
        let settings = match config {
            Some(file) => self.settings.tools_with_file(file)?,
            None => self.settings.tools.clone(),
        };
        let mut policy = settings.policy_for(name);
        let named = policy.credentials.iter().chain(request.credential_variables);
        let value = |name: &String| (name.clone(), env::verbatim(name).map(OsString::into_vec));
        let mut credentials: Vec<_> = named.map(value).collect();
        credentials.extend(request.credentials.into_iter().map(|(name, it)| (name, Some(it))));
        let server = if credentials.is_empty() && !server.has_secret_url() {
            server
        } else {
            match FingerprintKey::load_or_create(&self.settings.home) {
                Ok(key) => server.with_credentials(&key, credentials),
                Err(error) => {
                    // Without fingerprints, users with other credentials would share results.
                    self.faults.fault("tool calls are not cached", &error);
                    policy = ServerCachePolicy::default();
                    server
                }
            }
        };
        if policy.caches_anything()
            && let Err(error) = self.prepare_cache()
        {
            self.faults.fault("the cache of tool calls", &error);
        }
        Ok(ToolCache::new(ToolCacheParts {
            cache: self.cache_of_server(),
            scope: self.scope(),
            paths: PathContext { root: self.settings.project.root().to_owned(), cwd: directory },
            name: name.to_owned(),
            server,
            policy,
            is_shared: self.shares_entries(),
            mode,
            max_age,
            withheld: env::credentials().in_json(),
            call_log: if self.settings.usage_log.ledger { self.call_log() } else { CallLog::off() },
            faults: Arc::clone(&self.faults),
        }))
    }

    /// The log of the calls that passed proxies.
    pub(crate) fn call_log(&self) -> CallLog {
        CallLog::below(&self.settings.home)
    }

    /// True if other users or machines may read the entries.
    fn shares_entries(&self) -> bool {
        let (store, scope) = (&self.settings.store, self.scope());
        let is_wide = scope == Scope::global() || scope.as_str().starts_with("tenant:");
        matches!(store, StoreUrl::Redis(_)) || (is_wide && !store.is_own_scope())
    }
}
