//! Values that may be typed, read from a file or piped in.

use std::io::{self, Read as _};
use std::path::Path;

use recoup_core::base::fsx;
use recoup_core::base::ttl::Ttl;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

/// Maximum input size.
const MAX_LEN: u64 = 1 << 30;

/// `TEXT|@FILE|-`, where `-` is stdin; `flag` names it in errors.
pub(super) fn text_file_or_stdin(flag: &str, given: &str) -> Result<Vec<u8>> {
    if given == "-" { stdin() } else { text_or_file(flag, given) }
}

/// `TEXT|@FILE`
pub(super) fn text_or_file(flag: &str, given: &str) -> Result<Vec<u8>> {
    match given.strip_prefix('@') {
        Some(path) => file(flag, Path::new(path)),
        None => Ok(given.as_bytes().to_vec()),
    }
}

/// `FILE|-`, where `-` is stdin.
pub(super) fn file_or_stdin(given: &str) -> Result<Vec<u8>> {
    if given == "-" { stdin() } else { read_up_to(MAX_LEN, Path::new(given)) }
}

/// The contents of a file.
pub(super) fn file(flag: &str, path: &Path) -> Result<Vec<u8>> {
    file_up_to(MAX_LEN, flag, path)
}

/// The contents of a file of at most `limit` bytes. One that is larger is not read.
pub(super) fn file_up_to(limit: u64, flag: &str, path: &Path) -> Result<Vec<u8>> {
    read_up_to(limit, path).map_err(|error| error.context(flag))
}

fn read_up_to(limit: u64, path: &Path) -> Result<Vec<u8>> {
    if path.metadata().is_ok_and(|found| found.is_file() && found.len() > limit) {
        return Err(too_large(&path.display().to_string(), limit));
    }
    fsx::read_limited(path, limit)
}

/// Error kind for an invalid value: wrong usage if it was typed, invalid content if it was read
/// from a file or from stdin.
pub(super) fn invalid_kind(given: &str) -> ErrorKind {
    if given == "-" || given.starts_with('@') { ErrorKind::Invalid } else { ErrorKind::Usage }
}

/// Parses a duration with its unit, if one is given; `flag` names it in errors.
pub(super) fn duration(flag: &str, given: Option<&str>) -> Result<Option<Ttl>> {
    given.map(|given| Ttl::parse_with_unit(flag, given)).transpose()
}

/// Joins words; an error if there is no text.
pub(super) fn join_words(words: &[String]) -> Result<String> {
    let text = words.join(" ");
    if text.trim().is_empty() {
        return Err(Error::usage("TEXT is empty"));
    }
    Ok(text)
}

/// Decodes UTF-8; `flag` names the value in errors.
pub(super) fn decode_utf8(flag: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("{flag} is not valid UTF-8")).with_source(error)
    })
}

/// All of stdin.
pub(super) fn stdin() -> Result<Vec<u8>> {
    stdin_up_to(MAX_LEN)
}

/// All of stdin, which may have at most `limit` bytes.
pub(super) fn stdin_up_to(limit: u64) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let limited = io::stdin().lock().take(limit + 1).read_to_end(&mut all);
    limited.with_context(|| "reading stdin".to_owned())?;
    if all.len() as u64 > limit {
        return Err(too_large("stdin", limit));
    }
    Ok(all)
}

fn too_large(what: &str, limit: u64) -> Error {
    let message = format!("{what} is larger than {} MiB, the maximum", limit >> 20);
    Error::new(ErrorKind::Invalid, message)
}
