//! Detection of stale notes: one that names a path, a script or a command that the project no
//! longer has is marked when it would be used.
//!
//! Only certain cases count: a word that merely looks like a path, a file that could be somewhere
//! else, and names for which no time was left are no reason for a mark.

mod named_items;

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use named_items::{NamedItem, RecipeRunner};
use serde_json::Value;

use crate::base::fsx;
use crate::base::glob::{self, SlashMatching};
use crate::memory::model::note::{Note, NoteKind};

/// Most names that are looked for; after these every note counts as true.
const MOST_LOOKS: usize = 200;

/// Checks what notes name against a project, which is read once, and no further than needed.
#[derive(Debug)]
pub struct StaleCheck {
    root: PathBuf,
    looks: Cell<usize>,
    tree: OnceCell<ProjectTree>,
    recipes: [OnceCell<RecipeNames>; 3],
}

/// Names that can be run, and no others; none if there may be any.
type RecipeNames = Option<HashSet<String>>;

impl StaleCheck {
    /// Makes a check for the project with this root. Nothing is read yet.
    pub fn new(root: &Path) -> Self {
        let (looks, tree, recipes) = (Cell::new(0), OnceCell::new(), Default::default());
        Self { root: root.to_path_buf(), looks, tree, recipes }
    }

    /// First thing that a note names and the project no longer has. For a failure it need not be
    /// there.
    pub fn missing_in_note(&self, note: &Note) -> Option<String> {
        if note.kind == NoteKind::Failure { None } else { self.missing_in_text(&note.text) }
    }

    /// First thing that a statement names and the project no longer has.
    pub fn missing_in_text(&self, statement: &str) -> Option<String> {
        let missing =
            named_items::find_named_items(statement).into_iter().find(|it| self.is_missing(it))?;
        Some(missing.as_written())
    }

    fn is_missing(&self, named: &NamedItem) -> bool {
        if self.looks.get() >= MOST_LOOKS {
            return false;
        }
        self.looks.set(self.looks.get() + 1);
        let recipes_of = |runner: RecipeRunner| {
            let gather_names = || match runner {
                RecipeRunner::Package => gather(&self.root, self.tree(), PACKAGES, package_scripts),
                RecipeRunner::Make => gather(&self.root, self.tree(), MAKEFILES, make_targets),
                RecipeRunner::Just => gather(&self.root, self.tree(), JUSTFILES, just_recipes),
            };
            self.recipes[runner as usize].get_or_init(gather_names)
        };
        match named {
            NamedItem::Path(path, marked) => self.lacks_path(path, *marked),
            NamedItem::Script(name) => self.lacks_path(name, true),
            NamedItem::Glob(glob) => {
                // An invalid glob might match.
                let anywhere = format!("{{{glob},**/{glob}}}");
                let tree = self.tree();
                glob::compile_glob(&anywhere, SlashMatching::Separates)
                    .is_ok_and(|it| tree.whole && !tree.paths.iter().any(|path| it.is_match(path)))
            }
            NamedItem::Recipe(runner, name) => {
                recipes_of(*runner).as_ref().is_some_and(|known| !known.contains(name))
            }
        }
    }

    /// True if a path is missing, both from the root and as the end of any path in the project.
    /// Only for certain paths: by its ending, or because it is marked as one and its first folder
    /// is there.
    fn lacks_path(&self, path: &str, marked: bool) -> bool {
        let inside = match Path::new(path).strip_prefix(&self.root) {
            Ok(inside) => inside.to_string_lossy().into_owned(),
            Err(_) if path.starts_with('/') => return false,
            Err(_) => path.to_owned(),
        };
        let Some(inside) = named_items::resolve_dots(&inside) else { return false };
        if inside.is_empty() || self.root.join(&inside).symlink_metadata().is_ok() {
            return false;
        }
        let first_is_there =
            || inside.split('/').next().is_some_and(|first| self.root.join(first).is_dir());
        let certain = named_items::has_extension(&inside)
            || path.starts_with("./")
            || (marked && first_is_there());
        // Certainly nothing in the project ends like it.
        let ends_so = |it: &String| {
            let before = it.strip_suffix(inside.as_str());
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        certain && self.tree().whole && !self.tree().paths.iter().any(ends_so)
    }

    fn tree(&self) -> &ProjectTree {
        self.tree.get_or_init(|| ProjectTree::of(&self.root))
    }
}

/// Largest file that is read; a larger one might have every name.
const LARGEST_FILE: u64 = 1 << 20;

/// Most files of one kind that are read.
const MOST_FILES: usize = 40;

const PACKAGES: &[&str] = &["package.json"];
const MAKEFILES: &[&str] = &["Makefile", "makefile", "GNUmakefile"];
const JUSTFILES: &[&str] = &["justfile", "Justfile", ".justfile"];

fn package_scripts(content: &str, names: &mut HashSet<String>) -> Option<()> {
    let package: Value = serde_json::from_str(content).ok()?;
    if let Some(scripts) = package.get("scripts") {
        names.extend(scripts.as_object()?.keys().cloned());
    }
    Some(())
}

fn make_targets(content: &str, names: &mut HashSet<String>) -> Option<()> {
    for line in content.lines() {
        // Included or computed targets may have any name.
        let first = line.split_whitespace().next().unwrap_or_default();
        if matches!(first, "include" | "-include" | "sinclude") || line.contains("$(eval") {
            return None;
        }
        let Some((left, _)) = heading(line).and_then(|line| line.split_once(':')) else {
            continue;
        };
        if left.contains(['%', '$']) {
            return None;
        }
        if !left.contains('=') {
            names.extend(left.split_whitespace().map(str::to_owned));
        }
    }
    Some(())
}

fn just_recipes(content: &str, names: &mut HashSet<String>) -> Option<()> {
    for line in content.lines().filter_map(heading) {
        let mut words = line.split([' ', ':', '(']);
        match words.next().unwrap_or_default() {
            "import" | "import?" | "mod" | "mod?" => return None,
            "set" | "export" => {}
            "alias" => names.extend(words.next().map(str::to_owned)),
            name => {
                if line.contains(':') {
                    names.insert(name.trim_start_matches('@').to_owned());
                }
            }
        }
    }
    Some(())
}

/// Returns a line that is neither part of a recipe nor a comment.
fn heading(line: &str) -> Option<&str> {
    (!line.starts_with([' ', '\t', '#', '['])).then_some(line)
}

/// Collects the names in all files of one kind; none if one of them can't be parsed.
fn gather(
    root: &Path,
    tree: &ProjectTree,
    files: &[&str],
    read: impl Fn(&str, &mut HashSet<String>) -> Option<()>,
) -> RecipeNames {
    let mut names = HashSet::new();
    let is_meant = |path: &&String| files.contains(&path.rsplit('/').next().unwrap_or_default());
    let found: Vec<&String> = tree.paths.iter().filter(is_meant).collect();
    if !tree.whole || found.len() > MOST_FILES {
        return None;
    }
    for file in found {
        let content = fsx::read_regular(&root.join(file), LARGEST_FILE).ok().flatten();
        let content = content.and_then(|content| String::from_utf8(content).ok());
        read(&content?, &mut names)?;
    }
    Some(names)
}

/// Most files that are listed; if there are more, nothing is known to be missing.
const MOST_TREE: usize = 5_000;

/// Directories that are generated or fetched, which come and go.
const PASSED_OVER: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// Paths of a project, from its root.
#[derive(Debug)]
struct ProjectTree {
    paths: Vec<String>,
    whole: bool,
}

impl ProjectTree {
    fn of(root: &Path) -> Self {
        let passed = |name: &std::ffi::OsStr| PASSED_OVER.iter().any(|it| name == *it);
        let walk = WalkBuilder::new(root)
            .standard_filters(false)
            .filter_entry(move |entry| entry.depth() == 0 || !passed(entry.file_name()))
            .build();
        let mut tree = Self { paths: Vec::new(), whole: true };
        for found in walk {
            let Ok(found) = found else {
                tree.whole = false;
                continue;
            };
            if tree.paths.len() >= MOST_TREE {
                tree.whole = false;
                break;
            }
            let Ok(inside) = found.path().strip_prefix(root) else { continue };
            tree.paths.push(inside.to_string_lossy().into_owned());
        }
        tree
    }
}
