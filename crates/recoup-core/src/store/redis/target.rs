//! Which server, and how to reach it: what a Redis URL says.
//!
//! ```text
//! redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?prefix=P&timeout=D&ca=FILE]
//! rediss://…            the same over TLS
//! redis+cluster://…     several HOST[:PORT], separated by commas; rediss+cluster: over TLS
//! ```
//! A URL that can't be read says which part is wrong, and never shows a password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::base::ttl::Ttl;
use crate::error::{Error, Result};
use crate::store::url::{absolute, without_credentials};

const DEFAULT_PORT: u16 = 6379;
const DEFAULT_PREFIX: &str = "recoup";
const MAX_PREFIX: usize = 64;
/// How long anything may take.
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(250);

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
        Reader { base, home }.read(text).map_err(|fault| {
            Error::usage(format!("invalid store {:?}: {fault}", without_credentials(text)))
        })
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
        let ca = self.ca.as_ref().map(|ca| format!("ca={}", ca.display()));
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

/// What is wrong with which part.
type Fault = String;

struct Reader<'a> {
    base: &'a Path,
    home: Option<&'a Path>,
}

impl Reader<'_> {
    fn read(&self, text: &str) -> Result<Target, Fault> {
        let (scheme, rest) = text.split_once("://").ok_or("expected :// after the scheme")?;
        let (_, cluster, tls) = SCHEMES
            .into_iter()
            .find(|(name, ..)| *name == scheme)
            .ok_or_else(|| format!("unknown scheme {scheme:?}"))?;
        // Passwords may hold anything, so the last `@` ends them.
        let (credentials, rest) = match rest.rsplit_once('@') {
            Some((credentials, rest)) => (Some(credentials), rest),
            None => (None, rest),
        };
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (username, password) = credentials.map_or(Ok((None, None)), read_credentials)?;
        let mut target = Target {
            nodes: read_nodes(hosts, cluster)?,
            cluster,
            tls,
            ca: None,
            username,
            password,
            database: number_of_database(database, cluster)?,
            prefix: DEFAULT_PREFIX.to_owned(),
            timeout: DEFAULT_TIMEOUT,
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            self.read_option(option, &mut target)?;
        }
        Ok(target)
    }

    fn read_option(&self, option: &str, target: &mut Target) -> Result<(), Fault> {
        let (name, value) =
            option.split_once('=').ok_or_else(|| format!("the option {option:?} has no value"))?;
        let value = decoded(value, name)?;
        match name {
            "prefix" => target.prefix = checked_prefix(&value)?,
            "timeout" => target.timeout = read_timeout(&value)?,
            "ca" if target.tls => {
                let path = absolute(&value, self.base, self.home);
                target.ca = Some(path.map_err(|error| error.to_string())?);
            }
            "ca" => return Err("the option ca is for rediss: URLs".to_owned()),
            _ => {
                return Err(format!("unknown option {name:?}; expected prefix, timeout or ca"));
            }
        }
        Ok(())
    }
}

fn read_credentials(text: &str) -> Result<(Option<String>, Option<String>), Fault> {
    let (username, password) = match text.split_once(':') {
        Some((username, password)) => (username, Some(password)),
        None => (text, None),
    };
    let username = (!username.is_empty()).then(|| decoded(username, "the user's name"));
    let password = password.map(|password| decoded(password, "the password"));
    Ok((username.transpose()?, password.transpose()?))
}

/// The value itself is not shown: it may be the password.
fn decoded(text: &str, what: &str) -> Result<String, Fault> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(String::from).map_err(|_| format!("{what} is not UTF-8 after percent-decoding"))
}

fn read_nodes(text: &str, cluster: bool) -> Result<Vec<(String, u16)>, Fault> {
    let nodes: Vec<_> = text.split(',').map(read_node).collect::<Result<_, _>>()?;
    if nodes.len() > 1 && !cluster {
        return Err("several hosts are for redis+cluster: URLs".to_owned());
    }
    Ok(nodes)
}

fn read_node(text: &str) -> Result<(String, u16), Fault> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("the host's bracket [ is not closed")?;
            (host, after.strip_prefix(':').or(after.is_empty().then_some("")))
        }
        None => text.split_once(':').map_or((text, Some("")), |(host, port)| (host, Some(port))),
    };
    if host.is_empty() {
        return Err("the host is missing".to_owned());
    }
    if host.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("the host {host:?} has white space in it"));
    }
    let port = match port {
        Some("") => Some(DEFAULT_PORT),
        Some(port) => port.parse().ok().filter(|port| *port > 0),
        None => None,
    };
    let port =
        port.ok_or_else(|| format!("the port of {host:?} is not a number from 1 to 65535"))?;
    Ok((host.to_owned(), port))
}

fn number_of_database(text: &str, cluster: bool) -> Result<i64, Fault> {
    let number = if text.is_empty() { Some(0) } else { text.parse::<u32>().ok().map(i64::from) };
    match number {
        None => Err(format!("the database {text:?} is not a number")),
        Some(number) if cluster && number != 0 => {
            Err("a cluster has no databases; use the option prefix".to_owned())
        }
        Some(number) => Ok(number),
    }
}

/// Nothing that a pattern or a hash tag would read as more than itself.
fn checked_prefix(text: &str) -> Result<String, Fault> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    if text.is_empty() || text.len() > MAX_PREFIX || !text.chars().all(fine) {
        return Err(format!(
            "the prefix {text:?} is not 1 to {MAX_PREFIX} characters of A-Z a-z 0-9 . _ : -"
        ));
    }
    Ok(text.to_owned())
}

fn read_timeout(text: &str) -> Result<Duration, Fault> {
    let given = Ttl::parse("timeout", text).ok().and_then(Ttl::as_millis);
    let millis = given.filter(|millis| (1..=60_000).contains(millis));
    let expected = || format!("the timeout {text:?} is not a duration from 1ms to 60s");
    millis.map(Duration::from_millis).ok_or_else(expected)
}
