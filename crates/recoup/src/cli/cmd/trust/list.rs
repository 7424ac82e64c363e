//! `recoup trust --list`: everything that is trusted, in all repositories.

use recoup_core::base::digest::Digest;
use recoup_core::base::project::{ConfirmedCheckout, ProjectRegistry};
use serde::Serialize;

use crate::cli::{Answer, Ended, ui};
use crate::config::Places;
use crate::config::trust::Ledger;

/// A file that is trusted, or a checkout that is confirmed.
#[derive(Serialize)]
#[serde(untagged)]
enum Listed<'a> {
    File {
        root: &'a str,
        file: &'a str,
        sha256: Digest,
        at: String,
    },
    Checkout {
        root: &'a str,
        /// The project that it is a clone of.
        clone_of: &'a str,
    },
}

impl Listed<'_> {
    fn row(&self) -> Vec<String> {
        match self {
            Self::File { root, file, at, .. } => {
                vec![(*root).to_owned(), (*file).to_owned(), at.clone()]
            }
            Self::Checkout { root, clone_of } => {
                let what = format!("the checkout, as a clone of {clone_of}");
                vec![(*root).to_owned(), what, "-".to_owned()]
            }
        }
    }
}

pub(super) fn run(places: &Places, json: bool) -> Ended {
    let ledger = Ledger::read(&places.home)?;
    let checkouts = ProjectRegistry::below(&places.home).confirmed_checkouts();
    let listed = listed(&ledger, &checkouts);
    if json {
        ui::json(&listed)?;
    } else if listed.is_empty() {
        ui::say("Nothing is trusted.");
    } else {
        let rows: Vec<Vec<String>> = listed.iter().map(Listed::row).collect();
        ui::table(&["PROJECT", "WHAT", "TRUSTED"], &rows)?;
    }
    Ok(Answer::Yes)
}

fn listed<'a>(ledger: &'a Ledger, checkouts: &'a [ConfirmedCheckout]) -> Vec<Listed<'a>> {
    let mut listed = Vec::new();
    for (root, files) in &ledger.projects {
        for (file, grant) in files {
            let (sha256, at) = (grant.sha256, grant.at.to_string());
            listed.push(Listed::File { root, file, sha256, at });
        }
    }
    let checkout =
        |it: &'a ConfirmedCheckout| Listed::Checkout { root: &it.root, clone_of: &it.claims };
    listed.extend(checkouts.iter().map(checkout));
    listed
}
