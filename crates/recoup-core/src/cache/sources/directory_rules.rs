//! The rules of `.gitignore` and `.gitattributes` around a directory.
//!
//! What is ignored is found out when the first name is asked for. Of attributes only those count by
//! which git stores something else than a file holds.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Names of the files with rules.
pub(super) const IGNORE_FILE: &str = ".gitignore";
pub(super) const ATTRIBUTES_FILE: &str = ".gitattributes";

/// A directory with its own rules, and those above it.
#[derive(Debug)]
pub(super) struct DirectoryRules {
    dir: PathBuf,
    parent: Option<Arc<DirectoryRules>>,
    has_ignore_file: bool,
    ignored: OnceLock<Gitignore>,
    is_ignored: OnceLock<bool>,
    /// Each matches files whose contents git converts.
    converted: Vec<Gitignore>,
}

impl DirectoryRules {
    pub(super) fn new(dir: PathBuf, parent: Option<Arc<Self>>, has_ignore_file: bool) -> Self {
        let (ignored, is_ignored) = (OnceLock::new(), OnceLock::new());
        Self { dir, parent, has_ignore_file, ignored, is_ignored, converted: Vec::new() }
    }

    /// The rules from `top` down to the parent of `dir`; `attributes` are those of the repository.
    pub(super) fn above(top: &Path, dir: &Path, attributes: &Path) -> Option<Arc<Self>> {
        let mut above: Vec<&Path> = dir.ancestors().skip(1).collect();
        above.retain(|it| it.starts_with(top));
        above.into_iter().rev().fold(None, |parent, dir| {
            let mut rules = Self::new(dir.to_owned(), parent, dir.join(IGNORE_FILE).is_file());
            rules.add_attributes(&dir.join(ATTRIBUTES_FILE));
            if dir == top {
                rules.add_attributes(attributes);
            }
            Some(Arc::new(rules))
        })
    }

    /// Has this directory count even if the rules above ignore it, because it was named.
    pub(super) fn include(&mut self) {
        self.is_ignored = OnceLock::from(false);
    }

    /// Adds the conversions in an attributes file, if it exists.
    pub(super) fn add_attributes(&mut self, file: &Path) {
        let text = fs::read(file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let patterns: Vec<&str> = text.lines().filter_map(converted_pattern).collect();
        if patterns.is_empty() {
            return;
        }
        let mut builder = GitignoreBuilder::new(&self.dir);
        for pattern in patterns {
            if builder.add_line(None, pattern).is_err() {
                // It might match any file.
                let _ = builder.add_line(None, "*");
            }
        }
        self.converted.extend(builder.build());
    }

    /// True if git may convert the contents of a file in this directory.
    pub(super) fn converts(&self, name: &[u8]) -> bool {
        let above = std::iter::successors(Some(self), |it| it.parent.as_deref());
        let mut rules = above.flat_map(|it| &it.converted).peekable();
        if rules.peek().is_none() {
            return false;
        }
        let path = self.dir.join(OsStr::from_bytes(name));
        rules.any(|it| it.matched(&path, false).is_ignore())
    }

    /// True if this directory is ignored, or one above it.
    pub(super) fn is_ignored(&self) -> bool {
        *self.is_ignored.get_or_init(|| {
            let Some(parent) = &self.parent else { return false };
            parent.is_ignored() || parent.matches(&self.dir, true)
        })
    }

    /// True if the rules ignore a name in this directory.
    pub(super) fn ignores(&self, name: &[u8], is_dir: bool) -> bool {
        self.matches(&self.dir.join(OsStr::from_bytes(name)), is_dir)
    }

    /// The innermost rule decides.
    fn matches(&self, path: &Path, is_dir: bool) -> bool {
        match self.ignored().matched(path, is_dir) {
            Match::Ignore(_) => true,
            Match::Whitelist(_) => false,
            Match::None => self.parent.as_ref().is_some_and(|it| it.matches(path, is_dir)),
        }
    }

    fn ignored(&self) -> &Gitignore {
        self.ignored.get_or_init(|| {
            if !self.has_ignore_file {
                return Gitignore::empty();
            }
            let mut builder = GitignoreBuilder::new(&self.dir);
            // Lines that cannot be read ignore nothing, as in the walk of globs.
            let _ = builder.add(self.dir.join(IGNORE_FILE));
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        })
    }
}

/// The pattern of a line of attributes, if by these the same object can stand for several contents.
/// Line ends are left out: almost every repository has a rule for them, and sizes tell them apart.
/// So is LFS, whose objects name the contents.
fn converted_pattern(line: &str) -> Option<&str> {
    let (pattern, attributes) = line.trim().split_once([' ', '\t'])?;
    let converts = |attribute: &str| {
        attribute == "ident"
            || attribute.starts_with("working-tree-encoding=")
            || (attribute.starts_with("filter=") && attribute != "filter=lfs")
    };
    if pattern.starts_with(['#', '!']) || !attributes.split_ascii_whitespace().any(converts) {
        return None;
    }
    // Quoted patterns, and definitions of attributes that others may use.
    Some(if pattern.starts_with(['"', '[']) { "*" } else { pattern })
}
