//! The levels in ARCHITECTURE.md, held against the tree and against what the
//! code really imports: a module uses only modules of lower levels.
//!
//! `lib.rs` and `main.rs` are free: they put the modules together.

mod fixtures;
mod imports;
mod resolve;
mod table;
mod tokens;
mod tree;

use std::collections::HashMap;
use std::path::Path;

use crate::files;
use imports::Import;
use resolve::{Home, Packages};
use table::{Row, State};
use tree::{Package, Source};

#[test]
fn the_workspace_keeps_to_its_levels() {
    let problems = check(&files::workspace());
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// Everything that is wrong in the workspace at `root`, one line each.
fn check(root: &Path) -> Vec<String> {
    let (rows, mut problems) = table::read(root);
    match Packages::read(root) {
        Err(unreadable) => problems.push(unreadable),
        Ok(packages) => {
            problems.extend(rows.iter().filter_map(|row| wrong_state(row, &packages)));
            problems.extend(repeated(&rows));
            problems.extend(without_row(&rows, &packages));
            problems.extend(Judge { packages: &packages, levels: levels(&rows) }.problems());
            let (inner, wrong) = table::read_inner(root);
            problems.extend(wrong);
            if !inner.is_empty() {
                problems.extend(inner_problems(&packages, &inner));
            }
        }
    }
    problems
}

/// The module whose own modules have levels, too.
const INNER: (&str, &str) = ("recoup-core", "memory");

/// Everything that is wrong between the modules of `memory`.
fn inner_problems(packages: &Packages, levels: &HashMap<String, u32>) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(package) = packages.iter().find(|package| package.name == INNER.0) else {
        return problems;
    };
    let mut without_folder: Vec<&String> = levels.keys().collect();
    for source in package.sources.iter().filter(|source| source.module[0] == INNER.1) {
        let Some(own) = source.module.get(1) else { continue };
        without_folder.retain(|module| *module != own);
        let Some(level) = levels.get(own) else {
            problems.push(format!(
                "{}: `{own}` has no row: add one to `### Levels of memory` in ARCHITECTURE.md",
                source.label
            ));
            continue;
        };
        for import in imports::read(&source.syntax, &source.module) {
            let Some(path) = packages.path_within(package, &import) else { continue };
            let [outer, module, ..] = &path[..] else { continue };
            if outer != INNER.1 || module == own {
                continue;
            }
            let at = format!("{}:{}: `{}`", source.label, import.line, import.path.join("::"));
            match levels.get(module) {
                Some(other) if other < level => {}
                Some(other) => problems.push(format!(
                    "{at} is on level {other}, and `{own}` is on level {level}: \
                     a module uses only lower levels"
                )),
                None => problems.push(format!(
                    "{at} goes through the root of `memory`: import from the module by name"
                )),
            }
        }
    }
    problems.extend(without_folder.into_iter().map(|module| {
        format!("ARCHITECTURE.md: `memory` has no module `{module}`: remove the row")
    }));
    problems
}

fn wrong_state(row: &Row, packages: &Packages) -> Option<String> {
    let Row { line, package, module, state, .. } = row;
    let folder = format!("crates/{package}/src");
    let exists =
        packages.iter().any(|found| found.name == package && found.modules.contains(module));
    match state {
        State::Here if !exists => Some(format!(
            "ARCHITECTURE.md:{line}: {folder} has no `{module}`: \
             remove the row, or make its state `to come`"
        )),
        State::ToCome if exists => Some(format!(
            "ARCHITECTURE.md:{line}: `{module}` is in {folder}: make its state `here`"
        )),
        State::Here | State::ToCome => None,
    }
}

fn without_row(rows: &[Row], packages: &Packages) -> Vec<String> {
    let levels = levels(rows);
    let mut problems = Vec::new();
    for Package { name, modules, .. } in packages.iter() {
        for module in modules.iter().filter(|module| !levels.contains_key(&(*name, *module))) {
            problems.push(format!(
                "crates/{name}/src: module `{module}` has no row: \
                 add one to `## Levels` in ARCHITECTURE.md"
            ));
        }
    }
    problems
}

fn repeated(rows: &[Row]) -> Vec<String> {
    let mut first = HashMap::new();
    let mut problems = Vec::new();
    for Row { line, package, module, .. } in rows {
        if let Some(earlier) = first.insert((package, module), line) {
            problems.push(format!(
                "ARCHITECTURE.md:{line}: `{module}` of {package} already has a row \
                 at line {earlier}: keep one"
            ));
        }
    }
    problems
}

/// The level of a package's module.
type Levels<'a> = HashMap<(&'a str, &'a str), u32>;

fn levels(rows: &[Row]) -> Levels<'_> {
    rows.iter().map(|row| ((&*row.package, &*row.module), row.level)).collect()
}

/// Decides which imports are allowed.
struct Judge<'a> {
    packages: &'a Packages,
    levels: Levels<'a>,
}

impl Judge<'_> {
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for package in self.packages.iter() {
            for source in &package.sources {
                for import in imports::read(&source.syntax, &source.module) {
                    let at = format!("{}:{}", source.label, import.line);
                    let problem = self.problem(package, source, &import);
                    problems.extend(problem.map(|problem| format!("{at}: {problem}")));
                }
            }
        }
        problems
    }

    /// What is wrong with one import, if anything.
    fn problem(&self, package: &Package, source: &Source, import: &Import) -> Option<String> {
        let own = (package.name, source.module.first()?.as_str());
        let path = import.path.join("::");
        match self.packages.home(package, import)? {
            Home::Module { package, module } => self.upward(own, (package, module), &path),
            Home::Root if import.is_use => Some(format!(
                "`{path}` brings in a whole crate root, which hides what is used: \
                 import from the modules by name"
            )),
            Home::Root => None,
            Home::Unknown => Some(format!(
                "`{path}` belongs to no module that can be told: define it in a module, \
                 or re-export it by name in lib.rs"
            )),
        }
    }

    /// A module without a row has been reported already, and is let through.
    fn upward(&self, own: (&str, &str), other: (&str, &str), path: &str) -> Option<String> {
        let (level, other_level) = (self.levels.get(&own)?, self.levels.get(&other)?);
        if own == other || other_level < level {
            return None;
        }
        Some(format!(
            "`{}` (level {level}) uses `{path}`, which lives in `{}` (level {other_level}): \
             a module uses only lower levels; move the code, or take what is needed as a \
             trait or an option",
            own.1, other.1
        ))
    }
}
