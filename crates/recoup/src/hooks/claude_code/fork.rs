//! Finds the session that a fork comes from. Its event does not say. A branched conversation
//! (`/branch`) begins with copied lines that do: `"forkedFrom":{"sessionId":…}`. One begun with
//! `--fork-session` has no transcript yet at its first event, and never names the other.

use std::borrow::Cow;
use std::path::Path;

use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::memory::transcript::bound_name;
use serde::Deserialize;

/// Bytes read from the start of a transcript.
const HEAD: usize = 256 << 10;

#[derive(Deserialize)]
struct ForkLine<'a> {
    #[serde(borrow, rename = "forkedFrom")]
    forked_from: ForkSource<'a>,
}

#[derive(Deserialize)]
struct ForkSource<'a> {
    #[serde(borrow, rename = "sessionId")]
    session: Cow<'a, str>,
}

/// Id of the session that the transcript at `path` was copied from, if it says so.
pub(in crate::hooks) fn parent_session(path: &Path) -> Option<String> {
    let Ok(FileLookup::Regular(file)) = fsx::open_regular(path) else { return None };
    let head = file.read_start(HEAD).ok()?;
    // The last line may be cut; then it does not parse.
    let lines = head.split(|byte| *byte == b'\n');
    let source = |line: &[u8]| {
        memchr::memmem::find(line, b"\"forkedFrom\"")?;
        let line: ForkLine<'_> = serde_json::from_slice(line).ok()?;
        Some(bound_name(&line.forked_from.session))
    };
    lines.into_iter().find_map(source)
}
