//! `recoup trust`: the user's consent to a repository's settings and rules. It covers only the text
//! that was shown.

mod change;
mod checkout;
mod list;
mod team;

use std::path::Path;

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::project::ProjectRegistry;
use recoup_core::memory::NoteScope;
use serde::Serialize;

use crate::cli::app::memory_in;
use crate::cli::mirror::refresh_mirrors;
use crate::cli::{Answer, Ended, ui};
use crate::config::trust::{self, Granted, Ledger, Verdict};
use crate::config::{Delicate, Gathered, Overrides, Places};
use change::Change;
use checkout::ClaimedProject;
use team::Team;

/// Trust this repository's configuration and team rules.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag; clap keeps them apart")]
pub(in crate::cli) struct TrustArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// List everything that is trusted, in all repositories: files, team rules, checkouts
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    list: bool,
    /// Trust this repository no longer: its files and its checkout; the team's rules are retired
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    root: String,
    /// True if all of it is trusted now.
    trusted: bool,
    /// The project that the checkout claims, where that is not confirmed yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout: Option<ClaimedProject>,
    files: &'a [Change],
    /// The team's rules, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<&'a Team>,
}

#[derive(Serialize)]
struct TakenBack {
    root: String,
    revoked: Vec<String>,
    /// The ids of memories that were the team's rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    retired: Vec<String>,
}

impl TrustArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        if self.list {
            return list::run(&Places::find()?, self.json);
        }
        let mut gathered = Gathered::new(&Overrides::default())?;
        gathered.left_out_warnings().iter().for_each(ui::warn);
        if self.revoke {
            return self.revoke(&gathered);
        }
        let checkout = ClaimedProject::look(&gathered.places.home, &gathered.project);
        if let Some(checkout) = &checkout {
            checkout.tell();
            if self.consent(gathered.project.root()) {
                checkout::accept(&gathered.places.home, &gathered.project)?;
                // Files and rules now belong to the confirmed project.
                gathered = Gathered::new(&Overrides::default())?;
            }
        }
        self.trust(&gathered, checkout)
    }

    fn trust(&self, gathered: &Gathered, checkout: Option<ClaimedProject>) -> Ended {
        let (home, root) = (&gathered.places.home, gathered.project.root());
        let apart = ClaimedProject::look(home, &gathered.project).is_some();
        // An unreadable ledger is an error before the question.
        let ledger = Ledger::read(home)?;
        let changes: Vec<Change> =
            gathered.delicate.iter().map(|file| Change::new(home, file)).collect();
        let team = Team::look(home, &gathered.project, &ledger)?;
        let open = |file: &&Delicate| file.verdict != Verdict::Trusted;
        let asked: Vec<&Delicate> = gathered.delicate.iter().filter(open).collect();
        let rules = team.as_ref().filter(|team| team.is_open());
        let nothing = asked.is_empty() && rules.is_none();
        team.iter().for_each(Team::tell_faults);
        if !nothing {
            changes.iter().for_each(Change::tell);
            rules.into_iter().for_each(Team::tell);
        }
        let granted = nothing || self.consent(root);
        if granted {
            grant(gathered, &asked, rules)?;
        }
        let sound = team.as_ref().is_none_or(Team::is_sound) && !apart;
        if self.json {
            let root = root.display().to_string();
            let trusted = granted && sound;
            ui::json(&Report { root, trusted, checkout, files: &changes, rules: team.as_ref() })?;
        } else if nothing && sound && checkout.is_none() {
            ui::say("Nothing in this repository waits for your trust.");
        }
        Ok(if granted && sound { Answer::Yes } else { Answer::No })
    }

    /// Asks for consent to what was shown; without a terminal only `--yes` counts.
    fn consent(&self, root: &Path) -> bool {
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
        let (home, project) = (&gathered.places.home, &gathered.project);
        let mut revoked = trust::revoke(home, project)?;
        let scope = NoteScope::Project(project.id().clone());
        let retired = memory_in(home).retire_team(&scope)?;
        refresh_mirrors(home, project, &[scope]);
        let is_withdrawn = ProjectRegistry::below(home).withdraw(project)?;
        if is_withdrawn {
            revoked.push(format!("this checkout, as a clone of {}", project.origin()));
        }
        let root = project.root().display().to_string();
        if self.json {
            let retired = retired.iter().map(|note| note.id.to_string()).collect();
            ui::json(&TakenBack { root, revoked, retired })?;
            return Ok(Answer::Yes);
        }
        if revoked.is_empty() && retired.is_empty() {
            ui::say(format_args!("Nothing was trusted in {root}"));
        } else if !revoked.is_empty() {
            ui::say(format_args!("No longer trusted: {}", revoked.join(", ")));
        }
        if is_withdrawn {
            ui::say("The memories that came along with this checkout stay with the project.");
        }
        for note in retired {
            ui::say(format_args!("No longer a rule: {} ({})", note.text, note.id));
        }
        Ok(Answer::Yes)
    }
}

fn grant(
    gathered: &Gathered,
    asked: &[&Delicate],
    rules: Option<&Team>,
) -> recoup_core::Result<()> {
    let (home, project) = (&gathered.places.home, &gathered.project);
    // First: rules that can't be stored are not trusted either.
    rules.map_or(Ok(()), |team| team.accept(home, project))?;
    let files = asked.iter().map(|file| {
        let text = file.text.as_bytes();
        Granted { name: file.file.name(), text, project: None }
    });
    let files: Vec<Granted<'_>> =
        files.chain(rules.and_then(|team| team.granted(project))).collect();
    if files.is_empty() {
        return Ok(());
    }
    ProjectRegistry::below(home).record(project)?;
    trust::grant(home, project.root(), &files, SystemClock.now())?;
    let names: Vec<_> = files.iter().map(|file| file.name).collect();
    ui::say(format_args!("Trusted: {}", names.join(", ")));
    Ok(())
}
