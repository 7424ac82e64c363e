//! Which session a fork comes from. Its event does not say; a conversation that was branched
//! (`/branch`) begins with copies that do: `"forkedFrom":{"sessionId":…}`. One that was begun
//! with `--fork-session` has no transcript yet when its first event comes, and its lines never
//! name the other.

use std::borrow::Cow;
use std::path::Path;

use recoup_core::base::fsx::{self, Found};
use recoup_core::memory::transcript::named;
use serde::Deserialize;

/// So much of a transcript is looked at, from its beginning.
const HEAD: usize = 256 << 10;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "forkedFrom")]
    forked_from: Source<'a>,
}

#[derive(Deserialize)]
struct Source<'a> {
    #[serde(borrow, rename = "sessionId")]
    session: Cow<'a, str>,
}

/// The session that the transcript at `path` was copied from, where it says so.
pub(in crate::hooks) fn parent(path: &Path) -> Option<String> {
    let Ok(Found::Regular(file)) = fsx::look_at(path) else { return None };
    let head = file.read_start(HEAD).ok()?;
    // The last line may have been cut, and is then no JSON.
    let lines = head.split(|byte| *byte == b'\n');
    let source = |line: &[u8]| {
        memchr::memmem::find(line, b"\"forkedFrom\"")?;
        let line: Line<'_> = serde_json::from_slice(line).ok()?;
        Some(named(&line.forked_from.session))
    };
    lines.into_iter().find_map(source)
}
