//! Names that can be run: the scripts of `package.json`, the targets of a Makefile, the recipes of
//! a justfile.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::tree::ProjectTree;
use crate::base::fsx;

/// Largest file that is read; a larger one might have every name.
const LARGEST: u64 = 1 << 20;

/// Most files of one kind that are read.
const MOST_FILES: usize = 40;

/// Names that can be run.
#[derive(Debug)]
pub(super) enum RecipeNames {
    /// These and no others.
    Known(HashSet<String>),
    /// There may be any.
    Unknown,
}

impl RecipeNames {
    pub(super) fn lack(&self, name: &str) -> bool {
        matches!(self, Self::Known(names) if !names.contains(name))
    }
}

pub(super) fn package_scripts(root: &Path, tree: &ProjectTree) -> RecipeNames {
    gather(root, tree, &["package.json"], |content, names| {
        let package: Value = serde_json::from_str(content).ok()?;
        if let Some(scripts) = package.get("scripts") {
            names.extend(scripts.as_object()?.keys().cloned());
        }
        Some(())
    })
}

pub(super) fn make_targets(root: &Path, tree: &ProjectTree) -> RecipeNames {
    gather(root, tree, &["Makefile", "makefile", "GNUmakefile"], |content, names| {
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
    })
}

pub(super) fn just_recipes(root: &Path, tree: &ProjectTree) -> RecipeNames {
    gather(root, tree, &["justfile", "Justfile", ".justfile"], |content, names| {
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
    })
}

/// Returns a line that is neither part of a recipe nor a comment.
fn heading(line: &str) -> Option<&str> {
    (!line.starts_with([' ', '\t', '#', '['])).then_some(line)
}

/// Collects the names in all files of one kind; unknown if one of them can't be parsed.
fn gather(
    root: &Path,
    tree: &ProjectTree,
    files: &[&str],
    read: impl Fn(&str, &mut HashSet<String>) -> Option<()>,
) -> RecipeNames {
    let mut names = HashSet::new();
    let Some(found) = tree.files_named(files) else { return RecipeNames::Unknown };
    if found.len() > MOST_FILES {
        return RecipeNames::Unknown;
    }
    for file in found {
        let content = fsx::read_regular(&root.join(file), LARGEST).ok().flatten();
        let content = content.and_then(|content| String::from_utf8(content).ok());
        if content.and_then(|content| read(&content, &mut names)).is_none() {
            return RecipeNames::Unknown;
        }
    }
    RecipeNames::Known(names)
}
