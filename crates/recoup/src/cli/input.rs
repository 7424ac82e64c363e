//! Values that may be typed, read from a file or piped in.

use std::io::{self, Read as _};
use std::path::Path;

use recoup_core::base::fsx;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

/// More than anything that is sensibly kept.
const MAX_LEN: u64 = 1 << 30;

/// `TEXT|@FILE|-`, where `-` is stdin; `flag` names it in errors.
pub(super) fn piped(flag: &str, given: &str) -> Result<Vec<u8>> {
    if given == "-" { stdin() } else { typed(flag, given) }
}

/// `TEXT|@FILE`
pub(super) fn typed(flag: &str, given: &str) -> Result<Vec<u8>> {
    match given.strip_prefix('@') {
        Some(path) => file(flag, Path::new(path)),
        None => Ok(given.as_bytes().to_vec()),
    }
}

/// `FILE|-`, where `-` is stdin; `place` names it in errors.
pub(super) fn file_or_stdin(place: &str, given: &str) -> Result<Vec<u8>> {
    if given == "-" { stdin() } else { file(place, Path::new(given)) }
}

/// The contents of a file.
pub(super) fn file(flag: &str, path: &Path) -> Result<Vec<u8>> {
    fsx::read_limited(path, MAX_LEN).map_err(|error| error.context(flag))
}

/// What must be text.
pub(super) fn utf8(flag: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("{flag} is not valid UTF-8")).with_source(error)
    })
}

/// All of stdin.
pub(super) fn stdin() -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let limited = io::stdin().lock().take(MAX_LEN + 1).read_to_end(&mut all);
    limited.doing(|| "reading stdin".to_owned())?;
    if all.len() as u64 > MAX_LEN {
        let message = format!("stdin has more than {MAX_LEN} bytes");
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    Ok(all)
}
