//! Plans the changes that make a client call us. Touches nothing.

use recoup_core::base::project::Project;
use recoup_core::{Error, ErrorKind, Result};

use super::change::{FileChange, InstallTarget, demand_inside, is_not_linked, read, refuse_link};
use super::edit::{SettingsSyntaxError, SettingsText};
use super::entries::servers::ServerCommand;
use super::entries::{
    ROOT, extension_with_program, hooks, program_in_extension, servers, toml_hooks,
    with_exclude_line,
};
use super::guard::{AllowedChanges, demand_only_ours};
use super::peers::{self, PeerEntry};
use super::places::InstallPaths;
use crate::clients::{
    AgentClient, ClientPlaces, InstallLevel, InstalledContent, SettingsFile, has_our_plugin,
};

/// Requested installation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstallRequest<'a> {
    pub(crate) places: &'a InstallPaths,
    pub(crate) level: InstallLevel,
    /// The path of our program.
    pub(crate) program: &'a str,
    /// Other memory programs that are removed.
    pub(crate) replace_peers: &'a [&'static str],
}

/// Planned changes of one client's files.
#[derive(Debug, Clone)]
pub(crate) struct InstallPlan {
    pub(crate) client: AgentClient,
    pub(crate) changes: Vec<FileChange>,
    /// Remarks for the user.
    pub(crate) notes: Vec<String>,
    /// Entries of other memory programs, whether they are removed or not.
    pub(crate) peers: Vec<PeerEntry>,
    /// The client's settings disable all hooks.
    pub(crate) hooks_off: bool,
}

impl InstallPlan {
    /// Plans the changes for a client, and checks as far as possible that they can be written.
    pub(crate) fn make(client: AgentClient, wish: &InstallRequest<'_>) -> Result<Self> {
        Self::make_after(&[], client, wish)
    }

    /// Plans the changes after earlier plans: two clients may share a file.
    pub(crate) fn make_after(
        earlier: &[Self],
        client: AgentClient,
        wish: &InstallRequest<'_>,
    ) -> Result<Self> {
        Self::work_out(earlier, client, wish).map_err(|error| wish.places.shorten_paths(error))
    }

    fn work_out(earlier: &[Self], client: AgentClient, wish: &InstallRequest<'_>) -> Result<Self> {
        let slots = client.settings_files(wish.level, wish.places);
        let hooks_off = client.file_disabling_hooks(wish.level, wish.places).is_some();
        let (changes, notes, peers) = (Vec::new(), Vec::new(), Vec::new());
        let has_hooks = !hooks_off && slots.iter().any(|slot| slot.holds.is_for_hooks());
        let mut plan = Self { client, changes, notes, peers, hooks_off };
        if slots.is_empty() {
            plan.notes.push("it has no settings for a single project".to_owned());
        }
        for slot in &slots {
            plan.add_settings_file(slot, has_hooks, wish, earlier)?;
        }
        plan.note_version_limits(wish.places);
        plan.note_plugin(wish.places);
        plan.exclude_from_git(&slots, wish)?;
        plan.changes.iter().try_for_each(FileChange::demand_possible)?;
        plan.advise();
        Ok(plan)
    }

    /// True if anything is to be written.
    pub(crate) fn has_changes(&self) -> bool {
        self.changes.iter().any(FileChange::has_effect)
    }

    fn add_settings_file(
        &mut self,
        slot: &SettingsFile,
        with_hooks: bool,
        wish: &InstallRequest<'_>,
        earlier: &[Self],
    ) -> Result<()> {
        if wish.level == InstallLevel::Project {
            demand_inside(&slot.path, wish.places)?;
        }
        let before = earlier.iter().flat_map(|plan| &plan.changes).chain(&self.changes);
        let mut change = FileChange::for_settings_file(slot, wish.places)?.following(before);
        // A shared file must not hold a path of this machine.
        let program = if slot.shared { "recoup" } else { wish.program };
        self.edit(slot, &mut change, &ServerCommand { program, with_hooks }, wish).map_err(
            |fault| {
                let place = wish.places.display_path(&slot.path);
                Error::new(ErrorKind::Invalid, format!("{place}, {fault}"))
            },
        )?;
        let holds: Vec<&InstalledContent> = change.held.iter().collect();
        let ours = AllowedChanges { holds: &holds, peers: wish.replace_peers };
        demand_only_ours(&change, ours, wish.places)?;
        self.notes.extend(change.done.notes.iter().cloned());
        self.changes.push(change);
        Ok(())
    }

    fn edit(
        &mut self,
        slot: &SettingsFile,
        change: &mut FileChange,
        start: &ServerCommand<'_>,
        wish: &InstallRequest<'_>,
    ) -> Result<(), SettingsSyntaxError> {
        if slot.holds == InstalledContent::Extension {
            return put_extension(change, start.program);
        }
        let mut file = SettingsText::read(change.before.as_deref(), slot.holds.syntax())?;
        let original = file.bytes();
        let done = &mut change.done;
        let mut removed = Vec::new();
        if self.client == AgentClient::ClaudeCode {
            let peers = peers::find_peers(&file);
            let out = peers.iter().filter(|peer| wish.replace_peers.contains(&peer.name));
            let out: Vec<&PeerEntry> = out.collect();
            peers::remove_peers(&mut file, &out)?;
            removed.extend(out.iter().map(|peer| format!("removed {}", peer.description())));
            self.peers.extend(peers);
        }
        match (&slot.hooks, &slot.holds) {
            (Some(wanted), InstalledContent::TomlHooks) => {
                *done = toml_hooks::put(&mut file, wanted, start.program)?;
            }
            (Some(wanted), _) => {
                let at = slot.holds.events_at().unwrap_or_default();
                let elsewhere = custom_events_elsewhere(self.client, wish);
                *done = hooks::put(&mut file, &at, wanted, start.program, &elsewhere)?;
            }
            (None, InstalledContent::TomlServers) => {
                *done = hooks::remove_codex_calls(&mut file, start.with_hooks)?;
                done.said.iter_mut().for_each(|said| said.insert_str(0, "removed "));
            }
            (None, _) => {}
        }
        if let Some(at) = slot.holds.servers_at() {
            servers::put(&mut file, &at, slot.shape, start, done)?;
        }
        done.said.extend(removed);
        if file.had_no_object() {
            done.created.insert(0, ROOT);
        }
        if file.bytes() != original {
            change.after = Some(file.bytes());
        }
        Ok(())
    }

    /// Excludes personal files in a project from git.
    fn exclude_from_git(
        &mut self,
        slots: &[SettingsFile],
        wish: &InstallRequest<'_>,
    ) -> Result<()> {
        let root = &wish.places.root;
        let own = slots.iter().filter(|slot| !slot.shared);
        let own = own.filter_map(|slot| slot.path.strip_prefix(root).ok());
        let list = Project::find(root)?.git_exclude();
        let (Some(list), InstallLevel::Project) = (list, wish.level) else { return Ok(()) };
        for path in own {
            if !is_not_linked(&list) {
                refuse_link(&list, wish.places, "is a symbolic link")?;
            }
            let party = InstallTarget::of(self.client, wish.level, wish.places);
            let mut change =
                FileChange::unchanged(&list, Some(party))?.following(self.changes.iter());
            let line = format!("/{}", path.display());
            let after = with_exclude_line(change.before.as_deref().unwrap_or_default(), &line);
            if change.before.as_deref() != Some(&after) {
                change.done.said.push(format!("{line} excluded from git: it is personal"));
                change.after = Some(after);
                let held = InstalledContent::Line(line);
                demand_only_ours(
                    &change,
                    AllowedChanges { holds: &[&held], peers: &[] },
                    wish.places,
                )?;
                change.held = Some(held);
                self.changes.push(change);
            }
        }
        Ok(())
    }

    /// Notes the features that an older client lacks.
    fn note_version_limits(&mut self, places: &InstallPaths) {
        let Some(version) = self.client.version(places) else { return };
        let unknown = self.client.unknown_events(places);
        if !unknown.is_empty() {
            let events = unknown.join(", ");
            self.notes.push(format!("version {version} does not support {events}: left out"));
        }
        if self.client.lacks_args(places) {
            self.notes.push(format!(
                "version {version} does not support `args`: each hook is written as a shell \
                 command; run `recoup init` again after an update"
            ));
        }
    }

    /// Notes that the client runs our plugin, too.
    fn note_plugin(&mut self, places: &InstallPaths) {
        let settings = ClientPlaces { dirs: &places.dirs, root: &places.root, cwd: None };
        if has_our_plugin(self.client, &settings) {
            let note = "recoup's plugin is enabled, too: beside these hooks it does nothing";
            self.notes.push(note.to_owned());
        }
    }

    fn advise(&mut self) {
        if self.hooks_off {
            let switch = self.client.spec().hooks.as_ref().and_then(|hooks| hooks.off_switch);
            self.notes.extend(switch.map(|it| {
                format!(
                    "{} in {}: no hook runs, and only the server gives the rules; once that is \
                     removed, run `recoup init` again",
                    it.setting, it.place
                )
            }));
        }
        if !self.has_changes() {
            return;
        }
        if !self.hooks_off {
            self.notes.extend(self.client.spec().advice.map(str::to_owned));
        }
        let shared = self.changes.iter().any(|change| {
            change.has_effect() && change.party.as_ref().is_some_and(|party| party.root.is_some())
        });
        if shared && self.client != AgentClient::ClaudeCode {
            let note = "its files in a project are shared with everybody who works there: the new \
                        entries name `recoup` without a path";
            self.notes.push(note.to_owned());
        }
    }
}

/// Returns the events at which a custom command in another file of the client calls us.
fn custom_events_elsewhere(client: AgentClient, wish: &InstallRequest<'_>) -> Vec<String> {
    let slots = client.settings_files(wish.level, wish.places).into_iter();
    let others = slots.filter(|slot| slot.holds == InstalledContent::TomlServers);
    let text = |slot: SettingsFile| String::from_utf8(read(&slot.path).ok()??).ok();
    others.filter_map(text).flat_map(|text| hooks::custom_codex_events(&text)).collect()
}

fn put_extension(change: &mut FileChange, program: &str) -> Result<(), SettingsSyntaxError> {
    let before = change.before.as_deref().map(String::from_utf8_lossy);
    if let Some(text) = &before {
        if !text.trim().is_empty() && program_in_extension(text).is_none() {
            return Err(SettingsSyntaxError::at(
                "", 0, "this extension is not recoup's: rename it",
            ));
        }
        change.done.had_ours = !text.trim().is_empty();
    }
    let after = extension_with_program(program);
    change.done.whole = before.is_none();
    if before.as_deref() != Some(&after) {
        // Another version of ours, or somebody's own work: shown before it is replaced.
        if change.done.had_ours {
            change.done.add_note(
                "the extension there is from another version, and is replaced; a copy of it is \
                 kept",
            );
        }
        change.done.said.push("the extension that calls `recoup hook`".to_owned());
        change.after = Some(after.into_bytes());
    }
    Ok(())
}
