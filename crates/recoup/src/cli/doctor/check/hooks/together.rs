//! Problems of a client's files taken together: hooks that are disabled, run twice, or were never
//! allowed.

use std::collections::BTreeMap;

use recoup_core::base::fsx;
use recoup_core::memory::hooked::{self, Call, LARGEST};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::CHECK;
use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;
use crate::cli::doctor::fix::offering;
use crate::install::{Client, Installation, Level};

pub(super) fn find(installed: &[&Installation], around: &Around) -> Vec<Finding> {
    let mut found = Vec::new();
    for client in Client::ALL {
        let of: Vec<&Installation> = installed
            .iter()
            .copied()
            .filter(|it| it.client == client && !it.hooks.is_empty())
            .collect();
        let Some(known) = client.with_hooks().filter(|_| !of.is_empty()) else { continue };
        let all = [
            off(client, known, around),
            twice(client, &of, around),
            unallowed(client, &of, around),
        ];
        found.extend(all.into_iter().flatten().map(|it| it.fact("client", client.as_str())));
    }
    found
}

/// Reports that all hooks are disabled, by whichever file takes precedence.
fn off(client: Client, known: hooked::Client, around: &Around) -> Option<Finding> {
    let by = client.hooks_off(Level::Project, &around.places);
    if by.is_none() && around.has_our_hooks(known) {
        return None;
    }
    let place = by.map_or("its settings".to_owned(), |path| around.places.shown(&path));
    let what = format!("{}: hooks are disabled in {place}: ours do not run either", client.title());
    Some(Finding::fail(CHECK, "switched-off", what).remedy(switch_on(client, &place)))
}

/// Remedy for disabled hooks.
pub(in super::super) fn switch_on(client: Client, place: &str) -> String {
    match client {
        Client::Codex => format!("take `hooks = false` out of [features] in {place} yourself"),
        _ => format!("take `disableAllHooks` out of {place} yourself"),
    }
}

/// Reports different commands of ours at one event. Claude Code runs identical ones once.
fn twice(client: Client, of: &[&Installation], around: &Around) -> Option<Finding> {
    let mut calls: BTreeMap<&str, Vec<&Call>> = BTreeMap::new();
    for hook in of.iter().flat_map(|it| &it.hooks) {
        calls.entry(hook.event.as_deref().unwrap_or_default()).or_default().push(&hook.call);
    }
    let runs_twice = |calls: &Vec<&Call>| match client {
        Client::ClaudeCode => calls.iter().any(|call| *call != calls[0]),
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
        "{} calls us twice at {events} {noun} (in files of the {})",
        client.title(),
        levels.join(" and of the ")
    );
    let found = Finding::warn(CHECK, "twice", what).fact("events", events);
    // Of two files of one level, one has hand-written calls.
    let doubled =
        of.iter().filter(|it| of.iter().filter(|other| other.level == it.level).count() > 1);
    let mut offered = doubled.map(|it| offering(found.clone(), it, around, "takes one out"));
    Some(offered.find(|it| it.fix.is_some()).unwrap_or_else(|| {
        found.remedy(
            "it counts once, and takes twice as long: take one out, with `recoup uninstall \
             --project` or by hand",
        )
    }))
}

/// Reports hooks that Codex does not run because its user has not allowed them. Permission is in
/// its configuration as `[hooks.state."FILE:EVENT:GROUP:HOOK"]`, with a hash of what was allowed.
/// Only Codex can tell whether that hash is still current.
fn unallowed(client: Client, of: &[&Installation], around: &Around) -> Option<Finding> {
    if client != Client::Codex {
        return None;
    }
    let path = around.places.codex.join("config.toml");
    let text = fsx::read_regular(&path, LARGEST).ok()?.unwrap_or_default();
    let settings = DeTable::parse(str::from_utf8(&text).ok()?).ok()?;
    let hooks = settings.get_ref().get("hooks").map(Spanned::get_ref);
    let state = hooks.and_then(|hooks| hooks.get("state")).map(Spanned::get_ref);
    let entries = || state.and_then(DeValue::as_table).into_iter().flatten();
    let is_allowed = |file: &str, event: &str| {
        let place = format!("{file}:{}:", snake(event));
        entries().any(|(key, entry)| {
            let is_off = entry
                .get_ref()
                .get("enabled")
                .is_some_and(|it| matches!(it.get_ref(), DeValue::Boolean(false)));
            let was_seen = entry.get_ref().get("trusted_hash").is_some();
            key.get_ref().contains(&place) && was_seen && !is_off
        })
    };
    let waiting = |it: &Installation| {
        let file = it.path.display().to_string();
        let events = it.hooks.iter().filter_map(|hook| hook.event.as_deref());
        events.filter(|event| !is_allowed(&file, event)).count()
    };
    let (first, count) = of.iter().map(|it| (it, waiting(it))).find(|(_, waiting)| *waiting > 0)?;
    let shown = around.places.shown(&first.path);
    let what = format!("Codex has not been told that it may run {count} of the hooks in {shown}");
    Some(
        Finding::warn(CHECK, "not-allowed", what)
            .remedy("start Codex, say /hooks, and allow them")
            .fact("waiting", count),
    )
}

/// Converts `SessionStart` to `session_start`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
