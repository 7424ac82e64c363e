//! Which server, and how to reach it: what a Redis URL says.
//!
//! ```text
//! redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?prefix=P&timeout=D&ca=FILE]
//! rediss://…            the same over TLS
//! redis+cluster://…     several HOST[:PORT], separated by commas; rediss+cluster: over TLS
//! ```
//! A password may hold anything, also percent-encoded: the last `@` ends it, so one in
//! an option is written `%40`. A URL that can't be read says which part is wrong, and
//! never shows a password.

mod reader;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::error::{Error, Result};
use reader::{Reader, checked_prefix, number_of_database};

pub(in crate::store) use reader::shown;

const DEFAULT_PORT: u16 = 6379;
const DEFAULT_PREFIX: &str = "recoup";
const MAX_PREFIX: usize = 64;
/// How long anything may take.
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(250);

/// What would end an option, or the credentials before the host.
const IN_OPTION: &AsciiSet = &CONTROLS.add(b'%').add(b'&').add(b'@').add(b' ').add(b'#').add(b'?');

/// A server, or a cluster of them.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub(super) nodes: Vec<(String, u16)>,
    pub(super) cluster: bool,
    pub(super) tls: bool,
    /// Who signed the server's certificate, where the system does not know.
    pub(super) ca: Option<PathBuf>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
    pub(super) prefix: String,
    pub(super) timeout: Duration,
}

/// The schemes of such URLs, with whether they mean a cluster, and TLS.
const SCHEMES: [(&str, bool, bool); 4] = [
    ("redis", false, false),
    ("rediss", false, true),
    ("redis+cluster", true, false),
    ("rediss+cluster", true, true),
];

impl Target {
    /// Whether a URL of that scheme is one of ours.
    pub fn has_scheme(scheme: &str) -> bool {
        SCHEMES.iter().any(|(name, ..)| *name == scheme)
    }

    /// Reads a URL. A relative path of `ca` is taken from `base`, `~/` from `home`.
    pub fn parse(text: &str, base: &Path, home: Option<&Path>) -> Result<Self> {
        Reader { base, home }
            .read(text)
            .map_err(|fault| Error::usage(format!("invalid store {:?}: {fault}", shown(text))))
    }

    /// The same with another name and password.
    #[must_use]
    pub fn with_credentials(mut self, username: Option<String>, password: Option<String>) -> Self {
        self.username = username.or(self.username);
        self.password = password.or(self.password);
        self
    }

    /// The same with another database.
    pub fn with_database(mut self, database: &str) -> Result<Self> {
        self.database = number_of_database(database, self.cluster).map_err(Error::usage)?;
        Ok(self)
    }

    /// The same with another prefix for its keys.
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self> {
        self.prefix = checked_prefix(prefix).map_err(Error::usage)?;
        Ok(self)
    }

    /// The same with another deadline.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// What the names of its keys begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    fn scheme(&self) -> &'static str {
        let same =
            |(_, cluster, tls): &&(_, bool, bool)| (*cluster, *tls) == (self.cluster, self.tls);
        SCHEMES.iter().find(same).map_or("redis", |(name, ..)| name)
    }
}

/// The URL, without credentials: what people see, and what ledgers go by.
impl fmt::Display for Target {
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

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}
