//! As much of git's configuration language as it takes to find a remote: the
//! grammar in full, since a half-understood file gives a wrong answer instead of
//! none, and of its meaning `remote.<name>.url` and `core.worktree` only.
//!
//! Works on bytes, as git does: nothing says that a path is UTF-8.

use std::collections::HashMap;

/// The URL of `origin`, else of the only remote. The first where there are
/// several, as `git remote get-url` has it. None when the file is broken.
pub(super) fn remote_url(config: &[u8]) -> Option<Vec<u8>> {
    let mut urls: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut parser = Parser::new(config);
    while let Some((name, value)) = parser.next_entry().ok()? {
        let Some(remote) = remote_of_url(name) else { continue };
        let url = value?;
        if url.is_empty() {
            // An empty value takes back those before it.
            urls.remove(remote);
        } else if !urls.contains_key(remote) {
            urls.insert(remote.to_owned(), url);
        }
    }
    let only = urls.len() == 1;
    urls.remove(b"origin".as_slice()).or_else(|| urls.into_values().next().filter(|_| only))
}

/// The directory of the working tree, where the configuration has one (`core.worktree`).
pub(super) fn worktree(config: &[u8]) -> Option<Vec<u8>> {
    let mut found = None;
    let mut parser = Parser::new(config);
    while let Some((name, value)) = parser.next_entry().ok()? {
        if name == b"core.worktree" {
            found = value;
        }
    }
    found
}

fn remote_of_url(name: &[u8]) -> Option<&[u8]> {
    name.strip_prefix(b"remote.")?.strip_suffix(b".url")
}

/// Syntax error, at which git would stop.
struct Broken;

/// A variable's full name and its value; a name without `=` has none.
type Entry<'p> = (&'p [u8], Option<Vec<u8>>);

struct Parser<'c> {
    rest: &'c [u8],
    /// `section.subsection.variable`; the part before `section_len` outlives a line.
    name: Vec<u8>,
    section_len: usize,
}

impl<'c> Parser<'c> {
    fn new(config: &'c [u8]) -> Self {
        let rest = config.strip_prefix(b"\xef\xbb\xbf").unwrap_or(config);
        Self { rest, name: Vec::new(), section_len: 0 }
    }

    fn next_entry(&mut self) -> Result<Option<Entry<'_>>, Broken> {
        while let Some(byte) = self.next_byte() {
            match byte {
                b'#' | b';' => self.skip_comment(),
                b'[' => self.section()?,
                _ if is_space(byte) => {}
                _ if byte.is_ascii_alphabetic() => {
                    self.name.truncate(self.section_len);
                    self.name.push(byte.to_ascii_lowercase());
                    let value = self.variable()?;
                    return Ok(Some((&self.name, value)));
                }
                _ => return Err(Broken),
            }
        }
        Ok(None)
    }

    /// `CR LF` is one line feed.
    fn next_byte(&mut self) -> Option<u8> {
        if let Some(rest) = self.rest.strip_prefix(b"\r\n") {
            self.rest = rest;
            return Some(b'\n');
        }
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    /// The end of the file ends the line too.
    fn next_in_line(&mut self) -> Option<u8> {
        self.next_byte().filter(|byte| *byte != b'\n')
    }

    fn skip_comment(&mut self) {
        while self.next_in_line().is_some() {}
    }

    /// After `[`: `section]`, `section "subsection"]` or the old `section.subsection]`.
    fn section(&mut self) -> Result<(), Broken> {
        self.name.clear();
        loop {
            match self.next_in_line().ok_or(Broken)? {
                b']' => break,
                byte if is_space(byte) => {
                    self.subsection()?;
                    break;
                }
                byte if is_key(byte) || byte == b'.' => self.name.push(byte.to_ascii_lowercase()),
                _ => return Err(Broken),
            }
        }
        self.name.push(b'.');
        self.section_len = self.name.len();
        Ok(())
    }

    /// A quoted name, in which case counts and a backslash only escapes.
    fn subsection(&mut self) -> Result<(), Broken> {
        let mut byte = self.next_in_line().ok_or(Broken)?;
        while is_space(byte) {
            byte = self.next_in_line().ok_or(Broken)?;
        }
        if byte != b'"' {
            return Err(Broken);
        }
        self.name.push(b'.');
        loop {
            match self.next_in_line().ok_or(Broken)? {
                b'"' => break,
                b'\\' => {
                    let escaped = self.next_in_line().ok_or(Broken)?;
                    self.name.push(escaped);
                }
                byte => self.name.push(byte),
            }
        }
        if self.next_in_line() == Some(b']') { Ok(()) } else { Err(Broken) }
    }

    /// The rest of a variable's name, and its value.
    fn variable(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        let mut byte = self.next_in_line();
        while let Some(key) = byte.filter(|byte| is_key(*byte)) {
            self.name.push(key.to_ascii_lowercase());
            byte = self.next_in_line();
        }
        while matches!(byte, Some(b' ' | b'\t')) {
            byte = self.next_in_line();
        }
        match byte {
            None => Ok(None),
            Some(b'=') => self.value().map(Some),
            Some(_) => Err(Broken),
        }
    }

    /// Space counts inside quotes, and outside between other characters.
    fn value(&mut self) -> Result<Vec<u8>, Broken> {
        let mut value = Vec::new();
        let mut kept = 0; // what is beyond is space that may turn out to be the line's end
        let mut quoted = false;
        while let Some(byte) = self.next_in_line() {
            match byte {
                b'#' | b';' if !quoted => {
                    self.skip_comment();
                    break;
                }
                _ if is_space(byte) && !quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                b'\\' => value.extend(self.escape()?),
                b'"' => quoted = !quoted,
                _ => value.push(byte),
            }
            kept = value.len();
        }
        value.truncate(kept);
        if quoted { Err(Broken) } else { Ok(value) }
    }

    /// After a backslash. At the end of a line it joins the next one.
    fn escape(&mut self) -> Result<Option<u8>, Broken> {
        match self.next_in_line() {
            None => Ok(None),
            Some(b't') => Ok(Some(b'\t')),
            Some(b'b') => Ok(Some(8)),
            Some(b'n') => Ok(Some(b'\n')),
            Some(itself @ (b'\\' | b'"')) => Ok(Some(itself)),
            Some(_) => Err(Broken),
        }
    }
}

/// Git's own idea of space: narrower than ASCII's.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
