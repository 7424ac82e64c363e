//! Detection of stale notes: one that names a path, a script or a command that the project no
//! longer has is marked when it would be used.
//!
//! Only certain cases count: a word that merely looks like a path, a file that could be somewhere
//! else, and names for which no time was left are no reason for a mark.

mod named_items;
mod recipes;
mod tree;

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

use named_items::{NamedItem, RecipeRunner};
use recipes::RecipeNames;
use tree::ProjectTree;

use crate::memory::{Note, NoteKind};

/// Most names that are looked for; after these every note counts as true.
const MOST_LOOKS: usize = 200;

/// Checks what notes name against a project, which is read once, and no further than needed.
#[derive(Debug)]
pub struct StaleCheck {
    root: PathBuf,
    looks: Cell<usize>,
    tree: OnceCell<ProjectTree>,
    scripts: OnceCell<RecipeNames>,
    targets: OnceCell<RecipeNames>,
    recipes: OnceCell<RecipeNames>,
}

impl StaleCheck {
    /// Makes a check for the project with this root. Nothing is read yet.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            looks: Cell::new(0),
            tree: OnceCell::new(),
            scripts: OnceCell::new(),
            targets: OnceCell::new(),
            recipes: OnceCell::new(),
        }
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
        match named {
            NamedItem::Path(path, marked) => self.lacks_path(path, *marked),
            NamedItem::Script(name) => self.lacks_path(name, true),
            NamedItem::Glob(glob) => self.tree().lacks_glob(glob),
            NamedItem::Recipe(runner, name) => self.recipes_of(*runner).lack(name),
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
        certain && self.tree().lacks(&inside)
    }

    fn tree(&self) -> &ProjectTree {
        self.tree.get_or_init(|| ProjectTree::of(&self.root))
    }

    fn recipes_of(&self, runner: RecipeRunner) -> &RecipeNames {
        let (cell, read): (_, fn(&Path, &ProjectTree) -> RecipeNames) = match runner {
            RecipeRunner::Package => (&self.scripts, recipes::package_scripts),
            RecipeRunner::Make => (&self.targets, recipes::make_targets),
            RecipeRunner::Just => (&self.recipes, recipes::just_recipes),
        };
        cell.get_or_init(|| read(&self.root, self.tree()))
    }
}
