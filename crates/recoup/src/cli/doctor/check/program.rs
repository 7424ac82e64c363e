//! Checks this program, and others of its name on the PATH.

use std::path::{Path, PathBuf};

use crate::cli::doctor::Around;
use crate::cli::doctor::finding::{Fact, Finding};
use crate::cli::doctor::whom::{OURS, version_of};
use crate::install::{self, is_program};

const CHECK: &str = "program";

pub(super) fn find(around: &Around) -> Vec<Finding> {
    let Some(program) = &around.program else {
        let what = format!("recoup {OURS}; where it is can't be told");
        return vec![Finding::warn(CHECK, "unknown", what)];
    };
    let copies = on_path(around);
    let here = real(program);
    let this = format!("recoup {OURS} at {}", around.shown(program));
    let first = match copies.first() {
        None => Finding::warn(CHECK, "not-on-path", format!("{this}, which is not on the PATH"))
            .remedy(match install::program_path(program, None, &around.places) {
                Ok(_) => "put its directory on the PATH: you and your scripts find it there",
                Err(_) => "install it where it stays (`cargo install --path crates/recoup`)",
            }),
        Some(first) if real(first) == here => Finding::ok(CHECK, this),
        Some(first) => {
            let (what, same) = other(first, around);
            let what = format!("{this}; `recoup` on the PATH is {what}");
            if same {
                Finding::ok(CHECK, what)
            } else {
                Finding::warn(CHECK, "another-on-path", what)
                    .remedy("agents and scripts use the one on the PATH: replace it, or its place on the PATH")
            }
        }
    };
    let mut found = vec![first.fact("version", Fact::version(OURS)).fact("on_path", copies.len())];
    found.extend(hidden(&copies, &here, around));
    found
}

/// Reports copies of another version behind the first: a changed PATH would pick one of them.
fn hidden(copies: &[PathBuf], here: &Path, around: &Around) -> Option<Finding> {
    let others = copies.iter().skip(1).filter(|path| real(path) != here);
    let others: Vec<String> = others
        .map(|path| other(path, around))
        .filter(|(_, same)| !same)
        .map(|(what, _)| what)
        .collect();
    let first = others.first()?;
    let more =
        if others.len() > 1 { format!(" and {} more", others.len() - 1) } else { String::new() };
    let what = format!("further down the PATH: {first}{more}");
    Some(
        Finding::warn(CHECK, "other-copies", what)
            .remedy("remove the copies that you no longer want")
            .fact("others", others.len()),
    )
}

/// Describes another copy; true if it has our version.
fn other(path: &Path, around: &Around) -> (String, bool) {
    if around.repository.has(path) {
        let what = "which is inside this project, and was not run to ask for its version";
        return (format!("{}, {what}", around.shown(path)), false);
    }
    match version_of(path, around) {
        Some(version) => {
            let same = version == OURS;
            (format!("recoup {version} at {}", around.shown(path)), same)
        }
        None => (format!("{}, which does not say its version", around.shown(path)), false),
    }
}

/// All programs of our name on the PATH, each once.
fn on_path(around: &Around) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let search = around.places.search.as_deref().unwrap_or_default();
    for dir in std::env::split_paths(search).filter(|dir| dir.is_absolute()) {
        let path = dir.join("recoup");
        if is_program(&path) && !found.iter().any(|known| real(known) == real(&path)) {
            found.push(path);
        }
    }
    found
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
