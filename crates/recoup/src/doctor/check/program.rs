//! Checks this program, and others of its name on the PATH. Those are named, and not run.

use std::path::{Path, PathBuf};

use crate::doctor::finding::{DoctorFinding, FindingFact};
use crate::doctor::installed_command::is_same_file;
use crate::doctor::{DoctorContext, OUR_VERSION};
use crate::install::{self, is_program};

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(program) = &context.program else {
        let what = format!("recoup {OUR_VERSION}; its own path is unknown");
        return vec![DoctorFinding::warn("unknown", what)];
    };
    let copies = copies_on_path(context);
    let this = format!("recoup {OUR_VERSION} at {}", context.display_path(program));
    let first = match copies.first() {
        None => DoctorFinding::warn("not-on-path", format!("{this}, which is not on the PATH"))
            .remedy(match install::program_path(program, None, &context.places) {
                Ok(_) => "add its directory to the PATH, so that you and your scripts find it",
                Err(_) => "install it permanently (`cargo install --path crates/recoup`)",
            }),
        Some(first) if context.is_this_program(first) => DoctorFinding::ok(this),
        Some(first) => {
            let what = format!("{this}; `recoup` on the PATH is {}", describe_copy(first, context));
            DoctorFinding::warn("another-on-path", what).remedy(
                "agents and scripts use the one on the PATH: replace it, or change the PATH",
            )
        }
    };
    vec![first.fact("version", FindingFact::version(OUR_VERSION)).fact("on_path", copies.len())]
}

fn describe_copy(path: &Path, context: &DoctorContext) -> String {
    let inside = if context.is_in_project(path) { ", which is inside this project" } else { "" };
    format!("{}{inside}", context.display_path(path))
}

/// All programs of our name on the PATH, each once.
fn copies_on_path(context: &DoctorContext) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let search = context.places.search.as_deref().unwrap_or_default();
    for dir in std::env::split_paths(search).filter(|dir| dir.is_absolute()) {
        let path = dir.join("recoup");
        if is_program(&path) && !found.iter().any(|known| is_same_file(known, &path)) {
            found.push(path);
        }
    }
    found
}
