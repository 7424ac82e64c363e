//! Reads the lines of a transcript from its beginning, in a bounded buffer. A line that does not fit
//! is skipped; so is the last one if it has no end yet.

use std::path::Path;

use memchr::{memchr, memrchr};
use recoup_core::Result;
use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::error::IoContext as _;

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// Longer lines are skipped: a prompt with a picture is shorter.
const MAX_LINE_BYTES: usize = 4 << 20;

/// Buffer for the lines of many files, one after the other.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer(Vec<u8>);

impl LineBuffer {
    /// Calls `on_line` with each line of a file, and `on_bytes` with the number of bytes that were
    /// read. A file that is gone, or is no regular one, has no lines.
    pub(crate) fn for_each_line(
        &mut self,
        path: &Path,
        mut on_line: impl FnMut(&[u8]),
        mut on_bytes: impl FnMut(u64),
    ) -> Result<()> {
        let FileLookup::Regular(file) = fsx::open_regular(path)? else { return Ok(()) };
        let buffer = &mut self.0;
        buffer.clear();
        let (mut at, mut is_skipped) = (0, false);
        loop {
            let held = buffer.len();
            buffer.resize(held + BLOCK, 0);
            let read = file.read_at(&mut buffer[held..], at);
            let read = read.with_context(|| format!("cannot read {}", path.display()))?;
            buffer.truncate(held + read);
            if read == 0 {
                return Ok(());
            }
            at += read as u64;
            on_bytes(read as u64);
            let Some(end) = memrchr(b'\n', &buffer[held..]).map(|end| held + end + 1) else {
                if is_skipped || buffer.len() > MAX_LINE_BYTES {
                    is_skipped = true;
                    buffer.clear();
                }
                continue;
            };
            let mut lines = &buffer[..end];
            while let Some(end) = memchr(b'\n', lines) {
                if !std::mem::take(&mut is_skipped) && end > 0 {
                    on_line(&lines[..end]);
                }
                lines = &lines[end + 1..];
            }
            buffer.drain(..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_whatever_their_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let long = "x".repeat(MAX_LINE_BYTES + BLOCK + 7);
        let middle = "y".repeat(3 * BLOCK);
        let text = format!("first\n{long}\n{middle}\n\nlast\nunfinished");
        fsx::write_unsynced(&path, text.as_bytes()).unwrap();
        let (mut lines, mut bytes) = (Vec::new(), 0);
        let mut buffer = LineBuffer::default();
        for _ in 0..2 {
            (lines, bytes) = (Vec::new(), 0);
            let on_line = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
            buffer.for_each_line(&path, on_line, |more| bytes += more).unwrap();
        }
        assert_eq!(lines, ["first", &middle, "last"]);
        assert_eq!(bytes, text.len() as u64);
    }
}
