//! Reads Pi's session files: the first line is a header with the session's id. Pi writes the file
//! with the first answer, so a session without one has an empty context.

use std::borrow::Cow;
use std::path::Path;

use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::memory::transcript::bound_name;
use serde::Deserialize;

/// Length limit of a header.
const HEAD: usize = 16 << 10;

#[derive(Deserialize)]
struct SessionHeader<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

/// True if the session has a file, so that it is being resumed.
pub(in crate::hooks) fn is_written(file: &Path) -> bool {
    matches!(fsx::open_regular(file), Ok(FileLookup::Regular(_)))
}

/// Id of the session in a file; none if that is no session of Pi.
pub(in crate::hooks) fn session_id(file: &Path) -> Option<String> {
    let Ok(FileLookup::Regular(file)) = fsx::open_regular(file) else { return None };
    let head = file.read_start(HEAD).ok()?;
    let line = head.split(|byte| *byte == b'\n').next()?;
    let header: SessionHeader<'_> = serde_json::from_slice(line).ok()?;
    Some(bound_name(&header.id))
}
