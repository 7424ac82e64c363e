//! Hooks: `{EVENT: [{"matcher": …, "hooks": [HOOK…]}…]…}`, in an object of the file or at its top.

use crate::clients;
use crate::clients::{RecoupCall, group_limit};
use serde_json::Value;

use super::{EditSummary, remove_repeatedly};
use crate::clients::HookLayout;
use crate::install::edit::{
    EmptiedContainers, JsonPathStep, NewValue, SettingsSyntax, SettingsSyntaxError, SettingsText,
    is_empty_container, parse_settings, path_names, steps,
};

const HOOKS: &str = "hooks";

/// Version of a file with hooks, in clients that ask for it.
const VERSION: &str = "version";

/// Command that Codex runs at the end of a turn.
const NOTIFY: &str = "notify";

/// Text that Claude Code shows while a hook runs.
const STATUS_MESSAGE: &str = "statusMessage";

/// Position of a hook among an event's groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HookPosition {
    group: usize,
    hook: usize,
}

/// Ensures that every event calls `program` once, in the current form. At the events `elsewhere`,
/// a custom command in another file calls us already.
pub(crate) fn put(
    file: &mut SettingsText,
    at: &[&str],
    wanted: &HookLayout,
    program: &str,
    elsewhere: &[String],
) -> Result<EditSummary, SettingsSyntaxError> {
    let mut done = EditSummary::default();
    if let Some(version) = wanted.file_version.filter(|_| file.is_empty()) {
        file.set(&[], VERSION, &NewValue::plain(version))?;
        done.created.push(vec![VERSION.to_owned()]);
    }
    done.created.extend(file.ensure_objects(at)?);
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    for (event, ours) in calls(file, at) {
        done.had_ours = true;
        let is_wanted = wanted.events.iter().any(|(name, _)| *name == event);
        if !is_wanted || elsewhere.contains(&event) {
            let plain: Vec<HookPosition> =
                ours.iter().filter(|it| !it.1.wrapped).map(|it| it.0).collect();
            if !plain.is_empty() {
                remove_hooks(file, at, &event, &plain, EmptiedContainers::Any)?;
                changed.push(event);
            }
        }
    }
    let is_here = |(event, _): &&(&str, u64)| elsewhere.iter().all(|other| other != event);
    for (event, seconds) in wanted.events.iter().filter(is_here) {
        let hook = hook(wanted, program, *seconds);
        let groups = file.value_at(&event_path(at, event)).unwrap_or_default();
        let ours = find_our_calls(&groups);
        if ours.is_empty() {
            add(file, at, event, hook, &mut done.created)?;
            added.push((*event).to_owned());
        } else {
            update(file, at, event, &ours, hook, &mut done)?;
            if file.value_at(&event_path(at, event)).is_none_or(|now| now != groups) {
                changed.push((*event).to_owned());
            }
        }
    }
    let say = |what: &str, events: &[String]| {
        (!events.is_empty()).then(|| format!("{what} {}", list_events(events)))
    };
    done.said.extend(say("hooks for", &added));
    done.said.extend(say("hooks updated:", &changed));
    Ok(done)
}

/// Removes our calls, except custom commands. Says at which events they were; `place` names an event
/// for people.
pub(crate) fn remove_calls(
    file: &mut SettingsText,
    at: &[&str],
    emptied: EmptiedContainers<'_>,
    place: impl Fn(&str) -> String,
) -> Result<EditSummary, SettingsSyntaxError> {
    remove_repeatedly(|done| {
        let mut any = false;
        for (event, ours) in calls(file, at) {
            done.had_ours = true;
            let (own, plain): (Vec<_>, Vec<_>) =
                ours.into_iter().partition(|(_, call)| call.wrapped);
            for (_, call) in own {
                done.add_note(custom_command_note(&place(&event), &call));
            }
            let spots: Vec<HookPosition> = plain.into_iter().map(|(spot, _)| spot).collect();
            if !spots.is_empty() {
                remove_hooks(file, at, &event, &spots, emptied)?;
                any = true;
                if !done.said.contains(&event) {
                    done.said.push(event);
                }
            }
        }
        Ok(any)
    })
}

/// Removes our hooks, and the version of a file that had only these.
pub(crate) fn remove(
    file: &mut SettingsText,
    at: &[&str],
    emptied: EmptiedContainers<'_>,
) -> Result<EditSummary, SettingsSyntaxError> {
    let mut done = remove_calls(file, at, emptied, str::to_owned)?;
    if !done.said.is_empty() {
        let version = [VERSION.into()];
        if file.value_at(&[]).is_some_and(|root| has_version_alone(&root))
            && emptied.may_remove(&version)
        {
            file.remove(&version, emptied)?;
        }
        done.said = vec![format!("hooks for {}", list_events(&done.said))];
    }
    Ok(done)
}

/// Returns the events at which a custom command of the user in Codex's `config.toml` calls us.
pub(crate) fn custom_codex_events(text: &str) -> Vec<String> {
    // Errors are reported when this file is edited itself.
    let root = parse_settings(text, SettingsSyntax::Toml).unwrap_or_default();
    let hooks = root.get(HOOKS).into_iter().flat_map(clients::hooks_at_events);
    let own = hooks.filter(|(_, it)| it.call.wrapped).map(|(event, _)| event.to_owned());
    own.collect()
}

/// Removes plain calls of ours that somebody wrote into Codex's `config.toml` by hand, in `[hooks]` or
/// as `notify`. Codex runs the hooks of this file and of `hooks.json`, and `notify` repeats them. It
/// stays unless it is to go: if no hook runs, it is all there is.
pub(crate) fn remove_codex_calls(
    file: &mut SettingsText,
    notify_goes: bool,
) -> Result<EditSummary, SettingsSyntaxError> {
    let place = |event: &str| format!("config.toml at {event}");
    let mut done = remove_calls(file, &[HOOKS], EmptiedContainers::Any, place)?;
    if let Some(call) = clients::call_in_notify(&file.value_at(&[]).unwrap_or_default()) {
        done.had_ours = true;
        if call.wrapped {
            done.add_note(custom_command_note("notify in config.toml", &call));
        } else if notify_goes {
            file.remove(&[NOTIFY.into()], EmptiedContainers::Any)?;
            done.said.push(NOTIFY.to_owned());
        }
    }
    if !done.said.is_empty() {
        done.said = vec![format!("hand-written calls: {}", list_events(&done.said))];
    }
    Ok(done)
}

/// True if nothing but a version is left, which says nothing by itself.
pub(crate) fn has_version_alone(root: &Value) -> bool {
    root.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key(VERSION))
}

/// Lists events by name, or counts them if there are many.
pub(super) fn list_events(events: &[String]) -> String {
    match events.len() {
        0..=4 => events.join(", "),
        count => format!("{count} events"),
    }
}

/// Note about a custom command. Names only the program: the line may hold secrets.
pub(super) fn custom_command_note(place: &str, call: &RecoupCall) -> String {
    format!("{place} has a command of your own that calls {}: it is kept", call.program)
}

/// Returns our calls, by event.
fn calls(file: &SettingsText, at: &[&str]) -> Vec<(String, Vec<(HookPosition, RecoupCall)>)> {
    let events = file.value_at(&steps(at));
    let events = events.as_ref().and_then(Value::as_object).into_iter().flatten();
    let all = events.map(|(event, groups)| (event.clone(), find_our_calls(groups)));
    all.filter(|(_, ours)| !ours.is_empty()).collect()
}

fn find_our_calls(groups: &Value) -> Vec<(HookPosition, RecoupCall)> {
    let ours = clients::hooks_at_event(groups);
    ours.map(|it| (HookPosition { group: it.group, hook: it.at }, it.call)).collect()
}

/// Returns all hooks of an event in the object `hooks`, with their paths.
pub(crate) fn all_hooks<'v>(event: &str, groups: &'v Value) -> Vec<(Vec<JsonPathStep>, &'v Value)> {
    let mut found = Vec::new();
    for (group, it) in groups.as_array().into_iter().flatten().enumerate() {
        let hooks = it.get(HOOKS).and_then(Value::as_array).into_iter().flatten().enumerate();
        let path = |hook| path(&[HOOKS], event, HookPosition { group, hook });
        found.extend(hooks.map(|(hook, it)| (path(hook), it)));
    }
    found
}

/// Builds the hook as this version writes it.
fn hook(wanted: &HookLayout, program: &str, seconds: u64) -> Vec<(&'static str, NewValue)> {
    let mut hook = vec![("type", NewValue::plain("command"))];
    if wanted.has_args {
        hook.push(("command", NewValue::plain(program)));
        hook.push(("args", NewValue::texts(wanted.args)));
    } else {
        hook.push(("command", NewValue::plain(shell_line(wanted, program))));
    }
    hook.push(("timeout", NewValue::plain(seconds)));
    hook
}

/// Builds the command as a line for a shell.
pub(super) fn shell_line(wanted: &HookLayout, program: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    let quoted = if program.chars().all(plain) {
        program.to_owned()
    } else {
        format!("'{}'", program.replace('\'', r"'\''"))
    };
    format!("{quoted} {}", wanted.args.join(" "))
}

fn add(
    file: &mut SettingsText,
    at: &[&str],
    event: &str,
    hook: Vec<(&'static str, NewValue)>,
    created: &mut Vec<Vec<String>>,
) -> Result<(), SettingsSyntaxError> {
    let group = NewValue::Object(vec![(HOOKS, NewValue::List(vec![NewValue::Object(hook)]))]);
    match file.value_at(&event_path(at, event)) {
        None => {
            file.set(&steps(at), event, &NewValue::List(vec![group]))?;
            created.push(path_names(&event_path(at, event)));
        }
        Some(Value::Array(_)) => file.push(&event_path(at, event), &group),
        Some(_) => {
            let what = format!("“{event}” should be a list: [ … ]");
            return Err(file.error_at(&event_path(at, event), &what));
        }
    }
    Ok(())
}

/// Leaves one call, for every tool and every source: one that is limited by its group's matcher is
/// replaced by one that is not. A custom command of the user takes precedence.
fn update(
    file: &mut SettingsText,
    at: &[&str],
    event: &str,
    ours: &[(HookPosition, RecoupCall)],
    hook: Vec<(&'static str, NewValue)>,
    done: &mut EditSummary,
) -> Result<(), SettingsSyntaxError> {
    let groups = file.value_at(&event_path(at, event)).unwrap_or_default();
    let own = ours.iter().find(|(_, call)| call.wrapped);
    let mut plain: Vec<HookPosition> =
        ours.iter().filter(|(_, call)| !call.wrapped).map(|(spot, _)| *spot).collect();
    let open = plain.iter().position(|spot| group_limit(&groups[spot.group]).is_none());
    match (own, open) {
        (Some((_, call)), _) => done.add_note(custom_command_note(event, call)),
        // Fields that this version does not write are removed: `async` would discard the answer. A
        // longer timeout, and a status message, are the user's choice.
        (None, Some(open)) => {
            let path = path(at, event, plain.remove(open));
            let there = file.value_at(&path).unwrap_or_default();
            for (name, value) in &hook {
                let (old, new) = (there["timeout"].as_u64(), value.value().as_u64());
                if *name != "timeout" || old <= new {
                    file.set(&path, name, value)?;
                }
            }
            let is_kept =
                |name: &str| name == STATUS_MESSAGE || hook.iter().any(|(it, _)| *it == name);
            let names = there.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            for name in names.filter(|name| !is_kept(name)) {
                file.remove(&[&path[..], &[name.into()]].concat(), EmptiedContainers::Any)?;
            }
        }
        // Behind the others, whose positions stay valid.
        (None, None) => add(file, at, event, hook, &mut done.created)?,
    }
    remove_hooks(file, at, event, &plain, EmptiedContainers::Any)
}

/// Removes hooks of an event, and what is empty then.
fn remove_hooks(
    file: &mut SettingsText,
    at: &[&str],
    event: &str,
    spots: &[HookPosition],
    emptied: EmptiedContainers<'_>,
) -> Result<(), SettingsSyntaxError> {
    spots.iter().rev().try_for_each(|spot| remove_hook(file, &path(at, event, *spot), emptied))
}

/// Removes the hook at a path, its group if that becomes empty, and then the list of the event and
/// what is above it, as far as `emptied` allows.
pub(crate) fn remove_hook(
    file: &mut SettingsText,
    path: &[JsonPathStep],
    emptied: EmptiedContainers<'_>,
) -> Result<(), SettingsSyntaxError> {
    file.remove(path, EmptiedContainers::Made(&[]))?;
    let (list, group) = (&path[..path.len() - 1], &path[..path.len() - 2]);
    // A list of tables is gone with its last one.
    if file.value_at(list).is_none_or(|left| is_empty_container(&left)) {
        file.remove(group, emptied)?;
    }
    Ok(())
}

fn event_path(at: &[&str], event: &str) -> Vec<JsonPathStep> {
    [&steps(at)[..], &[event.into()]].concat()
}

fn path(at: &[&str], event: &str, spot: HookPosition) -> Vec<JsonPathStep> {
    [&event_path(at, event)[..], &[spot.group.into(), HOOKS.into(), spot.hook.into()]].concat()
}
