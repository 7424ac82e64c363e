//! Checks this program, and others of its name on the PATH.

use std::path::{Path, PathBuf};

use crate::doctor::DoctorContext;
use crate::doctor::client_program::{OUR_VERSION, ask_version};
use crate::doctor::finding::{DoctorFinding, FindingFact};
use crate::install::{self, is_program};

const CHECK: &str = "program";

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(program) = &context.program else {
        let what = format!("recoup {OUR_VERSION}; its own path is unknown");
        return vec![DoctorFinding::warn(CHECK, "unknown", what)];
    };
    let copies = copies_on_path(context);
    let here = resolve_path(program);
    let this = format!("recoup {OUR_VERSION} at {}", context.display_path(program));
    let first = match copies.first() {
        None => {
            DoctorFinding::warn(CHECK, "not-on-path", format!("{this}, which is not on the PATH"))
                .remedy(match install::program_path(program, None, &context.places) {
                    Ok(_) => "add its directory to the PATH, so that you and your scripts find it",
                    Err(_) => "install it permanently (`cargo install --path crates/recoup`)",
                })
        }
        Some(first) if resolve_path(first) == here => DoctorFinding::ok(CHECK, this),
        Some(first) => {
            let (what, same) = describe_copy(first, context);
            let what = format!("{this}; `recoup` on the PATH is {what}");
            if same {
                DoctorFinding::ok(CHECK, what)
            } else {
                DoctorFinding::warn(CHECK, "another-on-path", what).remedy(
                    "agents and scripts use the one on the PATH: replace it, or change the PATH",
                )
            }
        }
    };
    let mut found = vec![
        first.fact("version", FindingFact::version(OUR_VERSION)).fact("on_path", copies.len()),
    ];
    found.extend(find_shadowed_copies(&copies, &here, context));
    found
}

/// Reports copies of another version behind the first: a changed PATH would pick one of them.
fn find_shadowed_copies(
    copies: &[PathBuf],
    here: &Path,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let others = copies.iter().skip(1).filter(|path| resolve_path(path) != here);
    let others: Vec<String> = others
        .map(|path| describe_copy(path, context))
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
fn describe_copy(path: &Path, context: &DoctorContext) -> (String, bool) {
    if context.repository.contains(path) {
        let what = "which is inside this project, so it was not run to get its version";
        return (format!("{}, {what}", context.display_path(path)), false);
    }
    match ask_version(path, context) {
        Some(version) => {
            let same = version == OUR_VERSION;
            (format!("recoup {version} at {}", context.display_path(path)), same)
        }
        None => {
            (format!("{}, which does not report its version", context.display_path(path)), false)
        }
    }
}

/// All programs of our name on the PATH, each once.
fn copies_on_path(context: &DoctorContext) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let search = context.places.search.as_deref().unwrap_or_default();
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
