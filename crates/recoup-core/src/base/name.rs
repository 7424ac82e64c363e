//! Names that become file names, keys and column values: validated once, here.

use std::fmt;
use std::sync::Arc;

use super::digest::Sha256Digest;
use super::text::shorten_text;
use crate::error::{Error, Result};

/// The longest name.
pub const MAX_LEN: usize = 128;

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
            _ => {
                text.chars().find(|c| !is_allowed_char(*c)).map(|c| format!("{c:?} is not allowed"))
            }
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
    pub fn from_digest(digest: Sha256Digest) -> Self {
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

fn is_allowed_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}
