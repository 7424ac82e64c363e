//! Our lines in another program's file, between two marks. All else stays byte for byte, and
//! removing ours restores the file.
//!
//! Our lines are recognised one by one, so that a missing or duplicate mark leaves none of them
//! behind.

/// Marks around our lines.
pub(super) struct BlockMarks {
    /// Line before ours.
    pub(super) begin: &'static str,
    /// Prefix of that line, also as another version wrote it.
    pub(super) begins: &'static str,
    /// Line after ours.
    pub(super) end: &'static str,
}

/// File without our lines, and the position where they belong.
pub(super) struct UnmarkedFile {
    pub(super) rest: Vec<u8>,
    at: usize,
}

impl BlockMarks {
    /// Removes our lines: the marks, and lines for which `is_ours` is true.
    pub(super) fn remove_from(&self, file: &[u8], is_ours: impl Fn(&[u8]) -> bool) -> UnmarkedFile {
        let lines: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').collect();
        let ours = |line: &&[u8]| {
            let line = line.trim_ascii_end();
            self.is_mark(line) || is_ours(line)
        };
        let begin = lines.iter().position(|line| line.starts_with(self.begins.as_bytes()));
        let Some(first) = begin.or_else(|| lines.iter().position(&ours)) else {
            return UnmarkedFile { rest: file.into(), at: file.len() };
        };
        let others = |lines: &[&[u8]]| -> Vec<u8> {
            lines.iter().copied().filter(|line| !ours(line)).flatten().copied().collect()
        };
        let (mut rest, behind) = (others(&lines[..first]), others(&lines[first..]));
        let last = lines.last().filter(|line| ours(line) && !line.ends_with(b"\n"));
        if last.is_some() && behind.is_empty() {
            // The line before ours had no end either, until we added one like ours.
            let eol: &[u8] = if lines[first].ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
            let len = rest.strip_suffix(eol).map_or(rest.len(), <[u8]>::len);
            rest.truncate(len);
        }
        let at = rest.len();
        rest.extend(behind);
        UnmarkedFile { rest, at }
    }

    /// Inserts our lines where they were, or at the end.
    pub(super) fn insert_into(&self, file: &UnmarkedFile, lines: &[&str]) -> Vec<u8> {
        let UnmarkedFile { rest, at } = file;
        let eol = if rest.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
        let block = self.block(lines, eol);
        let unended = *at == rest.len() && rest.last().is_some_and(|byte| *byte != b'\n');
        let block = if unended { format!("{eol}{block}") } else { format!("{block}{eol}") };
        [&rest[..*at], block.as_bytes(), &rest[*at..]].concat()
    }

    /// Returns our lines with their marks.
    pub(super) fn block(&self, lines: &[&str], eol: &str) -> String {
        [&[self.begin], lines, &[self.end]].concat().join(eol)
    }

    /// True if a file has one of our marks.
    pub(super) fn have_mark_in(&self, file: &[u8]) -> bool {
        file.split(|byte| *byte == b'\n').any(|line| self.is_mark(line.trim_ascii_end()))
    }

    fn is_mark(&self, line: &[u8]) -> bool {
        line.starts_with(self.begins.as_bytes()) || line == self.end.as_bytes()
    }
}
