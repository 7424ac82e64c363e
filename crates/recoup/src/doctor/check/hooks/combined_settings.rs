//! Problems of a client's files taken together: hooks that are missing, disabled, run twice, or were
//! never allowed.

use std::collections::BTreeMap;

use crate::clients::{LARGEST, RecoupCall};
use recoup_core::base::fsx;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::doctor::fix::{find_install_obstacle, init_command, obstacle_remedy, offer_reinstall};
use crate::install::{
    AgentClient, ClientInstallation, InstallLevel, SettingsFile, find_unread_hooks,
};

pub(super) fn find(
    installed: &[&ClientInstallation],
    context: &DoctorContext,
) -> Vec<DoctorFinding> {
    let mut found = Vec::new();
    for client in AgentClient::ALL {
        let of: Vec<&ClientInstallation> = installed
            .iter()
            .copied()
            .filter(|it| it.client == client && !it.hooks.is_empty())
            .collect();
        if client.spec().hooks.is_none() || of.is_empty() {
            continue;
        }
        let by = client.file_disabling_hooks(InstallLevel::Project, &context.places);
        // Whichever file takes precedence may disable all hooks.
        let disabled = (by.is_some() || !context.has_our_hooks(client)).then(|| {
            let place =
                by.map_or("its settings".to_owned(), |path| context.places.display_path(&path));
            let title = client.title();
            let what =
                format!("{title}: hooks are disabled in {place}, so recoup's hooks do not run");
            DoctorFinding::fail("switched-off", what).remedy(enable_hooks_remedy(client, &place))
        });
        let all = [
            disabled,
            find_duplicate_hooks(client, &of, context),
            find_idle_plugin(client, context),
            find_unapproved_hooks(client, &of, context),
        ];
        found.extend(all.into_iter().flatten().map(|it| it.fact("client", client.as_str())));
    }
    found
}

/// Remedy for disabled hooks.
pub(in super::super) fn enable_hooks_remedy(client: AgentClient, place: &str) -> String {
    let switch = client.spec().hooks.as_ref().and_then(|hooks| hooks.off_switch);
    let setting = switch.map_or("the setting that disables hooks", |switch| switch.setting);
    format!("remove {setting} from {place}")
}

/// Reports different commands of ours at one event. Claude Code runs identical ones once.
fn find_duplicate_hooks(
    client: AgentClient,
    of: &[&ClientInstallation],
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let mut calls: BTreeMap<&str, Vec<&RecoupCall>> = BTreeMap::new();
    for hook in of.iter().flat_map(|it| &it.hooks) {
        calls.entry(hook.event.as_deref().unwrap_or_default()).or_default().push(&hook.call);
    }
    let runs_twice = |calls: &Vec<&RecoupCall>| match client {
        AgentClient::ClaudeCode => calls.iter().any(|call| *call != calls[0]),
        _ => calls.len() > 1,
    };
    let events = calls.values().filter(|calls| runs_twice(calls)).count();
    if events == 0 {
        return None;
    }
    let mut levels: Vec<&str> = of.iter().map(|it| it.level.as_str()).collect();
    levels.dedup();
    let noun = if events == 1 { "event" } else { "events" };
    let what = format!(
        "{} runs recoup's hook twice for {events} {noun} (files of the {})",
        client.title(),
        levels.join(" and the ")
    );
    let found = DoctorFinding::warn("twice", what).fact("events", events);
    // Of two files of one level, one has hand-written calls.
    let doubled =
        of.iter().filter(|it| of.iter().filter(|other| other.level == it.level).count() > 1);
    let mut offered =
        doubled.map(|it| offer_reinstall(found.clone(), it, context, "removes one of them"));
    Some(offered.find(|it| it.fix.is_some()).unwrap_or_else(|| {
        found.remedy(
            "the result is the same, but takes twice as long: remove one with \
             `recoup uninstall --project`, or by hand",
        )
    }))
}

/// Reports our plugin beside hooks in the settings: it does nothing, but is started at each event.
fn find_idle_plugin(client: AgentClient, context: &DoctorContext) -> Option<DoctorFinding> {
    if !context.has_our_plugin(client) {
        return None;
    }
    let title = client.title();
    let what =
        format!("{title} has recoup's hooks in its settings, so recoup's plugin does nothing");
    let remedy =
        "remove one of them: the plugin in the client, or the hooks with `recoup uninstall`";
    Some(DoctorFinding::warn("plugin-idle", what).remedy(remedy))
}

/// Reports hooks that Codex does not run because its user has not allowed them. Permission is in
/// its configuration as `[hooks.state."FILE:EVENT:GROUP:HOOK"]`, with a hash of what was allowed.
/// Only Codex can tell whether that hash is still current.
fn find_unapproved_hooks(
    client: AgentClient,
    of: &[&ClientInstallation],
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    if client != AgentClient::Codex {
        return None;
    }
    let path = context.places.dirs.of(client).join("config.toml");
    let text = fsx::read_regular(&path, LARGEST).ok()?.unwrap_or_default();
    let settings = DeTable::parse(str::from_utf8(&text).ok()?).ok()?;
    let hooks = settings.get_ref().get("hooks").map(Spanned::get_ref);
    let state = hooks.and_then(|hooks| hooks.get("state")).map(Spanned::get_ref);
    let entries = || state.and_then(DeValue::as_table).into_iter().flatten();
    let is_allowed = |file: &str, event: &str| {
        let mut place = format!("{file}:");
        // There, `SessionStart` is `session_start`.
        for (at, c) in event.char_indices() {
            place.extend((at > 0 && c.is_ascii_uppercase()).then_some('_'));
            place.push(c.to_ascii_lowercase());
        }
        place.push(':');
        entries().any(|(key, entry)| {
            let is_off = entry
                .get_ref()
                .get("enabled")
                .is_some_and(|it| matches!(it.get_ref(), DeValue::Boolean(false)));
            let was_seen = entry.get_ref().get("trusted_hash").is_some();
            key.get_ref().contains(&place) && was_seen && !is_off
        })
    };
    let waiting = |it: &ClientInstallation| {
        let file = it.path.display().to_string();
        let events = it.hooks.iter().filter_map(|hook| hook.event.as_deref());
        events.filter(|event| !is_allowed(&file, event)).count()
    };
    let (first, count) = of.iter().map(|it| (it, waiting(it))).find(|(_, waiting)| *waiting > 0)?;
    let shown = context.places.display_path(&first.path);
    let what = format!("Codex has not yet been allowed to run {count} of the hooks in {shown}");
    Some(
        DoctorFinding::warn("not-allowed", what)
            .remedy("start Codex, type /hooks, and allow them")
            .fact("waiting", count),
    )
}

/// Reports clients without our hooks, and how to install them.
pub(super) fn find_missing_hooks(
    installed: &[&ClientInstallation],
    context: &DoctorContext,
) -> Vec<DoctorFinding> {
    // Unreadable files are already reported.
    let unreadable: Vec<&ClientInstallation> =
        context.installed.iter().filter(|of| of.fault.is_some()).collect();
    let is_bare = |client: &AgentClient| {
        client.as_hook_client().is_some()
            && client.is_present(&context.places)
            && !installed.iter().any(|of| of.client == *client)
            && !unreadable.iter().any(|of| of.client == *client)
    };
    let is_of_hooks = |slot: &&SettingsFile| slot.holds.is_for_hooks();
    let mut found = Vec::new();
    for client in AgentClient::ALL.into_iter().filter(is_bare) {
        let (title, init) = (client.title(), init_command(client, InstallLevel::User));
        let slots = client.settings_files(InstallLevel::User, &context.places);
        let finding = if let Some(of) = find_unread_hooks(client, &context.places) {
            let shown = context.places.display_path(&of.path);
            let what = format!(
                "{title} does not run recoup's hooks in {shown}: another file beside it has hooks"
            );
            let init = init_command(client, of.level);
            DoctorFinding::fail("not-read", what).remedy(format!("`{init}` adds them there"))
        } else if context.has_our_plugin(client) {
            DoctorFinding::ok(format!("{title} has recoup's hooks by recoup's plugin"))
        } else if context.has_our_hooks(client) {
            let what = format!(
                "{title} has recoup's hooks in a shared file, or in one that others maintain: \
                 not tested"
            );
            DoctorFinding::skipped("elsewhere", what)
        } else if let Some(error) = find_install_obstacle(client, context) {
            let what = format!("{title} is installed, but `{init}` can't add recoup's hooks");
            DoctorFinding::warn("not-installable", what).remedy(obstacle_remedy(&error))
        } else if slots.iter().filter(is_of_hooks).any(|slot| context.was_installed(slot)) {
            let what = format!("{title}: recoup's hooks were removed");
            DoctorFinding::warn("lost", what).remedy(format!("`{init}` adds them again"))
        } else {
            let what = format!("{title} is installed, but does not have recoup's hooks");
            DoctorFinding::skipped("not-installed", what).remedy(format!("`{init}` adds them"))
        };
        found.push(finding.fact("client", client.as_str()));
    }
    found
}
