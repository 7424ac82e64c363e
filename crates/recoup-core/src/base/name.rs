//! Identifiers: names that become file names, keys and column values, validated once, here; fresh
//! ids; and a fingerprint of this machine that reveals nothing else about it.

use std::sync::{Arc, OnceLock};
use std::{fmt, fs};

use super::clock::Clock;
use super::digest::{Sha256Digest, encode_hex};
use super::text::shorten_text;
use crate::error::{Error, Result};

/// The longest name.
pub(crate) const MAX_LEN: usize = 128;
/// Crockford's alphabet: no letter that reads like a digit, and in ASCII order.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A validated name: 1 to 128 characters of `A-Z a-z 0-9 . _ -`, and neither `.` nor `..`. Can't
/// leave a directory, and needs no quoting anywhere.
///
/// Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SafeName(Arc<str>);

impl SafeName {
    /// Validates `text`; `what` names its role in the error.
    pub fn parse(what: &str, text: &str) -> Result<Self> {
        let fault = match text {
            "" => Some("it is empty".to_owned()),
            "." | ".." => Some(format!("{text:?} is not a name")),
            _ if text.len() > MAX_LEN => Some(format!("it has {} characters", text.len())),
            _ => text
                .chars()
                .find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-'))
                .map(|c| format!("{c:?} is not allowed")),
        };
        match fault {
            None => Ok(Self(text.into())),
            Some(fault) => Err(Error::usage(format!(
                "invalid {what} {}: {fault}; expected 1 to {MAX_LEN} characters of A-Z a-z 0-9 . _ - (not . or ..)",
                shorten_text(&format!("{text:?}"), MAX_LEN)
            ))),
        }
    }

    /// 64 hex digits, which are always a name.
    pub(crate) fn from_digest(digest: Sha256Digest) -> Self {
        Self(digest.to_hex().into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// 26 characters that sort by time: 48 bits of milliseconds, then 80 random ones
/// (the layout of a ULID). A valid [`SafeName`], safe in a path.
///
/// Unique, not secret: unsuitable for values that must be unguessable.
pub fn fresh_id(clock: &dyn Clock) -> String {
    let millis = u128::from(clock.now().as_millis().max(0).cast_unsigned() & 0xffff_ffff_ffff);
    let random = fastrand::u128(..) & ((1 << 80) - 1);
    let value = (millis << 80) | random;
    (0..26).rev().map(|place| char::from(ALPHABET[(value >> (place * 5)) as usize & 31])).collect()
}

/// Sixteen hex digits, the same on every run on this machine.
///
/// Made from the operating system's machine id, else from the host's name. Machines may share both:
/// callers must stay correct then, only slower.
pub fn machine_fingerprint() -> &'static str {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    FINGERPRINT.get_or_init(|| {
        let id = fs::read("/etc/machine-id").unwrap_or_default();
        let host_name = || rustix::system::uname().nodename().to_bytes().to_vec();
        let seed = if id.trim_ascii().is_empty() { host_name() } else { id };
        encode_hex(
            &Sha256Digest::of(&[b"recoup machine\0", seed.as_slice()].concat()).as_bytes()[..8],
        )
    })
}
