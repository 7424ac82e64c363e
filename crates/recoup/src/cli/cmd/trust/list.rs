//! `recoup trust --list`: everything that is trusted, in all repositories.

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::project::{ConfirmedCheckout, ProjectRegistry};
use serde::Serialize;

use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::BaseDirs;
use crate::config::trust::TrustStore;

/// A file that is trusted, or a checkout that is confirmed.
#[derive(Serialize)]
#[serde(untagged)]
enum TrustedItem<'a> {
    File {
        root: &'a str,
        file: &'a str,
        sha256: Sha256Digest,
        at: String,
    },
    Checkout {
        root: &'a str,
        /// The project that it is a clone of.
        clone_of: &'a str,
    },
}

impl TrustedItem<'_> {
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

pub(super) fn run(places: &BaseDirs, json: bool) -> CommandResult {
    let ledger = TrustStore::read(&places.home)?;
    let checkouts = ProjectRegistry::below(&places.home).confirmed_checkouts();
    let listed = trusted_items(&ledger, &checkouts);
    if json {
        ui::json(&listed)?;
    } else if listed.is_empty() {
        ui::say("Nothing is trusted.");
    } else {
        let rows: Vec<Vec<String>> = listed.iter().map(TrustedItem::row).collect();
        ui::table(&["PROJECT", "WHAT", "TRUSTED"], &rows)?;
    }
    Ok(CommandAnswer::Yes)
}

fn trusted_items<'a>(
    ledger: &'a TrustStore,
    checkouts: &'a [ConfirmedCheckout],
) -> Vec<TrustedItem<'a>> {
    let mut listed = Vec::new();
    for (root, files) in &ledger.projects {
        for (file, grant) in files {
            let (sha256, at) = (grant.sha256, grant.at.to_string());
            listed.push(TrustedItem::File { root, file, sha256, at });
        }
    }
    let checkout =
        |it: &'a ConfirmedCheckout| TrustedItem::Checkout { root: &it.root, clone_of: &it.claims };
    listed.extend(checkouts.iter().map(checkout));
    listed
}
