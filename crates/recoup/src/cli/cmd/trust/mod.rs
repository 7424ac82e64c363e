//! `recoup trust`: what a repository's files may say only with the user's
//! consent. It is given to just the text that was shown, and never by accident.

mod change;
mod list;
mod team;

use std::path::Path;

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::memory::NoteScope;
use serde::Serialize;

use crate::cli::app::memory_in;
use crate::cli::mirror::refresh_mirrors;
use crate::cli::{Answer, Ended, ui};
use crate::config::trust::{self, Granted, Ledger, Verdict};
use crate::config::{Delicate, Gathered, Overrides, Places};
use change::Change;
use team::Team;

/// Let this repository's files say where entries are kept, and what agents keep to.
///
/// A repository's recoup.toml, .ai-agent.json and .loa.config.yaml may say how long things are
/// kept. Where they are kept, who shares them, and which variables are read counts only once you
/// have said so here, and only until the file changes. So do the team's rules in
/// recoup-rules.md: what you accept becomes instructions for the agents that work here, and of a
/// file that has changed what you accepted before stays in force until you accept the change.
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
        let gathered = Gathered::new(&Overrides::default())?;
        if self.revoke { self.revoke(&gathered) } else { self.trust(&gathered) }
    }

    fn trust(&self, gathered: &Gathered) -> Ended {
        let (home, root) = (&gathered.places.home, gathered.project.root());
        // What can't be read can't be added to: better to know before answering.
        let ledger = Ledger::read(home)?;
        let changes: Vec<Change> =
            gathered.delicate.iter().map(|file| Change::new(home, file)).collect();
        let team = Team::look(home, &gathered.project, &ledger)?;
        let open = |file: &&Delicate| file.verdict != Verdict::Trusted;
        let asked: Vec<&Delicate> = gathered.delicate.iter().filter(open).collect();
        let rules = team.as_ref().filter(|team| team.is_open());
        let nothing = asked.is_empty() && rules.is_none();
        team.iter().for_each(Team::tell_faults);
        let granted = nothing || self.consent(root, &changes, rules);
        if granted {
            grant(gathered, &asked, rules)?;
        }
        let sound = team.as_ref().is_none_or(Team::is_sound);
        if self.json {
            let root = root.display().to_string();
            let trusted = granted && sound;
            ui::json(&Report { root, trusted, files: &changes, rules: team.as_ref() })?;
        } else if nothing && sound {
            ui::say("Nothing in this repository waits for your trust.");
        }
        Ok(if granted && sound { Answer::Yes } else { Answer::No })
    }

    /// Shows what it is about, and asks. Where nobody can be asked, only `--yes`
    /// is a yes.
    fn consent(&self, root: &Path, changes: &[Change], rules: Option<&Team>) -> bool {
        changes.iter().for_each(Change::tell);
        rules.into_iter().for_each(Team::tell);
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
        let revoked = trust::revoke(home, project)?;
        let scope = NoteScope::Project(project.id().clone());
        let retired = memory_in(home).retire_team(&scope)?;
        refresh_mirrors(home, project, &[scope]);
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
    // Rules that could not be kept are not trusted either.
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
    trust::grant(home, project.root(), &files, SystemClock.now())?;
    let names: Vec<_> = files.iter().map(|file| file.name).collect();
    ui::say(format_args!("Trusted: {}", names.join(", ")));
    Ok(())
}
