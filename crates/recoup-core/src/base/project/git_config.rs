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
    let mut parser = GitConfigParser::new(config);
    while let Some((name, value)) = parser.next_entry().ok()? {
        let Some(remote) = remote_name_of_key(name) else { continue };
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
pub(super) fn core_worktree(config: &[u8]) -> Option<Vec<u8>> {
    let mut found = None;
    let mut parser = GitConfigParser::new(config);
    while let Some((name, value)) = parser.next_entry().ok()? {
        if name == b"core.worktree" {
            found = value;
        }
    }
    found
}

fn remote_name_of_key(name: &[u8]) -> Option<&[u8]> {
    name.strip_prefix(b"remote.")?.strip_suffix(b".url")
}

/// Syntax error, at which git would stop.
struct GitConfigError;

/// A variable's full name and its value; a name without `=` has none.
type GitConfigEntry<'p> = (&'p [u8], Option<Vec<u8>>);

struct GitConfigParser<'c> {
    rest: &'c [u8],
    /// `section.subsection.variable`; the part before `section_len` outlives a line.
    name: Vec<u8>,
    section_len: usize,
}

impl<'c> GitConfigParser<'c> {
    fn new(config: &'c [u8]) -> Self {
        let rest = config.strip_prefix(b"\xef\xbb\xbf").unwrap_or(config);
        Self { rest, name: Vec::new(), section_len: 0 }
    }

    fn next_entry(&mut self) -> Result<Option<GitConfigEntry<'_>>, GitConfigError> {
        while let Some(byte) = self.next_byte() {
            match byte {
                b'#' | b';' => self.skip_comment(),
                b'[' => self.parse_section()?,
                _ if is_space(byte) => {}
                _ if byte.is_ascii_alphabetic() => {
                    self.name.truncate(self.section_len);
                    self.name.push(byte.to_ascii_lowercase());
                    let value = self.parse_variable()?;
                    return Ok(Some((&self.name, value)));
                }
                _ => return Err(GitConfigError),
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
    fn parse_section(&mut self) -> Result<(), GitConfigError> {
        self.name.clear();
        loop {
            match self.next_in_line().ok_or(GitConfigError)? {
                b']' => break,
                byte if is_space(byte) => {
                    self.parse_subsection()?;
                    break;
                }
                byte if is_key(byte) || byte == b'.' => self.name.push(byte.to_ascii_lowercase()),
                _ => return Err(GitConfigError),
            }
        }
        self.name.push(b'.');
        self.section_len = self.name.len();
        Ok(())
    }

    /// A quoted name, in which case counts and a backslash only escapes.
    fn parse_subsection(&mut self) -> Result<(), GitConfigError> {
        let mut byte = self.next_in_line().ok_or(GitConfigError)?;
        while is_space(byte) {
            byte = self.next_in_line().ok_or(GitConfigError)?;
        }
        if byte != b'"' {
            return Err(GitConfigError);
        }
        self.name.push(b'.');
        loop {
            match self.next_in_line().ok_or(GitConfigError)? {
                b'"' => break,
                b'\\' => {
                    let escaped = self.next_in_line().ok_or(GitConfigError)?;
                    self.name.push(escaped);
                }
                byte => self.name.push(byte),
            }
        }
        if self.next_in_line() == Some(b']') { Ok(()) } else { Err(GitConfigError) }
    }

    /// The rest of a variable's name, and its value.
    fn parse_variable(&mut self) -> Result<Option<Vec<u8>>, GitConfigError> {
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
            Some(b'=') => self.parse_value().map(Some),
            Some(_) => Err(GitConfigError),
        }
    }

    /// Space counts inside quotes, and outside between other characters.
    fn parse_value(&mut self) -> Result<Vec<u8>, GitConfigError> {
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
                b'\\' => value.extend(self.parse_escape()?),
                b'"' => quoted = !quoted,
                _ => value.push(byte),
            }
            kept = value.len();
        }
        value.truncate(kept);
        if quoted { Err(GitConfigError) } else { Ok(value) }
    }

    /// After a backslash. At the end of a line it joins the next one.
    fn parse_escape(&mut self) -> Result<Option<u8>, GitConfigError> {
        match self.next_in_line() {
            None => Ok(None),
            Some(b't') => Ok(Some(b'\t')),
            Some(b'b') => Ok(Some(8)),
            Some(b'n') => Ok(Some(b'\n')),
            Some(itself @ (b'\\' | b'"')) => Ok(Some(itself)),
            Some(_) => Err(GitConfigError),
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
