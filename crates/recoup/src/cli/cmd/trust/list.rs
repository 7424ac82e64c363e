//! `recoup trust --list`: everything that is trusted, wherever it is.

use recoup_core::base::digest::Digest;
use serde::Serialize;

use crate::cli::{Answer, Ended, ui};
use crate::config::Places;
use crate::config::trust::Ledger;

#[derive(Serialize)]
struct Listed<'a> {
    root: &'a str,
    file: &'a str,
    sha256: Digest,
    at: String,
}

pub(super) fn run(places: &Places, json: bool) -> Ended {
    let ledger = Ledger::read(&places.home)?;
    let listed = listed(&ledger);
    if json {
        ui::json(&listed)?;
    } else if listed.is_empty() {
        ui::say("Nothing is trusted.");
    } else {
        let row = |one: &Listed<'_>| vec![one.root.into(), one.file.into(), one.at.clone()];
        let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
        ui::table(&["PROJECT", "FILE", "TRUSTED"], &rows)?;
    }
    Ok(Answer::Yes)
}

fn listed(ledger: &Ledger) -> Vec<Listed<'_>> {
    let mut listed = Vec::new();
    for (root, files) in &ledger.projects {
        for (file, grant) in files {
            listed.push(Listed { root, file, sha256: grant.sha256, at: grant.at.to_string() });
        }
    }
    listed
}
