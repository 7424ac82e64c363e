//! Lines of ours in somebody else's file, between two marks. All else stays byte for byte,
//! and taking ours out leaves what was there before.

use crate::error::{Error, ErrorKind, Result};

/// How our lines are known.
pub(super) struct Marks {
    /// The whole line before them.
    pub(super) begin: &'static str,
    /// What it is known by, also if another version of us has written it.
    pub(super) begins: &'static str,
    /// The line after them.
    pub(super) end: &'static str,
    /// Whether a line between the marks is ours.
    pub(super) is_ours: fn(&[u8]) -> bool,
}

/// A file without our lines, and where these belong.
pub(super) struct Unmarked {
    pub(super) rest: Vec<u8>,
    at: usize,
}

impl Marks {
    /// Takes our lines out. Lines between the marks that are not ours stay.
    pub(super) fn taken_from(&self, file: &[u8]) -> Result<Unmarked> {
        let lines: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').collect();
        let at = |is_it: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
            (0..lines.len()).filter(|at| is_it(lines[*at].trim_ascii_end())).collect()
        };
        let begins = at(&|line| line.starts_with(self.begins.as_bytes()));
        let ends = at(&|line| line == self.end.as_bytes());
        let (begin, end) = match (&begins[..], &ends[..]) {
            ([], []) => return Ok(Unmarked { rest: file.into(), at: file.len() }),
            ([begin], [end]) if begin < end => (*begin, *end),
            _ => return Err(self.broken()),
        };
        let strange = lines[begin + 1..end].iter();
        let strange = strange.filter(|line| !(self.is_ours)(line.trim_ascii_end()));
        let strange: Vec<u8> = strange.copied().flatten().copied().collect();
        let mut rest = lines[..begin].concat();
        // Then the line before us had no end either.
        if !lines[end].ends_with(b"\n") && strange.is_empty() {
            let ended = rest.strip_suffix(b"\n").map(|it| it.strip_suffix(b"\r").unwrap_or(it));
            let len = ended.map_or(rest.len(), <[u8]>::len);
            rest.truncate(len);
        }
        let at = rest.len();
        rest.extend([&strange, &lines[end + 1..].concat()[..]].concat());
        Ok(Unmarked { rest, at })
    }

    /// Puts lines of ours in, where they were or at the end.
    pub(super) fn put_into(&self, file: &Unmarked, lines: &[&str]) -> Vec<u8> {
        let Unmarked { rest, at } = file;
        let eol = if rest.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
        let block = self.block(lines, eol);
        let unended = *at == rest.len() && rest.last().is_some_and(|byte| *byte != b'\n');
        let block = if unended { format!("{eol}{block}") } else { format!("{block}{eol}") };
        [&rest[..*at], block.as_bytes(), &rest[*at..]].concat()
    }

    /// Our lines with their marks.
    pub(super) fn block(&self, lines: &[&str], eol: &str) -> String {
        [&[self.begin], lines, &[self.end]].concat().join(eol)
    }

    fn broken(&self) -> Error {
        let message = format!(
            "it has marks of ours (`{} …`, `{}`) that do not belong together: take them out by hand, with what stands between them",
            self.begins, self.end
        );
        Error::new(ErrorKind::Invalid, message)
    }
}
