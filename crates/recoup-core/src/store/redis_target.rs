//! Redis URLs: the server and how to reach it.
//!
//! ```text
//! redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?prefix=P&timeout=D&ca=FILE]
//! rediss://…            the same over TLS
//! redis+cluster://…     several HOST[:PORT], separated by commas; rediss+cluster: over TLS
//! ```
//! A password may contain anything, also percent-encoded: the last `@` ends it, so one in an option
//! is written `%40`. Error messages name the wrong part of a URL and never show a password.

use std::fmt;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::base::ttl::Ttl;
use crate::error::{Error, Result};
use crate::store::url::resolve_path;

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
    pub(crate) fn has_scheme(scheme: &str) -> bool {
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

/// Description of an invalid part.
type UrlFault = String;

struct RedisUrlParser<'a> {
    base: &'a Path,
    home: Option<&'a Path>,
}

impl RedisUrlParser<'_> {
    fn parse_url(&self, text: &str) -> Result<RedisTarget, UrlFault> {
        let (scheme, rest) = text.split_once("://").ok_or("expected :// after the scheme")?;
        let (_, cluster, tls) = SCHEMES
            .into_iter()
            .find(|(name, ..)| *name == scheme)
            .ok_or_else(|| format!("unknown scheme {scheme:?}"))?;
        // A password may contain anything, so the last `@` ends it.
        let (credentials, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (username, password) = match credentials.split_once(':') {
            Some((username, password)) => (username, Some(password)),
            None => (credentials, None),
        };
        let username = (!username.is_empty()).then(|| percent_decode(username, "the user name"));
        let password = password.filter(|password| username.is_some() || !password.is_empty());
        let password = password.map(|password| percent_decode(password, "the password"));
        let (username, password) = (username.transpose()?, password.transpose()?);
        let nodes: Vec<_> = hosts.split(',').map(read_node).collect::<Result<_, _>>()?;
        if nodes.len() > 1 && !cluster {
            return Err("only redis+cluster: URLs can have several hosts".to_owned());
        }
        let mut target = RedisTarget {
            nodes,
            cluster,
            tls,
            ca: None,
            username,
            password,
            database: parse_database(database, cluster)?,
            prefix: DEFAULT_PREFIX.to_owned(),
            timeout: DEFAULT_TIMEOUT,
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            self.read_option(option, &mut target)?;
        }
        Ok(target)
    }

    fn read_option(&self, option: &str, target: &mut RedisTarget) -> Result<(), UrlFault> {
        let (name, value) =
            option.split_once('=').ok_or_else(|| format!("the option {option:?} has no value"))?;
        let value = percent_decode(value, name)?;
        match name {
            "prefix" => target.prefix = checked_prefix(&value)?,
            "timeout" => {
                let given = Ttl::parse_with_unit("timeout", &value).ok().and_then(Ttl::as_millis);
                let millis = given.filter(|millis| (1..=60_000).contains(millis));
                let expected =
                    || format!("the timeout {value:?} is not a duration from 1ms to 60s");
                target.timeout = Duration::from_millis(millis.ok_or_else(expected)?);
            }
            "ca" if target.tls => {
                if value.is_empty() {
                    return Err("the option ca is empty, expected a file".to_owned());
                }
                let path = resolve_path(&value, self.base, self.home);
                target.ca = Some(path.map_err(|error| error.to_string())?);
            }
            "ca" => return Err("the option ca needs a rediss: URL".to_owned()),
            _ => {
                return Err(format!("unknown option {name:?}; expected prefix, timeout or ca"));
            }
        }
        Ok(())
    }
}

/// Percent-decodes a value. Errors do not show it: it may be the password.
fn percent_decode(text: &str, what: &str) -> Result<String, UrlFault> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(String::from).map_err(|_| format!("{what} is not UTF-8 after percent-decoding"))
}

fn read_node(text: &str) -> Result<(String, u16), UrlFault> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("the host's bracket [ is not closed")?;
            if host.split_once('%').map_or(host, |(ip, _)| ip).parse::<Ipv6Addr>().is_err() {
                return Err(format!("the host {host:?} in brackets is not an IPv6 address"));
            }
            (host, after.strip_prefix(':').or(after.is_empty().then_some("")))
        }
        None if text.parse::<Ipv6Addr>().is_ok() => {
            return Err(format!("the host {text:?}, an IPv6 address, must be in brackets"));
        }
        None => text.split_once(':').map_or((text, Some("")), |(host, port)| (host, Some(port))),
    };
    if host.is_empty() {
        return Err("the host is missing".to_owned());
    }
    let fine = |c: char| c.is_alphanumeric() || "._-:%".contains(c);
    if let Some(other) = host.chars().find(|c| !fine(*c)) {
        return Err(format!("the host {host:?} contains {other:?}"));
    }
    let port = match port {
        Some("") => Some(DEFAULT_PORT),
        Some(port) => parse_digits(port).filter(|port| *port > 0),
        None => None,
    };
    let port =
        port.ok_or_else(|| format!("the port of {host:?} is not a number from 1 to 65535"))?;
    Ok((host.to_owned(), port))
}

/// Digits only, without a sign.
fn parse_digits<T: FromStr>(text: &str) -> Option<T> {
    text.chars().all(|c| c.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn parse_database(text: &str, cluster: bool) -> Result<i64, UrlFault> {
    let number = if text.is_empty() { Some(0) } else { parse_digits::<u32>(text).map(i64::from) };
    match number {
        None => Err(format!("the database {text:?} is not a number")),
        Some(number) if cluster && number != 0 => {
            Err("a cluster has no databases; use the option prefix".to_owned())
        }
        Some(number) => Ok(number),
    }
}

/// Checks that the prefix has no characters with a meaning in patterns or hash tags.
fn checked_prefix(text: &str) -> Result<String, UrlFault> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    if text.is_empty() || text.len() > MAX_PREFIX || !text.chars().all(fine) {
        return Err(format!(
            "the prefix {text:?} is not 1 to {MAX_PREFIX} characters of A-Z a-z 0-9 . _ : -"
        ));
    }
    Ok(text.to_owned())
}

/// A URL for error messages, without credentials before the last `@`. Without an `@`, a port that
/// is not a number is taken for a password whose host was forgotten. Options are dropped.
pub(in crate::store) fn redact_url(text: &str) -> String {
    let (scheme, rest) = text.split_at(text.find(':').map_or(0, |colon| colon + 1));
    let slashes = rest.len() - rest.trim_start_matches('/').len();
    let (slashes, rest) = rest.split_at(slashes);
    if let Some((_, host)) = rest.rsplit_once('@') {
        return format!("{scheme}{slashes}***@{}", without_options(host));
    }
    let hosts = without_options(rest);
    let mut at = 0;
    for host in hosts.split_inclusive([',', '/']) {
        let port = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            Some((_, after)) => after.strip_prefix(':'),
            None => host.split_once(':').map(|(_, port)| port),
        };
        if let Some(port) = port {
            let port = port.trim_end_matches([',', '/']);
            if !port.is_empty() && parse_digits::<u16>(port).is_none() {
                let before = &hosts[..at + host.find(port).unwrap_or(0)];
                return format!("{scheme}{slashes}{before}***");
            }
        }
        at += host.len();
    }
    format!("{scheme}{slashes}{hosts}")
}

fn without_options(text: &str) -> &str {
    text.split_once('?').map_or(text, |(before, _)| before)
}
