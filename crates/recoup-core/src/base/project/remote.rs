//! One name for all the ways to write a remote's address.
//!
//! Protocol, user, password and port go; what tells repositories apart stays. An address that can't
//! be split with certainty has no name: a wrong split could keep a password.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::base::digest::decode_hex;

/// The protocols that reach the same repository at the same path, and their ports.
const PROTOCOLS: [(&str, u16); 6] =
    [("https", 443), ("http", 80), ("ssh", 22), ("git+ssh", 22), ("ssh+git", 22), ("git", 9418)];

/// Hosts that serve `Owner/Repo` and `owner/repo` alike.
const CASELESS_HOSTS: [&str; 3] = ["github.com", "gitlab.com", "bitbucket.org"];

/// Parsed address of a remote. No `Debug`: a path may be a mistyped secret.
pub(super) enum RemoteAddress {
    /// The normalised name.
    Network(String),
    /// A place on this machine, not looked at yet.
    Local(PathBuf),
    /// Understood by a remote helper only, if at all.
    Opaque,
}

impl RemoteAddress {
    pub(super) fn parse(address: &[u8]) -> Self {
        if let Some(rest) = address.strip_prefix(b"file://") {
            let Some(start) = rest.iter().position(|byte| *byte == b'/') else {
                return Self::Opaque;
            };
            // Percent escapes are decoded; invalid ones stand for themselves, as with git.
            let (mut path, mut rest) = (Vec::new(), &rest[start..]);
            while let Some((&first, after)) = rest.split_first() {
                let escape = after.get(..2).filter(|_| first == b'%').and_then(decode_hex);
                rest = if escape.is_some() { &after[2..] } else { after };
                path.extend(escape.unwrap_or_else(|| vec![first]));
            }
            return Self::local(&path);
        }
        // Git's rule: a path, unless a colon comes before the first slash.
        if address.iter().find(|byte| matches!(byte, b':' | b'/')) != Some(&b':') {
            return Self::local(address);
        }
        str::from_utf8(address).ok().and_then(normalize_address).map_or(Self::Opaque, Self::Network)
    }

    fn local(path: &[u8]) -> Self {
        // The system knows no such path; git would end it at the NUL.
        if path.contains(&0) { Self::Opaque } else { Self::Local(OsStr::from_bytes(path).into()) }
    }
}

/// `host/path` of a network address.
fn normalize_address(address: &str) -> Option<String> {
    if address.contains(char::is_control) {
        return None;
    }
    let AddressParts { scheme, authority, path } = AddressParts::of(address)?;
    // `user:pass/word@host` is a mistake that reads as a host, a colon and a path.
    if path.contains('@') {
        return None;
    }
    let protocol = PROTOCOLS.iter().find(|(name, _)| *name == scheme);
    let host = parse_host(authority, protocol.map(|(_, port)| *port))?;
    let mut name = match protocol {
        Some(_) => String::new(),
        None => format!("{scheme}://"), // what the path means is up to its helper
    };
    name.push_str(&host.shown);
    let caseless = CASELESS_HOSTS.contains(&host.name.as_str());
    let path = if caseless { path.to_ascii_lowercase() } else { path.to_owned() };
    // No empty segments, and no `.git` at the end.
    let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    while let Some(bare) = segments.last().and_then(|last| last.strip_suffix(".git")) {
        segments.pop();
        segments.extend(Some(bare).filter(|bare| !bare.is_empty()));
    }
    for segment in segments {
        name.push('/');
        name.push_str(segment);
    }
    Some(name)
}

/// An address split into parts, with nothing dropped yet.
struct AddressParts<'a> {
    scheme: String,
    authority: &'a str,
    path: &'a str,
}

impl<'a> AddressParts<'a> {
    fn of(address: &'a str) -> Option<Self> {
        let (word, rest) = address.split_once(':')?;
        let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let word = (!word.is_empty() && word.chars().all(in_word)).then_some(word);
        match (word, rest.strip_prefix("//")) {
            (Some(scheme), Some(rest)) => {
                let scheme = scheme.to_ascii_lowercase();
                let plain_path = matches!(scheme.as_str(), "ssh" | "git+ssh" | "ssh+git" | "git");
                // A query may name the repository or hold a token.
                if !plain_path && rest.contains(['?', '#']) {
                    return None;
                }
                let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                Some(Self { scheme, authority, path })
            }
            (Some(_helper), None) if rest.starts_with(':') => None,
            // `[user@]host:path`, where colons inside brackets belong to the host.
            _ => {
                let colon = address.find(':')?;
                let bracketed = address[..colon].contains('[');
                let end = if bracketed { address.find(']')? + 1 } else { colon };
                let (authority, path) = address.split_at(end);
                Some(Self { scheme: "ssh".to_owned(), authority, path: path.strip_prefix(':')? })
            }
        }
    }
}

struct RemoteHost {
    name: String,
    /// With brackets and port where they are needed.
    shown: String,
}

/// The host of `[user[:password]@]host[:port]`; git also has `[host:port]`.
fn parse_host(authority: &str, default_port: Option<u16>) -> Option<RemoteHost> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (name, port) = match host.trim_start_matches('[').split_once(']') {
        Some((inside, "")) if inside.matches(':').count() == 1 => inside.split_once(':')?,
        Some((inside, "")) => (inside, ""),
        Some((inside, tail)) => (inside, tail.strip_prefix(':')?),
        None => host.split_once(':').unwrap_or((host, "")),
    };
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let mut shown = if name.contains(':') { format!("[{name}]") } else { name.clone() };
    if !port.is_empty() {
        let port = port.parse::<u16>().ok()?;
        if Some(port) != default_port {
            shown = format!("{shown}:{port}");
        }
    }
    Some(RemoteHost { name, shown })
}
