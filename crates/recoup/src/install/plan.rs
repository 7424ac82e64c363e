//! What has to change so that a client calls us. Nothing is touched for it.

use recoup_core::base::project::Project;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use super::change::{Change, Party};
use super::client::{Client, Holds, Level, Slot};
use super::edit::{Dialect, Fault, Json, toml};
use super::entries::servers::Start;
use super::entries::{Done, hooks, servers};
use super::held::Held;
use super::ours::SERVER;
use super::peers::{self, Peer};
use super::places::Places;
use super::{exclude, extension, found, inside, ours};

/// What is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) places: &'a Places,
    pub(crate) level: Level,
    /// The path of our program.
    pub(crate) program: &'a str,
    /// Other programs that remember are taken out.
    pub(crate) replace_peers: bool,
}

/// What becomes of one client's files.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) client: Client,
    pub(crate) changes: Vec<Change>,
    /// What its user should know.
    pub(crate) notes: Vec<String>,
    /// Others that remember, whether they are taken out or not.
    pub(crate) peers: Vec<Peer>,
    /// It is told to run no hooks at all.
    pub(crate) hooks_off: bool,
}

impl Plan {
    /// Works out what has to change for a client. All of it is possible, as far as can be told
    /// before.
    pub(crate) fn make(client: Client, wish: &Wish<'_>) -> Result<Self> {
        Self::behind(&[], client, wish)
    }

    /// The same behind others that are carried out before: two clients may have one file.
    pub(crate) fn behind(earlier: &[Self], client: Client, wish: &Wish<'_>) -> Result<Self> {
        let slots = client.slots(wish.level, wish.places);
        // What the user has switched off is off in every project.
        let mut of_user = client.slots(Level::User, wish.places).into_iter();
        let hooks_off = of_user.any(|slot| found::hooks_are_off(&slot))
            || slots.iter().any(found::hooks_are_off);
        let (changes, notes, peers) = (Vec::new(), Vec::new(), Vec::new());
        let mut plan = Self { client, changes, notes, peers, hooks_off };
        if slots.is_empty() {
            plan.notes.push("it has no settings for a single project".to_owned());
        }
        for slot in &slots {
            plan.add(slot, wish, earlier)?;
        }
        plan.hide(&slots, wish)?;
        plan.changes.iter().try_for_each(Change::demand_possible)?;
        plan.advise();
        Ok(plan)
    }

    /// Whether anything is to be written.
    pub(crate) fn is_any(&self) -> bool {
        self.changes.iter().any(Change::is_any)
    }

    fn add(&mut self, slot: &Slot, wish: &Wish<'_>, earlier: &[Self]) -> Result<()> {
        if wish.level == Level::Project {
            inside::demand_inside(&slot.path, wish.places)?;
        }
        let before = earlier.iter().flat_map(|plan| &plan.changes).chain(&self.changes);
        let mut change = Change::of_slot(slot, wish.places)?.behind(before);
        // A path of this machine is nothing for a file that others get as well.
        let program = if slot.shared { "recoup" } else { wish.program };
        // Without hooks it is the server that gives the rules.
        let with_hooks = self.client.with_hooks().is_some() && !self.hooks_off;
        let start = Start { program, with_hooks };
        let edited = match &slot.holds {
            Holds::Hooks(wanted) => self
                .json(&mut change, Dialect::Strict, wish, |json| hooks::put(json, wanted, program)),
            Holds::Servers(all) => {
                self.json(&mut change, all.dialect, wish, |json| servers::put(json, all, &start))
            }
            Holds::TomlServers => toml_server(&mut change, &start),
            Holds::Extension => put_extension(&mut change, program),
        };
        edited.map_err(|fault| {
            let place = wish.places.shown(&slot.path);
            let message = format!("{place}, {fault}; nothing was changed");
            Error::new(ErrorKind::Invalid, message)
        })?;
        self.notes.append(&mut change.done.notes);
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
        let peers = if self.client == Client::ClaudeCode {
            peers::found(&json.value())
        } else {
            Vec::new()
        };
        if wish.replace_peers {
            peers::take(&mut json, &peers);
        }
        let before = json.bytes();
        change.done = edit(&mut json)?;
        if wish.replace_peers {
            change.done.said.extend(peers.iter().map(|peer| format!("out goes {}", peer.what())));
        }
        self.peers.extend(peers.iter().cloned());
        let touched = json.bytes() != before || (wish.replace_peers && !peers.is_empty());
        if touched {
            change.after = Some(json.bytes());
        }
        Ok(())
    }

    /// Keeps what is one person's own in a project out of git.
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
            let before = String::from_utf8_lossy(change.before.as_deref().unwrap_or_default());
            let line = format!("/{}", path.display());
            let after = exclude::with(&before, &line).into_bytes();
            if change.before.as_deref() != Some(&after) {
                change.done.said.push(format!("{line} is yours alone, and not for git"));
                change.after = Some(after);
                change.held = Some(Held::Line(line));
                self.changes.push(change);
            }
        }
        Ok(())
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

fn toml_server(change: &mut Change, start: &Start<'_>) -> Result<(), Fault> {
    let bytes = change.before.clone().unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|_| Fault::at("", 0, "this is not UTF-8"))?;
    let (bom, text) = text.strip_prefix('\u{feff}').map_or(("", &*text), |rest| ("\u{feff}", rest));
    let root = toml::value(text)?;
    if found::calls_by_hand(&root) {
        change.done.note(
            "its config.toml calls recoup in `notify` or [hooks] as well, written by hand: take that \
             out, or it is called twice",
        );
    }
    let all = root.get("mcp_servers").and_then(Value::as_object);
    let mut all = all.into_iter().flatten();
    let known = all.find_map(|(name, entry)| Some((name.clone(), ours::server(entry)?)));
    let taken = root.get("mcp_servers").and_then(|all| all.get(SERVER));
    if let (None, Some(other)) = (&known, taken) {
        change.done.note(ours::stays(other));
        return Ok(());
    }
    let (name, args) = match &known {
        Some((name, call)) => (name.as_str(), start.args(&call.args)),
        None => (SERVER, start.args(&[])),
    };
    let after =
        format!("{bom}{}", toml::put_server(text, name, start.program, &args)?).into_bytes();
    if change.before.as_ref() != Some(&after) {
        let what = if known.is_some() { " brought up to date" } else { "" };
        change.done.said.push(format!("server “{name}”{what}"));
        if root.get("mcp_servers").is_none() {
            change.done.created.push(vec!["mcp_servers".to_owned()]);
        }
        change.after = Some(after);
    }
    change.done.had_ours = known.is_some();
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
        // Another version of ours, or somebody's own work: that is seen before it goes.
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
