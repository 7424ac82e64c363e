//! Checks this program, and others of its name on the PATH.

use std::path::{Path, PathBuf};

use crate::cli::doctor::DoctorContext;
use crate::cli::doctor::client_program::{OUR_VERSION, ask_version};
use crate::cli::doctor::finding::{DoctorFinding, FindingFact};
use crate::install::{self, is_program};

const CHECK: &str = "program";

pub(super) fn find(around: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(program) = &around.program else {
        let what = format!("recoup {OUR_VERSION}; where it is can't be told");
        return vec![DoctorFinding::warn(CHECK, "unknown", what)];
    };
    let copies = copies_on_path(around);
    let here = resolve_path(program);
    let this = format!("recoup {OUR_VERSION} at {}", around.display_path(program));
    let first = match copies.first() {
        None => {
            DoctorFinding::warn(CHECK, "not-on-path", format!("{this}, which is not on the PATH"))
                .remedy(match install::program_path(program, None, &around.places) {
                    Ok(_) => "put its directory on the PATH: you and your scripts find it there",
                    Err(_) => "install it where it stays (`cargo install --path crates/recoup`)",
                })
        }
        Some(first) if resolve_path(first) == here => DoctorFinding::ok(CHECK, this),
        Some(first) => {
            let (what, same) = describe_copy(first, around);
            let what = format!("{this}; `recoup` on the PATH is {what}");
            if same {
                DoctorFinding::ok(CHECK, what)
            } else {
                DoctorFinding::warn(CHECK, "another-on-path", what)
                    .remedy("agents and scripts use the one on the PATH: replace it, or its place on the PATH")
            }
        }
    };
    let mut found = vec![
        first.fact("version", FindingFact::version(OUR_VERSION)).fact("on_path", copies.len()),
    ];
    found.extend(find_shadowed_copies(&copies, &here, around));
    found
}

/// Reports copies of another version behind the first: a changed PATH would pick one of them.
fn find_shadowed_copies(
    copies: &[PathBuf],
    here: &Path,
    around: &DoctorContext,
) -> Option<DoctorFinding> {
    let others = copies.iter().skip(1).filter(|path| resolve_path(path) != here);
    let others: Vec<String> = others
        .map(|path| describe_copy(path, around))
        .filter(|(_, same)| !same)
        .map(|(what, _)| what)
        .collect();
    let first = others.first()?;
    let more =
        if others.len() > 1 { format!(" and {} more", others.len() - 1) } else { String::new() };
    let what = format!("further down the PATH: {first}{more}");
    Some(
        DoctorFinding::warn(CHECK, "other-copies", what)
            .remedy("remove the copies that you no longer want")
            .fact("others", others.len()),
    )
}

/// Describes another copy; true if it has our version.
fn describe_copy(path: &Path, around: &DoctorContext) -> (String, bool) {
    if around.repository.contains(path) {
        let what = "which is inside this project, and was not run to ask for its version";
        return (format!("{}, {what}", around.display_path(path)), false);
    }
    match ask_version(path, around) {
        Some(version) => {
            let same = version == OUR_VERSION;
            (format!("recoup {version} at {}", around.display_path(path)), same)
        }
        None => (format!("{}, which does not say its version", around.display_path(path)), false),
    }
}

/// All programs of our name on the PATH, each once.
fn copies_on_path(around: &DoctorContext) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let search = around.places.search.as_deref().unwrap_or_default();
    for dir in std::env::split_paths(search).filter(|dir| dir.is_absolute()) {
        let path = dir.join("recoup");
        if is_program(&path)
            && !found.iter().any(|known| resolve_path(known) == resolve_path(&path))
        {
            found.push(path);
        }
    }
    found
}

fn resolve_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
