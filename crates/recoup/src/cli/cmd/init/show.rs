//! What would change and what has changed, for people and for programs.

use std::path::{Path, PathBuf};

use recoup_core::secrets;
use serde::Serialize;

use super::{Failed, diff};
use crate::cli::failure::Failure;
use crate::cli::ui;
use crate::install::{Change, Peer, Plan, Wish};

/// The whole of it.
#[derive(Serialize)]
pub(in crate::cli::cmd) struct Report {
    level: &'static str,
    program: String,
    /// Whether it was carried out.
    pub(super) written: bool,
    clients: Vec<ClientReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<FileReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<FailedReport>,
}

#[derive(Serialize)]
struct ClientReport {
    client: &'static str,
    #[serde(skip)]
    title: &'static str,
    files: Vec<FileReport>,
    notes: Vec<String>,
    /// Others that remember for this client, and stay.
    peers: Vec<String>,
    /// It is told to run no hooks at all.
    hooks_off: bool,
}

/// One file.
#[derive(Serialize)]
pub(in crate::cli::cmd) struct FileReport {
    path: PathBuf,
    #[serde(skip)]
    shown: String,
    state: State,
    what: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum State {
    New,
    Changed,
    Removed,
    Unchanged,
}

#[derive(Serialize)]
struct FailedReport {
    client: &'static str,
    error: String,
}

impl Report {
    pub(super) fn new(
        wish: &Wish<'_>,
        plans: &[Plan],
        settings: &Change,
        failed: &[Failed],
    ) -> Self {
        let file = |change: &Change| FileReport::new(change, &wish.places.shown(&change.path));
        let of_plan = |plan: &Plan| ClientReport {
            client: plan.client.as_str(),
            title: plan.client.title(),
            files: plan.changes.iter().map(file).collect(),
            notes: plan.notes.clone(),
            hooks_off: plan.hooks_off,
            peers: if wish.replace_peers {
                Vec::new()
            } else {
                plan.peers.iter().map(Peer::what).collect()
            },
        };
        let failure = |(client, error): &Failed| FailedReport {
            client: client.as_str(),
            error: secrets::redact(&error.to_string()).into_owned(),
        };
        Self {
            level: wish.level.as_str(),
            program: wish.program.to_owned(),
            written: false,
            clients: plans.iter().map(of_plan).collect(),
            settings: settings.is_any().then(|| file(settings)),
            failed: failed.iter().map(failure).collect(),
        }
    }

    /// Shows what would change.
    pub(super) fn tell(&self, changed: bool) -> Result<(), Failure> {
        self.changes().try_for_each(FileReport::show)?;
        for client in &self.clients {
            if client.files.iter().all(|file| file.state == State::Unchanged) {
                ui::say(format_args!("{}: everything is in place", client.title));
            }
            for note in &client.notes {
                ui::say(format_args!("{}: {note}", client.title));
            }
            if !client.peers.is_empty() {
                ui::warn(format_args!("{} stays", client.peers.join("; ")));
                ui::hint(
                    "with both, everything is remembered and said twice: --replace-peers takes it out",
                );
            }
        }
        for FailedReport { error, .. } in &self.failed {
            ui::error(error);
        }
        if !changed {
            ui::say("Nothing was changed.");
        }
        Ok(())
    }

    /// Says what was done, and what comes next.
    pub(super) fn tell_end(&self) {
        for file in self.changes() {
            ui::say(file.summary());
        }
        if let Some(folder) = self.changes().find_map(|file| file.backup.as_deref()?.parent()) {
            ui::say(format_args!("Copies of what was there are in {}", folder.display()));
        }
        ui::say(if self.clients.iter().all(|client| client.hooks_off) {
            "Done. No hook runs until they are switched on: agents have the server's tools and rules."
        } else {
            "Done. Sessions that you begin now remember: correct an agent, and begin a new one."
        });
        ui::hint(
            "`recoup memory list` shows what is remembered, `recoup uninstall` takes all of this out",
        );
    }

    /// Takes down where the copies are.
    pub(super) fn was_written(&mut self, copies: &[(PathBuf, PathBuf)]) {
        self.written = true;
        let of_clients = self.clients.iter_mut().flat_map(|client| &mut client.files);
        for file in of_clients.chain(&mut self.settings) {
            file.backup = copy_of(copies, &file.path);
        }
    }

    /// The files that change, in words.
    pub(super) fn files(&self) -> String {
        match self.changes().count() {
            1 => "this file".to_owned(),
            count => format!("these {count} files"),
        }
    }

    fn changes(&self) -> impl Iterator<Item = &FileReport> {
        let of_clients = self.clients.iter().flat_map(|client| &client.files);
        of_clients.chain(&self.settings).filter(|file| file.state != State::Unchanged)
    }
}

fn copy_of(copies: &[(PathBuf, PathBuf)], path: &Path) -> Option<PathBuf> {
    copies.iter().find(|(of, _)| of == path).map(|(_, copy)| copy.clone())
}

impl FileReport {
    pub(in crate::cli::cmd) fn new(change: &Change, shown: &str) -> Self {
        let state = match (&change.before, &change.after) {
            _ if !change.is_any() => State::Unchanged,
            (None, _) => State::New,
            (_, None) => State::Removed,
            _ => State::Changed,
        };
        Self {
            path: change.path.clone(),
            shown: shown.to_owned(),
            state,
            what: change.done.said.clone(),
            diff: (change.is_any() && !change.done.whole && state != State::Removed)
                .then(|| diff::between(change, shown)),
            backup: None,
        }
    }

    /// Shows what would change in it.
    pub(in crate::cli::cmd) fn show(&self) -> Result<(), Failure> {
        match (&self.diff, self.state) {
            (Some(diff), _) => ui::diff(diff),
            (None, State::Unchanged) => Ok(()),
            (None, State::Removed) => ui::diff(&format!("--- {}\n- all of it", self.shown)),
            (None, _) => ui::diff(&format!("+++ {}\n+ {}", self.shown, self.what.join("; "))),
        }
    }

    /// In one line.
    pub(in crate::cli::cmd) fn summary(&self) -> String {
        let what = self.what.join("; ");
        match self.state {
            State::Removed => format!("Removed {}: {what}", self.shown),
            _ => format!("Wrote {}: {what}", self.shown),
        }
    }
}
