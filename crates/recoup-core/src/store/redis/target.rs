//! Redis URLs: the server and how to reach it.
//!
//! ```text
//! redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?prefix=P&timeout=D&ca=FILE]
//! rediss://…            the same over TLS
//! redis+cluster://…     several HOST[:PORT], separated by commas; rediss+cluster: over TLS
//! ```
//! A password may contain anything, also percent-encoded: the last `@` ends it, so one in an option
//! is written `%40`. Error messages name the wrong part of a URL and never show a password.

mod url_parser;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::error::{Error, Result};
use url_parser::{RedisUrlParser, checked_prefix, parse_database};

pub(in crate::store) use url_parser::redact_url;

const DEFAULT_PORT: u16 = 6379;
const DEFAULT_PREFIX: &str = "recoup";
const MAX_PREFIX: usize = 64;
/// Default deadline of a request.
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(250);

/// Characters that would end an option, or the credentials before the host.
const IN_OPTION: &AsciiSet = &CONTROLS.add(b'%').add(b'&').add(b'@').add(b' ').add(b'#').add(b'?');

/// A server, or a cluster of them.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisTarget {
    pub(super) nodes: Vec<(String, u16)>,
    pub(super) cluster: bool,
    pub(super) tls: bool,
    /// CA certificates for the server, if the system's do not suffice.
    pub(super) ca: Option<PathBuf>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
    pub(super) prefix: String,
    pub(super) timeout: Duration,
}

/// The URL schemes: name, cluster, TLS.
const SCHEMES: [(&str, bool, bool); 4] = [
    ("redis", false, false),
    ("rediss", false, true),
    ("redis+cluster", true, false),
    ("rediss+cluster", true, true),
];

impl RedisTarget {
    /// True if the scheme is that of a Redis URL.
    pub fn has_scheme(scheme: &str) -> bool {
        SCHEMES.iter().any(|(name, ..)| *name == scheme)
    }

    /// Parses a URL. A relative `ca` path is resolved against `base`, `~/` against `home`.
    pub fn parse(text: &str, base: &Path, home: Option<&Path>) -> Result<Self> {
        RedisUrlParser { base, home }
            .parse_url(text)
            .map_err(|fault| Error::usage(format!("invalid store {:?}: {fault}", redact_url(text))))
    }

    /// Sets user name and password.
    #[must_use]
    pub fn with_credentials(mut self, username: Option<String>, password: Option<String>) -> Self {
        self.username = username.or(self.username);
        self.password = password.or(self.password);
        self
    }

    /// Sets the database.
    pub fn with_database(mut self, database: &str) -> Result<Self> {
        self.database = parse_database(database, self.cluster).map_err(Error::usage)?;
        Ok(self)
    }

    /// Sets the prefix of its keys.
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self> {
        self.prefix = checked_prefix(prefix).map_err(Error::usage)?;
        Ok(self)
    }

    /// Sets the deadline.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The prefix of its keys.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    fn scheme(&self) -> &'static str {
        let same =
            |(_, cluster, tls): &&(_, bool, bool)| (*cluster, *tls) == (self.cluster, self.tls);
        SCHEMES.iter().find(same).map_or("redis", |(name, ..)| name)
    }
}

/// The URL without credentials, as shown to people and used as an identity by ledgers.
impl fmt::Display for RedisTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme())?;
        if self.username.is_some() || self.password.is_some() {
            f.write_str("***@")?;
        }
        for (n, (host, port)) in self.nodes.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let bracketed = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            write!(f, "{comma}{bracketed}:{port}")?;
        }
        write!(f, "/{}", self.database)?;
        let prefix = (self.prefix != DEFAULT_PREFIX).then(|| format!("prefix={}", self.prefix));
        let timeout = (self.timeout != DEFAULT_TIMEOUT)
            .then(|| format!("timeout={}ms", self.timeout.as_millis()));
        let ca = self
            .ca
            .as_ref()
            .map(|ca| format!("ca={}", utf8_percent_encode(&ca.to_string_lossy(), IN_OPTION)));
        for (n, option) in [prefix, timeout, ca].into_iter().flatten().enumerate() {
            write!(f, "{}{option}", if n == 0 { "?" } else { "&" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for RedisTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}
