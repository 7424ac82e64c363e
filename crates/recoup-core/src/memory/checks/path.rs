//! Paths of rules: patterns relative to the project's root, sets of them, and the place where alone a
//! rule holds. A path of a call counts as it is written and as it is on disk.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::fsx;
use crate::base::glob::{self, SlashMatching};
use crate::memory::lang::is_one_of;
use crate::memory::shell::{join_path, normalize_path};

/// Root folder of a project, as it is named and on disk.
#[derive(Debug)]
pub(super) struct RootFolder<'a> {
    path: &'a Path,
    real: Option<PathBuf>,
}

impl<'a> RootFolder<'a> {
    pub(super) fn new(path: &'a Path) -> Self {
        Self { path, real: fsx::resolve_path(path) }
    }

    /// Returns a path behind `~` if it leads into the project: its folder has the same name.
    fn expand_home(&self, path: &Path) -> Option<PathBuf> {
        let behind = path.strip_prefix("~").ok()?;
        let homes = self.path.ancestors().skip(1);
        homes.map(|home| home.join(behind)).find(|it| it.starts_with(self.path))
    }
}

/// A file or folder that a call names, relative to the project's root, or absolute if it is outside.
/// There are two if links lead elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedPath {
    /// As it is shown.
    pub(super) lexical: String,
    real: Option<String>,
    /// Absolute, as written.
    absolute: String,
    /// True if it is the project's root or a folder above it.
    has_root: bool,
}

impl NamedPath {
    /// Resolves a path against the folder in which it is named.
    pub(super) fn new(text: &str, folder: &Path, root: &RootFolder<'_>) -> Self {
        let mut path = join_path(folder, text);
        let is_in_home = path.starts_with("~");
        if is_in_home && let Some(expanded) = root.expand_home(&path) {
            path = expanded;
        }
        let absolute = normalize_path(&path);
        let lexical = relative_to(&absolute, root.path);
        // What `~` stands for is not known here.
        let real = if is_in_home { None } else { fsx::resolve_path(&path) };
        let mut has_root = root.path.starts_with(&absolute);
        let real = real.zip(root.real.as_ref()).map(|(path, root)| {
            has_root |= root.starts_with(&path);
            relative_to(&path, root)
        });
        let absolute = absolute.to_string_lossy().into_owned();
        Self { real: real.filter(|it| *it != lexical), lexical, absolute, has_root }
    }

    /// Names of the path: as written, and on disk.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        [Some(self.lexical.as_str()), self.real.as_deref()].into_iter().flatten()
    }

    /// True if it is outside of the project by all its names.
    pub(super) fn is_outside(&self) -> bool {
        self.names().all(is_outside)
    }

    /// Returns the strings by which rules about it are found.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> {
        self.names().flat_map(|name| {
            let last = name.rsplit('/').next().unwrap_or_default();
            let ending = last.rsplit_once('.').map(|(_, ending)| format!("ext:{ending}"));
            let parts = name.split('/').map(|part| format!("name:{part}"));
            let first = format!("path:{}", first_part(name));
            parts.chain([first, "path".to_owned()]).chain(ending)
        })
    }

    /// Returns the strings by which rules about what is below it are found.
    pub(super) fn tree_keys(&self) -> impl Iterator<Item = String> {
        let is_open = |name: &str| is_glob(first_part(name)) || self.has_root;
        self.names().any(is_open).then(|| "tree".to_owned()).into_iter()
    }
}

fn is_outside(name: &str) -> bool {
    name.starts_with(['/', '~'])
}

/// True for a text with wildcards.
fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// First component of a path; `/` if it is absolute.
fn first_part(name: &str) -> &str {
    match name.split('/').next() {
        Some("") | None => "/",
        Some(first) => first,
    }
}

fn relative_to(path: &Path, root: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    inside.to_string_lossy().into_owned()
}

/// A path or glob of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct PathPattern(String);

impl PathPattern {
    /// Reads a path or glob as people write it. `~` is outside of every project.
    pub(super) fn new(text: &str) -> Option<Self> {
        let text = text.strip_prefix("./").unwrap_or(text);
        let text = text.strip_suffix("/**").or_else(|| text.strip_suffix('/')).unwrap_or(text);
        let is_safe = !text.is_empty() && text != "." && !text.split('/').any(|it| it == "..");
        if is_glob(text) && glob::compile_glob(text, SlashMatching::Separates).is_err() {
            return None;
        }
        // `**/*.ts` and `*.ts` are one.
        let name = text.strip_prefix("**/").filter(|it| it.contains('*') && !it.contains('/'));
        is_safe.then(|| Self(name.unwrap_or(text).to_owned()))
    }

    /// True if it is a path by one of its names, or a folder above it.
    fn covers_named(&self, path: &NamedPath) -> bool {
        let absolute = Some(path.absolute.as_str()).filter(|_| self.0.starts_with('/'));
        path.names().chain(absolute).any(|name| self.covers(name))
    }

    /// True if it is the path, or a folder above it.
    fn covers(&self, path: &str) -> bool {
        if self.is_glob() {
            let Ok(glob) = glob::compile_glob(&self.0, SlashMatching::Separates) else {
                return false;
            };
            if !self.0.contains('/') {
                return path.split('/').next_back().is_some_and(|name| glob.is_match(name));
            }
            return Path::new(path).ancestors().any(|it| glob.is_match(it));
        }
        if self.is_name() {
            return path.split('/').any(|part| part == self.0);
        }
        Path::new(path).starts_with(&self.0)
    }

    /// True if it is below a folder, or below one that wildcards of the call stand for. That is not
    /// certain for what may be anywhere.
    fn is_below(&self, tree: &NamedPath) -> bool {
        if self.0.starts_with('/') {
            return Path::new(&self.0).starts_with(&tree.absolute);
        }
        if tree.has_root {
            return !self.0.starts_with('~');
        }
        let parts = self.0.split('/').take_while(|part| !is_glob(part));
        let folder: PathBuf = if self.is_name() { PathBuf::new() } else { parts.collect() };
        tree.names().any(|name| match glob::compile_glob(name, SlashMatching::Separates) {
            Ok(glob) if is_glob(name) => folder.ancestors().any(|it| glob.is_match(it)),
            _ => folder.starts_with(name),
        })
    }

    /// True for a pattern with wildcards.
    pub(super) fn is_glob(&self) -> bool {
        is_glob(&self.0)
    }

    /// True for a name that may be in any folder: `.env`, `pnpm-lock.yaml`, `.github`.
    fn is_name(&self) -> bool {
        !self.0.contains('/') && self.0.contains('.')
    }

    /// Key by which it is found; each path that it covers has it.
    fn key(&self) -> String {
        let name = self.0.rsplit('/').next().unwrap_or_default();
        let is_plain = |part: &str| !is_glob(part) && !part.contains('\\');
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        if self.is_name() && is_plain(&self.0) {
            return format!("name:{}", self.0);
        }
        match (first_part(&self.0), ending) {
            // It may be inside of the project.
            ("/", _) => "path".to_owned(),
            (first, _) if self.0.contains('/') || is_plain(&self.0) => {
                if is_plain(first) {
                    format!("path:{first}")
                } else {
                    "path".to_owned()
                }
            }
            (_, Some(ending)) if is_plain(ending) => format!("ext:{ending}"),
            _ => "path".to_owned(),
        }
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Paths that a rule speaks of, without its exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PathSet {
    /// The paths; all if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) of: Vec<PathPattern>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) except: Vec<PathPattern>,
}

impl PathSet {
    /// True if it has the path by one of its names.
    pub(super) fn has(&self, path: &NamedPath) -> bool {
        let covers = |it: &PathPattern| it.covers_named(path);
        let is_among = if self.of.is_empty() {
            // "All" are those of the project, unless the exception is absolute; devices are no files.
            (self.names_outside() || !path.is_outside()) && !path.lexical.starts_with("/dev/")
        } else {
            self.of.iter().any(covers)
        };
        is_among && !self.except.iter().any(covers)
    }

    /// True if removing a folder removes something of it.
    pub(super) fn is_below(&self, tree: &NamedPath) -> bool {
        self.of.iter().any(|it| it.is_below(tree))
    }

    /// True if it names something outside of the project.
    pub(super) fn names_outside(&self) -> bool {
        self.of.iter().chain(&self.except).any(|it| is_outside(&it.0))
    }

    pub(super) fn keys(&self) -> Vec<String> {
        if self.of.is_empty() {
            return vec!["path".to_owned()];
        }
        self.of.iter().map(PathPattern::key).collect()
    }
}

impl fmt::Display for PathSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if self.of.is_empty() {
            Cow::Borrowed("anything")
        } else {
            joined(&self.of)
        })?;
        if self.except.is_empty() { Ok(()) } else { write!(f, " except {}", joined(&self.except)) }
    }
}

fn joined(patterns: &[PathPattern]) -> Cow<'static, str> {
    Cow::Owned(patterns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// Files and folders in which alone a rule holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CheckPlace {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) paths: Vec<PathPattern>,
    /// Endings of files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) endings: Vec<String>,
    /// True if it holds for tests only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) tests: bool,
    /// Files and folders in which it does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) except: Vec<PathPattern>,
    /// True if it does not hold for tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) except_tests: bool,
    /// True if it holds in the project only, or in what it names. The rule's scope tells that, so it
    /// is not stored with the check.
    #[serde(skip)]
    pub(super) in_project: bool,
}

/// Endings of files with prose, which may speak of anything.
const PROSE: &str = "md mdx txt rst adoc org";

impl CheckPlace {
    /// Adds another place.
    pub(super) fn extend(&mut self, other: Self) {
        self.paths.extend(other.paths);
        self.endings.extend(other.endings);
        self.tests |= other.tests;
        self.except.extend(other.except);
        self.except_tests |= other.except_tests;
        self.in_project |= other.in_project;
    }

    pub(super) fn is_everywhere(&self) -> bool {
        *self == Self::default()
    }

    /// True if commands in a folder are at this place. Endings of files say nothing about commands.
    pub(super) fn has_folder(&self, folder: &NamedPath) -> bool {
        self.endings.is_empty() && !self.tests && !self.is_elsewhere(folder) && self.covers(folder)
    }

    /// True if the text of a file is at this place. Prose is only if it is named.
    pub(super) fn has_file(&self, path: &NamedPath) -> bool {
        let name = path.lexical.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map_or("", |it| it.1);
        let is_named = !self.endings.is_empty() || !self.paths.is_empty();
        (is_named || !is_one_of(ending, PROSE)) && !self.is_elsewhere(path) && self.has_path(path)
    }

    /// True if it holds in the project, and a path is outside of it.
    pub(super) fn is_elsewhere(&self, path: &NamedPath) -> bool {
        self.in_project && self.paths.is_empty() && path.is_outside()
    }

    /// True if a file is at this place, whatever its text.
    pub(super) fn has_path(&self, path: &NamedPath) -> bool {
        let ending = path.lexical.rsplit_once('.').map_or("", |it| it.1);
        (self.endings.is_empty() || self.endings.iter().any(|it| it == ending))
            && self.covers(path)
            && (!self.tests || is_test(&path.lexical))
    }

    fn covers(&self, path: &NamedPath) -> bool {
        let is_exception = self.except.iter().any(|it| it.covers_named(path))
            || (self.except_tests && is_test(&path.lexical));
        !is_exception
            && (self.paths.is_empty() || self.paths.iter().any(|it| it.covers_named(path)))
    }
}

/// True for paths that tests have by custom.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| {
        let mut words = part.split(|c: char| !c.is_alphanumeric());
        words.any(|it| matches!(it, "test" | "tests" | "spec" | "specs" | "e2e"))
    })
}

impl fmt::Display for CheckPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths = self.paths.iter().map(ToString::to_string);
        let endings = self.endings.iter().map(|it| format!("*.{it}"));
        let tests = self.tests.then(|| "tests".to_owned());
        let places: Vec<String> = paths.chain(endings).chain(tests).collect();
        let exceptions = self.except.iter().map(ToString::to_string);
        let exceptions: Vec<String> =
            exceptions.chain(self.except_tests.then(|| "tests".to_owned())).collect();
        if !places.is_empty() {
            write!(f, " in {}", places.join(", "))?;
        }
        if exceptions.is_empty() {
            Ok(())
        } else {
            write!(f, " except in {}", exceptions.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_is_below_it_and_nothing_beside_it() {
        for (pattern, path, expected) in [
            ("db/migrations", "db/migrations/1.sql", true),
            ("db/migrations/", "db/migrations", true),
            ("db/migrations", "db/migrations2/1.sql", false),
            ("legal", "docs/legal/a", false),
            (".env", "web/.env", true),
            (".env", ".env.example", false),
            (".github", ".github/workflows/a.yml", true),
            ("*.md", "docs/a.md", true),
            ("packages/*", "packages/ui/src/a.ts", true),
            ("config/*.yaml", "config/a.yaml", true),
            ("config/*.yaml", "config/deep/a.yaml", false),
            ("src/**/*.ts", "src/a/b.ts", true),
            ("**/generated/**", "src/generated/a.ts", true),
        ] {
            let found = PathPattern::new(pattern).unwrap();
            assert_eq!(found.covers(path), expected, "{pattern}: {path}");
        }
        assert!(PathPattern::new("../x").is_none());
    }

    #[test]
    fn links_and_dots_lead_to_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(root.join("db"), root.join("link")).unwrap();
        let names = |text: &str| {
            let path = NamedPath::new(text, &root, &RootFolder::new(&root));
            path.names().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(names("./a/../db/x"), ["db/x"]);
        assert_eq!(names("link/x"), ["link/x", "db/x"]);
        assert_eq!(names("/etc/passwd")[0], "/etc/passwd");
    }
}
