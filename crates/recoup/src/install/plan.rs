//! Plans the changes that make a client call us. Touches nothing.

use recoup_core::base::project::Project;
use recoup_core::{Error, ErrorKind, Result};

use super::change::{Change, Party, read};
use super::client::{Client, Holds, Level, Slot};
use super::edit::{Dialect, Fault, Json};
use super::entries::servers::Start;
use super::entries::{Done, ROOT, config_toml, hooks, servers};
use super::guard::{Ours, demand_only_ours};
use super::held::Held;
use super::peers::{self, Peer};
use super::places::Places;
use super::{exclude, extension, inside};

/// Requested installation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) places: &'a Places,
    pub(crate) level: Level,
    /// The path of our program.
    pub(crate) program: &'a str,
    /// Other memory programs that are removed.
    pub(crate) replace_peers: &'a [&'static str],
}

/// Planned changes of one client's files.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) client: Client,
    pub(crate) changes: Vec<Change>,
    /// Remarks for the user.
    pub(crate) notes: Vec<String>,
    /// Entries of other memory programs, whether they are removed or not.
    pub(crate) peers: Vec<Peer>,
    /// The client's settings disable all hooks.
    pub(crate) hooks_off: bool,
}

impl Plan {
    /// Plans the changes for a client, and checks as far as possible that they can be written.
    pub(crate) fn make(client: Client, wish: &Wish<'_>) -> Result<Self> {
        Self::behind(&[], client, wish)
    }

    /// Plans the changes after earlier plans: two clients may share a file.
    pub(crate) fn behind(earlier: &[Self], client: Client, wish: &Wish<'_>) -> Result<Self> {
        Self::worked_out(earlier, client, wish).map_err(|error| wish.places.retold(error))
    }

    fn worked_out(earlier: &[Self], client: Client, wish: &Wish<'_>) -> Result<Self> {
        let slots = client.slots(wish.level, wish.places);
        let hooks_off = client.hooks_off(wish.level, wish.places).is_some();
        let (changes, notes, peers) = (Vec::new(), Vec::new(), Vec::new());
        let mut plan = Self { client, changes, notes, peers, hooks_off };
        if slots.is_empty() {
            plan.notes.push("it has no settings for a single project".to_owned());
        }
        for slot in &slots {
            plan.add(slot, wish, earlier)?;
        }
        plan.tell_version(wish.places);
        plan.hide(&slots, wish)?;
        plan.changes.iter().try_for_each(Change::demand_possible)?;
        plan.advise();
        Ok(plan)
    }

    /// True if anything is to be written.
    pub(crate) fn is_any(&self) -> bool {
        self.changes.iter().any(Change::is_any)
    }

    fn add(&mut self, slot: &Slot, wish: &Wish<'_>, earlier: &[Self]) -> Result<()> {
        if wish.level == Level::Project {
            inside::demand_inside(&slot.path, wish.places)?;
        }
        let before = earlier.iter().flat_map(|plan| &plan.changes).chain(&self.changes);
        let mut change = Change::of_slot(slot, wish.places)?.behind(before);
        // A shared file must not hold a path of this machine.
        let program = if slot.shared { "recoup" } else { wish.program };
        // Without hooks, the server delivers the rules.
        let with_hooks = self.client.with_hooks().is_some() && !self.hooks_off;
        let start = Start { program, with_hooks };
        let edited = match &slot.holds {
            Holds::Hooks(wanted) => {
                let elsewhere = own_elsewhere(self.client, wish);
                self.json(&mut change, Dialect::Strict, wish, |json| {
                    hooks::put(json, wanted, program, &elsewhere)
                })
            }
            Holds::Servers(all) => {
                self.json(&mut change, all.dialect, wish, |json| servers::put(json, all, &start))
            }
            Holds::TomlServers => put_in_toml(&mut change, &start),
            Holds::Extension => put_extension(&mut change, program),
        };
        edited.map_err(|fault| {
            let place = wish.places.shown(&slot.path);
            Error::new(ErrorKind::Invalid, format!("{place}, {fault}"))
        })?;
        let holds: Vec<&Held> = change.held.iter().collect();
        let ours = Ours { holds: &holds, peers: wish.replace_peers };
        demand_only_ours(&change, ours, wish.places)?;
        self.notes.extend(change.done.notes.iter().cloned());
        self.changes.push(change);
        Ok(())
    }

    fn json(
        &mut self,
        change: &mut Change,
        dialect: Dialect,
        wish: &Wish<'_>,
        edit: impl FnOnce(&mut Json) -> Result<Done, Fault>,
    ) -> Result<(), Fault> {
        let mut json = Json::read(change.before.as_deref(), dialect)?;
        let peers =
            if self.client == Client::ClaudeCode { peers::found(&json) } else { Vec::new() };
        let out: Vec<&Peer> =
            peers.iter().filter(|peer| wish.replace_peers.contains(&peer.name)).collect();
        peers::take(&mut json, &out);
        let before = json.bytes();
        change.done = edit(&mut json)?;
        change.done.said.extend(out.iter().map(|peer| format!("out goes {}", peer.what())));
        if json.was_bare() {
            change.done.created.insert(0, ROOT);
        }
        let touched = json.bytes() != before || !out.is_empty();
        self.peers.extend(peers);
        if touched {
            change.after = Some(json.bytes());
        }
        Ok(())
    }

    /// Excludes personal files in a project from git.
    fn hide(&mut self, slots: &[Slot], wish: &Wish<'_>) -> Result<()> {
        let root = &wish.places.root;
        let own = slots.iter().filter(|slot| !slot.shared);
        let own = own.filter_map(|slot| slot.path.strip_prefix(root).ok());
        let list = Project::find(root)?.git_exclude();
        let (Some(list), Level::Project) = (list, wish.level) else { return Ok(()) };
        for path in own {
            inside::demand_plain(&list, wish.places)?;
            let party = Party::of(self.client, wish.level, wish.places);
            let mut change = Change::begin(&list, Some(party))?.behind(self.changes.iter());
            let line = format!("/{}", path.display());
            let after = exclude::with(change.before.as_deref().unwrap_or_default(), &line);
            if change.before.as_deref() != Some(&after) {
                change.done.said.push(format!("{line} is yours alone, and not for git"));
                change.after = Some(after);
                let held = Held::Line(line);
                demand_only_ours(&change, Ours { holds: &[&held], peers: &[] }, wish.places)?;
                change.held = Some(held);
                self.changes.push(change);
            }
        }
        Ok(())
    }

    /// Notes the features that an older client lacks.
    fn tell_version(&mut self, places: &Places) {
        let Some(version) = self.client.version(places) else { return };
        let unknown = self.client.unknown_events(places);
        if !unknown.is_empty() {
            let events = unknown.join(", ");
            self.notes.push(format!("version {version} does not know {events}: left out"));
        }
        if !self.client.knows_args(places) {
            self.notes.push(format!(
                "version {version} does not know `args`: each hook is a line for the shell; run \
                 `recoup init` again after an update"
            ));
        }
    }

    fn advise(&mut self) {
        if self.hooks_off {
            let (said, place) = match self.client {
                Client::Codex => ("`hooks = false` under [features]", "its config.toml"),
                _ => ("`disableAllHooks`", "its settings"),
            };
            self.notes.push(format!(
                "{said} in {place}: no hook runs, and the server alone gives the rules; once that is \
                 taken out, run `recoup init` again"
            ));
        }
        if !self.is_any() {
            return;
        }
        if self.client == Client::Codex && !self.hooks_off {
            self.notes.push("it asks once whether new hooks may run: say yes there".to_owned());
        }
        if self.client == Client::Gemini {
            self.notes.push("it starts servers only in folders that you trust there".to_owned());
        }
        let shared = self.changes.iter().any(|change| {
            change.is_any() && change.party.as_ref().is_some_and(|party| party.root.is_some())
        });
        if shared && self.client != Client::ClaudeCode {
            let note = "its files in a project are for everybody who works there: what was added \
                        says `recoup`, without a path of this machine";
            self.notes.push(note.to_owned());
        }
    }
}

/// Returns the events at which a custom command in another file of the client calls us.
fn own_elsewhere(client: Client, wish: &Wish<'_>) -> Vec<String> {
    let slots = client.slots(wish.level, wish.places).into_iter();
    let others = slots.filter(|slot| matches!(slot.holds, Holds::TomlServers));
    let text = |slot: Slot| String::from_utf8(read(&slot.path).ok()??).ok();
    others.filter_map(text).flat_map(|text| config_toml::own_events(&text)).collect()
}

fn put_in_toml(change: &mut Change, start: &Start<'_>) -> Result<(), Fault> {
    let bytes = change.before.clone().unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|_| Fault::at("", 0, "this is not UTF-8"))?;
    let (bom, text) = text.strip_prefix('\u{feff}').map_or(("", &*text), |rest| ("\u{feff}", rest));
    let (after, done) = config_toml::put(text, start, start.with_hooks)?;
    change.done = done;
    if after != text {
        change.after = Some(format!("{bom}{after}").into_bytes());
    }
    Ok(())
}

fn put_extension(change: &mut Change, program: &str) -> Result<(), Fault> {
    let before = change.before.as_deref().map(String::from_utf8_lossy);
    if let Some(text) = &before {
        if !text.trim().is_empty() && extension::program(text).is_none() {
            return Err(Fault::at("", 0, "this extension is not ours: give it another name"));
        }
        change.done.had_ours = !text.trim().is_empty();
    }
    let after = extension::with_program(program);
    change.done.whole = before.is_none();
    if before.as_deref() != Some(&after) {
        // Another version of ours, or somebody's own work: shown before it is replaced.
        if change.done.had_ours {
            change.done.note(
                "the extension there is not this version's, and is replaced; a copy of it is kept",
            );
        }
        change.done.said.push("the extension that calls `recoup hook`".to_owned());
        change.after = Some(after.into_bytes());
    }
    Ok(())
}
