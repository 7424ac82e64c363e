//! `recoup trust`: what a repository's files may say only with the user's
//! consent. It is given to just the text that was shown, and never by accident.

mod change;
mod list;

use std::path::Path;

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use serde::Serialize;

use crate::cli::{Answer, Ended, ui};
use crate::config::trust::{self, Ledger, Verdict};
use crate::config::{Delicate, File, Gathered, Overrides, Places};
use change::Change;

/// Let this repository's files say where entries are kept.
///
/// A repository's recoup.toml, .ai-agent.json and .loa.config.yaml may say how long things are
/// kept. Where they are kept, who shares them, and which variables are read counts only once you
/// have said so here, and only until the file changes.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag; clap keeps them apart")]
pub(in crate::cli) struct TrustArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// List everything that is trusted
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    list: bool,
    /// Trust this repository no longer
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    root: String,
    /// Whether all of it is trusted now.
    trusted: bool,
    files: &'a [Change],
}

#[derive(Serialize)]
struct Revoked {
    root: String,
    revoked: Vec<String>,
}

impl TrustArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        if self.list {
            return list::run(&Places::find()?, self.json);
        }
        let gathered = Gathered::new(&Overrides::default())?;
        if self.revoke { self.revoke(&gathered) } else { self.trust(&gathered) }
    }

    fn trust(&self, gathered: &Gathered) -> Ended {
        let (home, root) = (&gathered.places.home, gathered.project.root());
        // What can't be read can't be added to: better to know before answering.
        Ledger::read(home)?;
        let changes: Vec<Change> =
            gathered.delicate.iter().map(|file| Change::new(home, file)).collect();
        let open = |file: &&Delicate| file.verdict != Verdict::Trusted;
        let asked: Vec<&Delicate> = gathered.delicate.iter().filter(open).collect();
        let granted = asked.is_empty() || self.consent(root, &changes);
        if granted {
            grant(home, root, &asked)?;
        }
        if self.json {
            let root = root.display().to_string();
            ui::json(&Report { root, trusted: granted, files: &changes })?;
        } else if asked.is_empty() {
            ui::say("Nothing in this repository waits for your trust.");
        }
        Ok(if granted { Answer::Yes } else { Answer::No })
    }

    /// Shows what it is about, and asks. Where nobody can be asked, only `--yes`
    /// is a yes.
    fn consent(&self, root: &Path, changes: &[Change]) -> bool {
        changes.iter().for_each(Change::tell);
        if self.yes {
            return true;
        }
        if !ui::can_ask() {
            ui::error("not trusted: there is no terminal to ask on");
            ui::hint("if this is what you want, say `recoup trust --yes`");
            return false;
        }
        let granted = ui::confirm(format_args!("Trust this in {}?", root.display()));
        if !granted {
            ui::say("Nothing was changed.");
        }
        granted
    }

    fn revoke(&self, gathered: &Gathered) -> Ended {
        let root = gathered.project.root();
        let revoked = trust::revoke(&gathered.places.home, root)?;
        let root = root.display().to_string();
        if self.json {
            ui::json(&Revoked { root, revoked })?;
        } else if revoked.is_empty() {
            ui::say(format_args!("Nothing was trusted in {root}"));
        } else {
            ui::say(format_args!("No longer trusted: {}", revoked.join(", ")));
        }
        Ok(Answer::Yes)
    }
}

fn grant(home: &Path, root: &Path, asked: &[&Delicate]) -> recoup_core::Result<()> {
    if asked.is_empty() {
        return Ok(());
    }
    let files: Vec<(File, &str)> =
        asked.iter().map(|file| (file.file, file.text.as_str())).collect();
    trust::grant(home, root, &files, SystemClock.now())?;
    let names: Vec<_> = files.iter().map(|(file, _)| file.name()).collect();
    ui::say(format_args!("Trusted: {}", names.join(", ")));
    Ok(())
}
