//! Hooks: `{"hooks": {EVENT: [{"matcher": …, "hooks": [HOOK…]}…]…}}`.

use recoup_core::memory::hooked::{self, Call, limit};
use serde_json::Value;

use super::{Done, Emptied, ensure_objects, remove_empty};
use crate::install::client::{Form, Hooks};
use crate::install::edit::{Fault, Fresh, Json, Step};

const HOOKS: &str = "hooks";

/// Text that Claude Code shows while a hook runs.
const SHOWN: &str = "statusMessage";

/// Position of a hook among an event's groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    group: usize,
    hook: usize,
}

/// Ensures that every event calls `program` once, in the current form. At the events `elsewhere`,
/// a custom command in another file calls us already.
pub(crate) fn put(
    json: &mut Json,
    wanted: &Hooks,
    program: &str,
    elsewhere: &[String],
) -> Result<Done, Fault> {
    let mut done = Done { created: ensure_objects(json, &[HOOKS])?, ..Done::default() };
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    for (event, ours) in calls(json) {
        done.had_ours = true;
        let is_wanted = wanted.events.iter().any(|(name, _)| *name == event);
        if !is_wanted || elsewhere.contains(&event) {
            let plain: Vec<Spot> = ours.iter().filter(|it| !it.1.wrapped).map(|it| it.0).collect();
            if !plain.is_empty() {
                cut(json, &event, &plain, Emptied::Any);
                changed.push(event);
            }
        }
    }
    let is_here = |(event, _): &&(&str, u64)| elsewhere.iter().all(|other| other != event);
    for (event, seconds) in wanted.events.iter().filter(is_here) {
        let hook = hook(wanted, program, *seconds);
        let before = json.at(&at(event)).map(|value| value.to_string());
        let ours = calls_at(json, event);
        if ours.is_empty() {
            add(json, event, hook, &mut done.created)?;
            added.push((*event).to_owned());
        } else {
            update(json, event, &ours, hook, &mut done)?;
            if before != json.at(&at(event)).map(|value| value.to_string()) {
                changed.push((*event).to_owned());
            }
        }
    }
    let say = |what: &str, events: &[String]| {
        (!events.is_empty()).then(|| format!("{what} {}", listed(events)))
    };
    done.said.extend(say("hooks for", &added));
    done.said.extend(say("hooks brought up to date:", &changed));
    Ok(done)
}

/// Removes our calls, except custom commands.
pub(crate) fn take(json: &mut Json, emptied: Emptied<'_>) -> Done {
    let mut done = Done::default();
    // Of duplicate names the last one counts; once it is gone, the one before.
    while take_once(json, emptied, &mut done) {
        done.notes.clear();
    }
    if !done.said.is_empty() {
        done.said = vec![format!("hooks for {}", listed(&done.said))];
    }
    done
}

/// Removes the calls that are in effect. Returns true if there were any.
fn take_once(json: &mut Json, emptied: Emptied<'_>, done: &mut Done) -> bool {
    let mut any = false;
    for (event, ours) in calls(json) {
        done.had_ours = true;
        let (own, plain): (Vec<_>, Vec<_>) = ours.into_iter().partition(|(_, call)| call.wrapped);
        for (_, call) in own {
            done.note(own_line(&event, &call));
        }
        let spots: Vec<Spot> = plain.into_iter().map(|(spot, _)| spot).collect();
        if !spots.is_empty() {
            cut(json, &event, &spots, emptied);
            any = true;
            if !done.said.contains(&event) {
                done.said.push(event);
            }
        }
    }
    if any {
        remove_empty(json, &[HOOKS.into()], emptied);
    }
    any
}

/// Lists events by name, or counts them if there are many.
pub(super) fn listed(events: &[String]) -> String {
    match events.len() {
        0..=4 => events.join(", "),
        count => format!("{count} events"),
    }
}

/// Note about a custom command. Names only the program: the line may hold secrets.
pub(super) fn own_line(place: &str, call: &Call) -> String {
    format!("{place} has a command of your own that calls {}, which stays", call.program)
}

/// Returns our calls, by event.
fn calls(json: &Json) -> Vec<(String, Vec<(Spot, Call)>)> {
    let events = json.at(&[HOOKS.into()]);
    let events = events.as_ref().and_then(Value::as_object).into_iter().flatten();
    let all = events.map(|(event, groups)| (event.clone(), ours_in(groups)));
    all.filter(|(_, ours)| !ours.is_empty()).collect()
}

fn calls_at(json: &Json, event: &str) -> Vec<(Spot, Call)> {
    json.at(&at(event)).map(|groups| ours_in(&groups)).unwrap_or_default()
}

fn ours_in(groups: &Value) -> Vec<(Spot, Call)> {
    let ours = hooked::at_event(groups);
    ours.map(|it| (Spot { group: it.group, hook: it.at }, it.call)).collect()
}

/// Returns all hooks of an event.
pub(crate) fn spots(groups: &Value) -> Vec<(Spot, &Value)> {
    let mut found = Vec::new();
    for (group, it) in groups.as_array().into_iter().flatten().enumerate() {
        let hooks = it.get(HOOKS).and_then(Value::as_array).into_iter().flatten();
        found.extend(hooks.enumerate().map(|(hook, it)| (Spot { group, hook }, it)));
    }
    found
}

/// Builds the hook as this version writes it.
fn hook(wanted: &Hooks, program: &str, seconds: u64) -> Vec<(&'static str, Fresh)> {
    let mut hook = vec![("type", Fresh::plain("command"))];
    match wanted.form {
        Form::Exec => {
            hook.push(("command", Fresh::plain(program)));
            hook.push(("args", Fresh::texts(wanted.args)));
        }
        Form::Shell => {
            let line = format!("{} {}", quoted(program), wanted.args.join(" "));
            hook.push(("command", Fresh::plain(line)));
        }
    }
    hook.push(("timeout", Fresh::plain(seconds)));
    hook
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn add(
    json: &mut Json,
    event: &str,
    hook: Vec<(&'static str, Fresh)>,
    created: &mut Vec<Vec<String>>,
) -> Result<(), Fault> {
    let group = Fresh::Object(vec![(HOOKS, Fresh::List(vec![Fresh::Object(hook)]))]);
    match json.at(&at(event)) {
        None => {
            json.set(&[HOOKS.into()], event, &Fresh::List(vec![group]));
            created.push(vec![HOOKS.to_owned(), event.to_owned()]);
        }
        Some(Value::Array(_)) => json.push(&at(event), &group),
        Some(_) => {
            let what = format!("“{event}” should be a list: [ … ]");
            return Err(json.fault_at(&at(event), &what));
        }
    }
    Ok(())
}

/// Leaves one call, for every tool and every source: one that is limited by its group's matcher is
/// replaced by one that is not. A custom command of the user takes precedence.
fn update(
    json: &mut Json,
    event: &str,
    ours: &[(Spot, Call)],
    hook: Vec<(&'static str, Fresh)>,
    done: &mut Done,
) -> Result<(), Fault> {
    let groups = json.at(&at(event)).unwrap_or_default();
    let own = ours.iter().find(|(_, call)| call.wrapped);
    let mut plain: Vec<Spot> =
        ours.iter().filter(|(_, call)| !call.wrapped).map(|(spot, _)| *spot).collect();
    let open = plain.iter().position(|spot| limit(&groups[spot.group]).is_none());
    match (own, open) {
        (Some((_, call)), _) => done.note(own_line(event, call)),
        (None, Some(open)) => bring_up_to_date(json, &path(event, plain.remove(open)), &hook),
        // Behind the others, whose positions stay valid.
        (None, None) => add(json, event, hook, &mut done.created)?,
    }
    cut(json, event, &plain, Emptied::Any);
    Ok(())
}

/// Updates a hook. Fields that this version does not write are removed: `async` would discard the
/// answer. A longer timeout, and a status message, are the user's choice.
fn bring_up_to_date(json: &mut Json, path: &[Step], hook: &[(&'static str, Fresh)]) {
    let there = json.at(path).unwrap_or_default();
    for (name, value) in hook {
        let is_more = *name == "timeout" && there["timeout"].as_u64() > value.value().as_u64();
        if !is_more {
            json.set(path, name, value);
        }
    }
    let there = there.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let is_kept = |name: &str| name == SHOWN || hook.iter().any(|(known, _)| *known == name);
    for name in there.filter(|name| !is_kept(name)) {
        json.remove(&[path, &[name.into()]].concat());
    }
}

/// Removes hooks, and groups that become empty.
pub(crate) fn cut(json: &mut Json, event: &str, spots: &[Spot], emptied: Emptied<'_>) {
    for spot in spots.iter().rev() {
        json.remove(&path(event, *spot));
        let group = [&at(event)[..], &[spot.group.into()]].concat();
        let left = json.at(&[&group[..], &[HOOKS.into()]].concat());
        if left.is_some_and(|left| left.as_array().is_some_and(Vec::is_empty)) {
            json.remove(&group);
        }
    }
    if !spots.is_empty() {
        remove_empty(json, &at(event), emptied);
    }
}

pub(crate) fn at(event: &str) -> Vec<Step> {
    vec![HOOKS.into(), event.into()]
}

fn path(event: &str, spot: Spot) -> Vec<Step> {
    [&at(event)[..], &[spot.group.into(), HOOKS.into(), spot.hook.into()]].concat()
}
