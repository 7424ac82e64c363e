//! Opens the cache of one server's tool calls.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recoup_core::Result;
use recoup_core::cache::{Cache, CacheMode, PathContext, Ttl};
use recoup_core::key::Scope;
use recoup_core::secrets::SecretValues;
use recoup_core::store::{StoreUrl, without_credentials};

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
    /// Other credentials, such as headers.
    pub(crate) credentials: Vec<ServerCredential>,
    pub(crate) mode: CacheMode,
    pub(crate) max_age: Option<Ttl>,
    pub(crate) protocol: ToolProtocol,
    /// The cache to use; none to open one.
    pub(crate) cache: Option<Cache>,
}

/// Something that tells a server's user from others.
#[derive(Debug)]
pub(crate) struct ServerCredential {
    pub(crate) name: String,
    pub(crate) value: Vec<u8>,
    /// True if it may be a plain word, which results may contain.
    pub(crate) may_be_plain: bool,
}

/// How tools are called, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolProtocol {
    /// MCP, through the proxy.
    Mcp,
    /// MCP, by an agent: the server's tools are remembered, whatever is cached.
    AgentMcp,
    Rest,
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
        let mut policy = match request.protocol {
            ToolProtocol::Mcp | ToolProtocol::AgentMcp => settings.policy_for(name),
            ToolProtocol::Rest => settings.policy_for_rest(name),
        };
        let named = policy.credentials.iter().chain(request.credential_variables);
        let value = |name: &String| (name.clone(), env::verbatim(name).map(OsString::into_vec));
        let mut credentials: Vec<_> = named.map(value).collect();
        let plain = request.credentials.iter().filter(|credential| credential.may_be_plain);
        let plain: Vec<String> = plain.map(|credential| credential.name.clone()).collect();
        credentials.extend(request.credentials.into_iter().map(|it| (it.name, Some(it.value))));
        let parts = |(name, value): &(String, Option<Vec<u8>>)| {
            // `recoup mcp wrap` names all variables of an entry in `--cred-env`.
            let may_be_plain = (request.credential_variables.contains(name)
                && !policy.credentials.contains(name))
                || plain.contains(name);
            value.as_deref().map(|value| secret_parts(value, may_be_plain)).unwrap_or_default()
        };
        let withheld = SecretValues::of_values(credentials.iter().flat_map(parts));
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
        if (policy.caches_anything() || request.protocol == ToolProtocol::AgentMcp)
            && let Err(error) = self.prepare_cache()
        {
            self.faults.fault("the cache of tool calls", &error);
        }
        // Other users or machines may read these entries.
        let (store, scope) = (&self.settings.store, self.scope());
        let is_wide = scope == Scope::global() || scope.as_str().starts_with("tenant:");
        Ok(ToolCache::new(ToolCacheParts {
            cache: request.cache.unwrap_or_else(|| self.cache_of_server()),
            scope: self.scope(),
            paths: PathContext { root: self.settings.project.root().to_owned(), cwd: directory },
            name: name.to_owned(),
            server,
            protocol: if request.protocol == ToolProtocol::Rest { "rest" } else { "mcp" },
            policy,
            is_shared: matches!(store, StoreUrl::Redis(_)) || (is_wide && !store.is_own_scope()),
            mode,
            max_age,
            withheld: env::credentials().and(withheld).in_json(),
            call_log: if self.settings.usage_log.ledger { self.call_log() } else { CallLog::off() },
            faults: Arc::clone(&self.faults),
        }))
    }

    /// The log of the calls that passed proxies.
    pub(crate) fn call_log(&self) -> CallLog {
        CallLog::below(&self.settings.home)
    }
}

/// The parts of a credential that must not be stored: the value, its words, as in `Bearer TOKEN`, and
/// the password in a URL. Plain words and addresses are left out if `may_be_plain`.
pub(crate) fn secret_parts(value: &[u8], may_be_plain: bool) -> Vec<Vec<u8>> {
    let Ok(text) = str::from_utf8(value) else { return vec![value.to_vec()] };
    let words = text.split_whitespace().chain([text]);
    let password = |word: &str| {
        let (login, _) = word.split_once("://")?.1.split_once('@')?;
        Some(login.split_once(':').map_or(login, |(_, password)| password).to_owned())
    };
    let is_plain = |word: &str| {
        let is_word = word.chars().all(|c| c.is_ascii_lowercase() || "-_. ".contains(c));
        let is_address = word.contains("://") && !word.contains('?');
        is_word || is_address && without_credentials(word) == word
    };
    let secret = words.filter(|word| !(may_be_plain && is_plain(word)));
    let parts = secret.flat_map(|word| [Some(word.to_owned()), password(word)]).flatten();
    parts.map(String::into_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_passwords_are_withheld_and_plain_values_are_not() {
        let parts = |value: &str| -> Vec<String> {
            let parts = secret_parts(value.as_bytes(), true).into_iter();
            parts.map(|part| String::from_utf8_lossy(&part).into_owned()).collect()
        };
        assert!(parts("Bearer zq81-abc-77").contains(&"zq81-abc-77".to_owned()));
        let url = "postgres://me:hunter2@db.example.org/x";
        assert_eq!(parts(url)[..2], [url, "hunter2"]);
        for plain in ["production", "https://github.com", "en_us.utf"] {
            assert!(parts(plain).is_empty(), "{plain}");
            assert!(!secret_parts(plain.as_bytes(), false).is_empty(), "{plain}");
        }
    }
}
