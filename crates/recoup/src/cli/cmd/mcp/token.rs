//! The token that clients of the HTTP server send: the user's own, or one that is made once
//! and kept in a file that only the user can read.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use recoup_core::base::digest::encode_hex;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::{Error, ErrorKind, Result};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::mcp::TOKEN_FILE;

/// Length of a generated token in bytes, before hex encoding.
const TOKEN_BYTES: usize = 32;
/// Minimum length: a shorter token could be guessed.
const LEAST: usize = 16;
/// Maximum size of a token file.
const MAX_FILE_BYTES: u64 = 4096;

/// Reads the token from a file, to which only its owner may have access.
pub(super) fn read_token_file(file: &Path) -> Result<String> {
    let name = file.display().to_string();
    let read = fsx::read_checked(file, MAX_FILE_BYTES, |found| {
        ensure_private(file, found.mode() & 0o777)
    })?;
    let Some(bytes) = read else {
        return Err(Error::new(ErrorKind::Absent, format!("--token-file: there is no {name}")));
    };
    let text = String::from_utf8(bytes).unwrap_or_default();
    validate_token(&name, &text)
}

/// Refuses a file that other users can read or write.
fn ensure_private(file: &Path, mode: u32) -> Result<()> {
    let of_others = mode & 0o077;
    if of_others == 0 {
        return Ok(());
    }
    let name = file.display();
    let message = format!(
        "{name}: other users of this machine may use this token (its mode is {mode:o}): close it \
         with `chmod 600 {name}`, and put another one in if somebody may have read it"
    );
    Err(Error::new(ErrorKind::Invalid, message))
}

/// Reads our own token, or creates it. Several servers may start at once.
pub(super) fn load_or_create(home: &Path) -> Result<String> {
    fsx::ensure_private_dir(home)?;
    let lock = fsx::with_suffix(&home.join(TOKEN_FILE), ".lock");
    let _lock = FileLock::acquire(&lock, Deadline::after(Duration::from_secs(5)))?;
    let file = home.join(TOKEN_FILE);
    if file.exists() {
        return read_token_file(&file);
    }
    let token = generate_token()?;
    fsx::write_atomic(&file, format!("{token}\n").as_bytes())?;
    Ok(token)
}

/// Checks that a token can be sent in a header and is hard to guess.
pub(super) fn validate_token(place: &str, text: &str) -> Result<String> {
    let token = text.trim();
    if token.len() < LEAST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::usage(format!(
            "{place}: a token has at least {LEAST} letters, digits and signs, and no spaces"
        )));
    }
    Ok(token.to_owned())
}

fn generate_token() -> Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty());
    if filled != Ok(TOKEN_BYTES) {
        return Err(Error::new(ErrorKind::Io, "the system gives no random numbers"));
    }
    Ok(encode_hex(&bytes))
}
