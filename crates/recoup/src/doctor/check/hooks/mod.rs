//! Checks the hooks in clients' settings: they name this program, at every event, and this program
//! answers what the client sends.

mod combined_settings;
mod fire;

use std::path::Path;
use std::time::Duration;

use super::client_files;
use crate::clients::{CallForm, RecoupCall};
use crate::doctor::DoctorContext;
use crate::doctor::finding::{DoctorFinding, FindingFact, FindingState};
use crate::doctor::fix::offer_reinstall;
use crate::doctor::installed_command::{InstalledCommand, find_command_fault};
use crate::doctor::probe::ProbeError;
use crate::doctor::sandbox::{ProbeSandbox, no_room_finding};
use crate::install::{AgentClient, ClientInstallation, HookCommand, InstallLevel};
pub(super) use combined_settings::enable_hooks_remedy;
use fire::{HookProbeResult, fire_events};

/// Longer than this, people notice every call.
const SLOW: Duration = Duration::from_secs(1);

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let with_hooks =
        |of: &&ClientInstallation| of.client.as_hook_client().is_some() && !of.hooks.is_empty();
    let installed: Vec<&ClientInstallation> = context.installed.iter().filter(with_hooks).collect();
    let mut found = client_files::find_malformed(true, context);
    if !installed.is_empty() {
        let checked = check_clients(&installed, context);
        let checked = checked.unwrap_or_else(|error| vec![no_room_finding(&error)]);
        found.extend(checked);
    }
    found.extend(combined_settings::find(&installed, context));
    found.extend(combined_settings::find_missing_hooks(&installed, context));
    if found.is_empty() {
        let what = "no client with hooks is installed on this machine";
        found.push(
            DoctorFinding::skipped("none", what)
                .remedy("`recoup init` adds its hooks to such a client once it is installed"),
        );
    }
    found
}

/// Checks each client's files, and tests this program once for each client that calls it.
fn check_clients(
    installed: &[&ClientInstallation],
    context: &DoctorContext,
) -> recoup_core::Result<Vec<DoctorFinding>> {
    let sandbox = ProbeSandbox::new(context)?;
    let mut found = Vec::new();
    for client in AgentClient::ALL {
        let of: Vec<&ClientInstallation> =
            installed.iter().copied().filter(|it| it.client == client).collect();
        found.extend(probe_client(client, &of, &sandbox, context));
        found.extend(of.iter().flat_map(|of| check_file(of, context)));
    }
    Ok(found)
}

/// Sends the client's events to this program, if any of its hooks starts it.
fn probe_client(
    client: AgentClient,
    of: &[&ClientInstallation],
    sandbox: &ProbeSandbox,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let is_ours =
        |hook: &HookCommand| InstalledCommand::of(&hook.call, context) == InstalledCommand::Ours;
    let ours = of.iter().filter(|it| it.hooks.iter().any(is_ours));
    let levels: Vec<&str> = ours.map(|it| it.level.as_str()).collect();
    let (hooks, program) = (client.spec().hooks.as_ref()?, context.program.as_ref()?);
    if levels.is_empty() {
        return None;
    }
    let name = format!("{} ({})", client.title(), levels.join(", "));
    let fired = fire_events(program, hooks, sandbox);
    let finding = probe_finding(&name, &fired, program, context.has_our_hooks(client), context)
        .fact("commands", of.iter().map(|it| it.hooks.len()).sum::<usize>())
        .fact("client", client.as_str());
    Some(match client.version(&context.places) {
        Some(version) => finding.fact("client_version", FindingFact::version(&version.to_string())),
        None => finding,
    })
}

fn probe_finding(
    name: &str,
    fired: &HookProbeResult,
    program: &Path,
    is_called: bool,
    context: &DoctorContext,
) -> DoctorFinding {
    let HookProbeResult { sound, slowest, fault, has_rule } = fired;
    let millis = u64::try_from(slowest.as_millis()).unwrap_or(u64::MAX);
    let program = context.display_path(program);
    let answers = format!("{program} answers {sound} events, the slowest in {millis} ms");
    let found = if let Some((event, fault)) = fault {
        let what = format!("{name}: {program} {} ({event})", fault.what);
        DoctorFinding::fail(fault.code, what).remedy(ProbeError::REMEDY)
    } else if !has_rule {
        DoctorFinding::warn("no-rules", format!("{name}: {answers}, but delivers no rules"))
            .remedy(ProbeError::REMEDY)
    } else if *slowest > SLOW {
        DoctorFinding::warn("slow", format!("{name}: {answers}"))
            .remedy("the machine is very busy, or the program is on a slow disk")
    } else {
        let delivers = if is_called { ", rules are delivered" } else { "" };
        DoctorFinding::ok(format!("{name}: {answers}{delivers}"))
    };
    found.fact("fired", *sound).fact("slowest_ms", millis)
}

/// Checks one settings file.
fn check_file(of: &ClientInstallation, context: &DoctorContext) -> Vec<DoctorFinding> {
    let name = format!("{} ({})", of.client.title(), of.level.as_str());
    let mut calls: Vec<&RecoupCall> = Vec::new();
    for hook in &of.hooks {
        if !calls.contains(&&hook.call) {
            calls.push(&hook.call);
        }
    }
    let faults = calls.iter().filter_map(|call| find_command_fault(&name, call, of, context));
    let mut found: Vec<DoctorFinding> = faults.collect();
    // The rest can wait until the program is there.
    if !found.iter().any(|it| it.state == FindingState::Fail) {
        let others =
            [find_unsupported_hooks(&name, of, context), find_incomplete_hooks(&name, of, context)];
        found.extend(others.into_iter().flatten().map(|it| it.about(of)));
    }
    found
}

/// Reports hooks that the installed version of the client does not understand.
fn find_unsupported_hooks(
    name: &str,
    of: &ClientInstallation,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let version = of.client.version(&context.places)?;
    let unknown = of.client.unknown_events(&context.places);
    let is_unknown = |event: &&str| hooks_for_event(of, event).next().is_some();
    let unknown: Vec<&str> = unknown.into_iter().filter(is_unknown).collect();
    let has_args = |hook: &HookCommand| matches!(hook.call.how, CallForm::Words(_));
    let (finding, does) = if !unknown.is_empty() {
        let events = unknown.join(", ");
        let shown = context.places.display_path(&of.path);
        let what = format!(
            "{name}: version {version} does not support {events}, and ignores all of {shown}"
        );
        (DoctorFinding::fail("unknown-event", what), "removes them")
    } else if of.client.lacks_args(&context.places) && of.hooks.iter().any(has_args) {
        let what = format!(
            "{name}: version {version} does not support `args` of a hook, and starts the program \
             without them"
        );
        (DoctorFinding::warn("unknown-args", what), "writes them as shell commands")
    } else {
        return None;
    };
    Some(offer_reinstall(finding, of, context, does))
}

/// Reports hooks that this version would install and that are missing or limited.
fn find_incomplete_hooks(
    name: &str,
    of: &ClientInstallation,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let by_hand = of.hooks.iter().any(|hook| hook.call.wrapped);
    let untimed = of.hooks.iter().filter(|hook| hook.event.is_some() && hook.timeout.is_none());
    let untimed = untimed.count();
    let missing = missing_events(of, context);
    let is_limited = |hook: &HookCommand| hook.limit.is_some() || hook.in_background;
    let mut limited = expected_events(of, context);
    limited.retain(|event| {
        hooks_for_event(of, event).next().is_some() && hooks_for_event(of, event).all(is_limited)
    });
    let (code, what) = if !missing.is_empty() {
        let noun = if missing.len() == 1 { "a hook is" } else { "hooks are" };
        ("events-missing", format!("{name}: {noun} missing for {}", missing.join(", ")))
    } else if !limited.is_empty() {
        (
            "limited",
            format!(
                "{name}: for {}, recoup does not see every call: a matcher limits the hook, or it \
                 is `async`",
                limited.join(", ")
            ),
        )
    } else if untimed > 0 {
        let who = match untimed {
            1 => "1 hook has no timeout".to_owned(),
            all => format!("{all} hooks have no timeout"),
        };
        ("no-timeout", format!("{name}: {who}"))
    } else {
        return None;
    };
    // Events without a hook are lost. A project's settings are its team's: only a warning.
    let is_broken = !missing.is_empty() && of.level == InstallLevel::User;
    let make = if is_broken { DoctorFinding::fail } else { DoctorFinding::warn };
    let finding = make(code, what);
    let finding = finding.fact("missing", missing.len()).fact("untimed", untimed);
    Some(if by_hand {
        finding.remedy("these commands were written by hand: add what is missing there")
    } else {
        offer_reinstall(finding, of, context, "updates them")
    })
}

/// Events without a hook of ours in any file that counts here: the user's files count in every
/// project.
fn missing_events(of: &ClientInstallation, context: &DoctorContext) -> Vec<&'static str> {
    let is_beside = |it: &&ClientInstallation| {
        it.client == of.client && (it.level == of.level || it.level == InstallLevel::User)
    };
    let beside: Vec<&ClientInstallation> = context.installed.iter().filter(is_beside).collect();
    let is_missing =
        |event: &&str| beside.iter().all(|it| hooks_for_event(it, event).next().is_none());
    expected_events(of, context).into_iter().filter(is_missing).collect()
}

/// Events for which a file should have a hook.
fn expected_events(of: &ClientInstallation, context: &DoctorContext) -> Vec<&'static str> {
    let slots = of.client.settings_files(of.level, &context.places);
    let slot = slots.iter().find(|slot| slot.path == of.path);
    let hooks = slot.and_then(|slot| slot.hooks.as_ref());
    hooks.into_iter().flat_map(|hooks| &hooks.events).map(|(event, _)| *event).collect()
}

fn hooks_for_event<'a>(
    of: &'a ClientInstallation,
    event: &'a str,
) -> impl Iterator<Item = &'a HookCommand> {
    of.hooks.iter().filter(move |hook| hook.event.as_deref() == Some(event))
}
