//! Report of what `init` would change or has changed, for people and programs.

use std::path::PathBuf;

use recoup_core::secrets;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::{FailedClient, InitDraft, diff};
use crate::cli::cmd::change_mode::{ConsentReport, MissingFlag};
use crate::cli::failure::CommandError;
use crate::cli::ui::{self, DIM, GREEN};
use crate::clients::ClientVersion;
use crate::install::{
    BACKUPS, BackupList, FileChange, InstallPlan, InstallRequest, PeerEntry, ServerStartChange,
};

/// Changes of all clients.
#[derive(Serialize)]
pub(in crate::cli::cmd) struct InitReport {
    level: &'static str,
    program: String,
    /// True if the changes were written.
    pub(super) written: bool,
    clients: Vec<ClientReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<FileReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<FailedReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<MissingFlag>,
    /// Directory of backup copies, for display.
    #[serde(skip)]
    backups: String,
}

#[derive(Serialize)]
struct ClientReport {
    client: &'static str,
    #[serde(skip)]
    title: &'static str,
    #[serde(skip)]
    version: Option<ClientVersion>,
    files: Vec<FileReport>,
    notes: Vec<String>,
    /// Other memory tools of this client that stay.
    peers: Vec<String>,
    /// The ones that the user has not decided to keep.
    #[serde(skip)]
    open_peers: Vec<String>,
    /// True if the client is configured to run no hooks.
    hooks_off: bool,
    /// True if the client has hooks, not only MCP servers.
    #[serde(skip)]
    has_hooks: bool,
}

/// Change of one file.
#[derive(Serialize)]
pub(in crate::cli::cmd) struct FileReport {
    path: PathBuf,
    #[serde(skip)]
    shown: String,
    state: FileChangeState,
    what: Vec<String>,
    /// Servers that start differently.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    servers: Vec<ServerStartChange>,
    /// True if the file becomes what it was before recoup.
    #[serde(skip)]
    restored: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// Side effect of replacing the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
}

const OTHER_NAME: &str = "the file has another hard link, which keeps the old content";

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum FileChangeState {
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

impl ConsentReport for InitReport {
    fn set_missing(&mut self, flag: MissingFlag) {
        self.missing = Some(flag);
    }

    fn print_details(&self) -> Result<bool, CommandError> {
        self.changes().try_for_each(FileReport::print_diff).map(|()| true)
    }
}

impl InitReport {
    /// Report of a draft; `kept` are the other tools that the user has decided to keep.
    pub(super) fn new(wish: &InstallRequest<'_>, draft: &InitDraft, kept: &[&str]) -> Self {
        let InitDraft { plans, failed, settings } = draft;
        let staying = |plan: &InstallPlan, but: &[&str]| {
            let is_out = |peer: &&PeerEntry| {
                wish.replace_peers.contains(&peer.name) || but.contains(&peer.name)
            };
            let peers = plan.peers.iter().filter(|peer| !is_out(peer));
            peers.map(PeerEntry::description).collect::<Vec<_>>()
        };
        let file =
            |change: &FileChange| FileReport::new(change, &wish.places.display_path(&change.path));
        let of_plan = |plan: &InstallPlan| ClientReport {
            client: plan.client.as_str(),
            title: plan.client.title(),
            version: plan.client.version(wish.places),
            files: plan.changes.iter().map(file).collect(),
            notes: plan.notes.clone(),
            hooks_off: plan.hooks_off,
            has_hooks: plan.client.as_hook_client().is_some(),
            peers: staying(plan, &[]),
            open_peers: staying(plan, kept),
        };
        let failure = |(client, error): &FailedClient| FailedReport {
            client: client.as_str(),
            error: secrets::redact(&error.to_string()).into_owned(),
        };
        Self {
            level: wish.level.as_str(),
            program: wish.program.to_owned(),
            written: false,
            clients: plans.iter().map(of_plan).collect(),
            settings: settings.has_effect().then(|| file(settings)),
            failed: failed.iter().map(failure).collect(),
            missing: None,
            backups: wish.places.display_path(&wish.places.own.join(BACKUPS)),
        }
    }

    /// Prints one line for each client: what will be set up, or that it is.
    pub(super) fn print_clients(&self) {
        let name = |client: &ClientReport| match client.version {
            Some(version) => format!("{} {version}", client.title),
            None => client.title.to_owned(),
        };
        let width =
            self.clients.iter().map(|client| name(client).width()).max().unwrap_or_default();
        for client in &self.clients {
            let (name, files) = (ui::padded(&name(client), width), &client.files);
            let changed = files.iter().filter(|file| file.state != FileChangeState::Unchanged);
            let what: Vec<_> = changed.flat_map(|file| &file.what).map(String::as_str).collect();
            if what.is_empty() {
                ui::say_marked(DIM, "✓", &name, "already set up");
            } else {
                ui::say_marked(GREEN, "+", &name, &what.join("; "));
            }
        }
        for FailedReport { error, .. } in &self.failed {
            ui::error(error);
        }
    }

    /// Prints what else there is to know before the question.
    pub(super) fn print_remarks(&self, changed: bool) {
        self.settings.iter().for_each(|file| {
            ui::say_marked(GREEN, "+", &file.shown, &file.what.join("; "));
        });
        self.changes().for_each(FileReport::print_note);
        for client in &self.clients {
            for note in &client.notes {
                ui::say(format_args!("{}: {note}", client.title));
            }
            let ClientReport { peers, open_peers, .. } = client;
            if !open_peers.is_empty() {
                let (stay, it) = verb_and_pronoun(open_peers);
                ui::warn(format_args!("{} {stay}", open_peers.join("; ")));
                ui::hint(format_args!(
                    "with both, everything is remembered and given to agents twice; --replace-peers removes {it}"
                ));
            } else if !peers.is_empty() {
                let (stay, it) = verb_and_pronoun(peers);
                ui::say(format_args!(
                    "{} {stay}, as configured (`peers.keep`); --replace-peers removes {it}",
                    peers.join("; ")
                ));
            }
        }
        if !changed {
            ui::say("Nothing was changed.");
        }
    }

    /// True if every change was already shown in `seen`.
    pub(super) fn is_covered_by(&self, seen: &Self) -> bool {
        self.changes().all(|file| seen.changes().any(|it| file.matches_shown(it)))
    }

    /// Prints what was done, and what comes next.
    pub(super) fn print_summary(&self) {
        if !self.written {
            ui::say("Nothing to do: another process has just made the same changes.");
            return;
        }
        self.changes().for_each(|file| ui::say(file.change_summary()));
        if self.changes().any(FileReport::has_backup) {
            ui::say(format_args!("Backup copies are in {}", self.backups));
        }
        let hooked: Vec<_> = self.clients.iter().filter(|client| client.has_hooks).collect();
        ui::say(if hooked.is_empty() {
            "Done. These clients have no hooks: their agents remember with the tools of the MCP server."
        } else if hooked.iter().all(|client| client.hooks_off) {
            "Done. Hooks are switched off in these clients: until you switch them on, agents have only the tools and rules of the MCP server."
        } else {
            "Done. New sessions remember: correct an agent, then start another session."
        });
        if !self.failed.is_empty() {
            ui::say(
                "Some clients were skipped: fix the errors above, and run `recoup init` again.",
            );
        }
        ui::hint(
            "`recoup memory list` shows what is remembered, `recoup uninstall` undoes all of this",
        );
    }

    /// Marks the changes as written and records the backup copies.
    pub(super) fn mark_written(&mut self, copies: &BackupList) {
        self.written = true;
        let of_clients = self.clients.iter_mut().flat_map(|client| &mut client.files);
        of_clients.chain(&mut self.settings).for_each(|file| file.record_backup(copies));
    }

    /// The files that change, in words.
    pub(super) fn describe_files(&self) -> String {
        match self.changes().count() {
            1 => "this file".to_owned(),
            count => format!("these {count} files"),
        }
    }

    fn changes(&self) -> impl Iterator<Item = &FileReport> {
        let of_clients = self.clients.iter().flat_map(|client| &client.files);
        of_clients.chain(&self.settings).filter(|file| file.state != FileChangeState::Unchanged)
    }
}

/// The verb and the pronoun for one or several.
fn verb_and_pronoun<T>(all: &[T]) -> (&'static str, &'static str) {
    if all.len() == 1 { ("stays", "it") } else { ("stay", "them") }
}

impl FileReport {
    pub(in crate::cli::cmd) fn new(change: &FileChange, shown: &str) -> Self {
        let state = match (&change.before, &change.after) {
            _ if !change.has_effect() => FileChangeState::Unchanged,
            (None, _) => FileChangeState::New,
            (_, None) => FileChangeState::Removed,
            _ => FileChangeState::Changed,
        };
        Self {
            path: change.path.clone(),
            shown: shown.to_owned(),
            state,
            what: change.done.said.clone(),
            servers: change.done.servers.clone(),
            restored: change.done.restored,
            diff: (change.has_effect() && !change.done.whole && state != FileChangeState::Removed)
                .then(|| diff::format_change(change, shown)),
            note: change.breaks_hard_link().then_some(OTHER_NAME),
            backup: None,
        }
    }

    /// Prints what would change in the file, and the side effect of replacing it.
    pub(in crate::cli::cmd) fn print(&self) -> Result<(), CommandError> {
        self.print_diff()?;
        self.print_note();
        Ok(())
    }

    fn print_diff(&self) -> Result<(), CommandError> {
        match (&self.diff, self.state) {
            _ if !self.servers.is_empty() => {
                ui::diff(&self.shown)?;
                for ServerStartChange { server, before, after } in &self.servers {
                    ui::diff(&format!("server “{server}”\n- now:  {before}\n+ then: {after}"))?;
                }
            }
            (Some(diff), _) => ui::diff(diff)?,
            (None, FileChangeState::Unchanged) => {}
            (None, FileChangeState::Removed) => {
                ui::diff(&format!("--- {}\n- the whole file", self.shown))?;
            }
            (None, _) => ui::diff(&format!("+++ {}\n+ {}", self.shown, self.what.join("; ")))?,
        }
        Ok(())
    }

    fn print_note(&self) {
        self.note.iter().for_each(|note| ui::warn(format_args!("{}: {note}", self.shown)));
    }

    /// True if `seen` shows the same change; line numbers may differ.
    pub(in crate::cli::cmd) fn matches_shown(&self, seen: &Self) -> bool {
        let lines = |file: &Self| {
            let lines = file.diff.iter().flat_map(|diff| diff.lines());
            lines.filter(|line| !line.starts_with("@@")).map(str::to_owned).collect::<Vec<_>>()
        };
        (&self.path, self.state, &self.what, lines(self))
            == (&seen.path, seen.state, &seen.what, lines(seen))
    }

    /// Records the backup copy of this file.
    pub(in crate::cli::cmd) fn record_backup(&mut self, copies: &BackupList) {
        let copy = copies.iter().find(|(of, _)| *of == self.path);
        self.backup = copy.map(|(_, copy)| copy.clone());
    }

    /// True if there is a backup copy of this file.
    pub(in crate::cli::cmd) fn has_backup(&self) -> bool {
        self.backup.is_some()
    }

    /// One-line summary of what was written to the file.
    pub(in crate::cli::cmd) fn change_summary(&self) -> String {
        let (what, shown) = (self.what.join("; "), &self.shown);
        let verb = if self.state == FileChangeState::Removed { "Removed" } else { "Wrote" };
        format!("{verb} {shown}: {what}")
    }

    /// One-line summary of what was taken out of the file.
    pub(in crate::cli::cmd) fn removal_summary(&self) -> String {
        let (what, shown) = (self.what.join("; "), &self.shown);
        match (self.state, self.restored) {
            (FileChangeState::Removed, true) => format!("Deleted {shown} (recoup had created it)"),
            (FileChangeState::Removed, false) => format!("Deleted {shown}: {what}"),
            (_, true) => format!("Restored {shown} to what it was before recoup"),
            (_, false) => format!("Removed from {shown}: {what}"),
        }
    }
}
