//! Checks the hooks in clients' settings: their program exists, is ours and of this version, and
//! answers events.

mod combined_settings;
mod fire;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clients::CallForm;

use super::client_files::{self, ClientFileRole};
use crate::doctor::DoctorContext;
use crate::doctor::client_program::{
    ClientProgram, OUR_VERSION, ask_version, find_program, permitted_call,
};
use crate::doctor::finding::{DoctorFinding, FindingFact};
use crate::doctor::fix::offer_reinstall;
use crate::doctor::sandbox::ProbeSandbox;
use crate::install::{ClientInstallation, HookCommand, InstallLevel, SettingsContent};
pub(super) use combined_settings::enable_hooks_remedy;
use fire::{HookProbeResult, fire_events};

const CHECK: &str = "hooks";

/// Longer than this, people notice every call.
const SLOW: Duration = Duration::from_secs(1);

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let with_hooks =
        |of: &&ClientInstallation| of.client.as_hook_client().is_some() && !of.hooks.is_empty();
    let installed: Vec<&ClientInstallation> = context.installed.iter().filter(with_hooks).collect();
    let mut found = client_files::find_malformed(CHECK, ClientFileRole::Hooks, context);
    if !installed.is_empty() {
        match ProbeSandbox::new(context) {
            Ok(sandbox) => {
                found.extend(
                    installed.iter().flat_map(|of| check_installation(of, &sandbox, context)),
                );
            }
            Err(error) => found.push(
                DoctorFinding::fail(
                    CHECK,
                    "no-room",
                    format!("the hooks could not be tested: {error}"),
                )
                .remedy("free some space in the temporary directory (TMPDIR)"),
            ),
        }
    }
    found.extend(combined_settings::find(&installed, context));
    found.extend(combined_settings::find_missing_hooks(&installed, context));
    if found.is_empty() {
        found.push(
            DoctorFinding::skipped(
                CHECK,
                "none",
                "no client with hooks is installed on this machine",
            )
            .remedy("`recoup init` adds its hooks to such a client once it is installed"),
        );
    }
    found
}

/// Checks one settings file.
fn check_installation(
    of: &ClientInstallation,
    sandbox: &ProbeSandbox,
    context: &DoctorContext,
) -> Vec<DoctorFinding> {
    let said = |finding: DoctorFinding| {
        let finding = finding.fact("client", of.client.as_str()).fact("level", of.level.as_str());
        match of.client.version(&context.places) {
            Some(version) => {
                finding.fact("client_version", FindingFact::version(&version.to_string()))
            }
            None => finding,
        }
    };
    let Some(client) = of.client.as_hook_client() else { return Vec::new() };
    let shown = context.places.display_path(&of.path);
    let title = of.client.title();
    let name = format!("{title} ({})", of.level.as_str());
    let mut calls = of.hooks.iter().map(|hook| &hook.call);
    let unusable = calls.find_map(|call| Some((call, find_program(call, context).fault()?)));
    if let Some((call, (why, code))) = unusable {
        let what = format!("{name}: {} {why}; it is named in {shown}", call.started());
        let finding = DoctorFinding::fail(CHECK, code, what);
        return vec![said(if call.wrapped {
            finding.remedy("this command was written by hand: correct it there")
        } else {
            offer_reinstall(finding, of, context, "sets it to this program")
        })];
    }
    let fired = fire_events(client, of, sandbox, context);
    let mut found = vec![said(probe_finding(&name, &fired, of, context))];
    found.extend(find_unsupported_hooks(&name, of, context).map(said));
    found.extend(find_version_mismatch(&name, of, context).map(said));
    found.extend(find_incomplete_hooks(&name, of, context).map(said));
    found
}

/// Summarizes the probe in one finding.
fn probe_finding(
    name: &str,
    fired: &HookProbeResult,
    of: &ClientInstallation,
    context: &DoctorContext,
) -> DoctorFinding {
    let HookProbeResult { sound, slowest, faults, rule, withheld } = fired;
    let millis = u64::try_from(slowest.as_millis()).unwrap_or(u64::MAX);
    let found = if let Some((event, fault)) = faults.first() {
        let more = match faults.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        let what = format!("{name}: {event}: {}{more}", fault.describe());
        let found = DoctorFinding::fail(CHECK, fault.code(), what).remedy(fault.remedy());
        // `recoup init` is offered if it would replace the failing program with this one.
        let offered = offer_reinstall(found.clone(), of, context, "sets it to this program");
        let is_by_hand = of.hooks.iter().any(|hook| hook.call.wrapped);
        if offered.fix.is_some() && !is_by_hand { offered } else { found }
    } else if let (Some(why), 0) = (withheld.first(), *sound) {
        let what = format!("{name}: its command was not tested: {}", why.describe());
        let shown = context.places.display_path(&of.path);
        DoctorFinding::skipped(CHECK, "withheld", what)
            .remedy(format!("check it yourself in {shown}"))
    } else if *sound == 0 {
        let what = format!("{name}: recoup's hook is set for no event that recoup knows");
        DoctorFinding::skipped(CHECK, "no-events", what)
            .remedy("`recoup init` adds it to the right events")
    } else if *rule == Some(false) {
        let what = format!("{name}: the hook works, but gives the agent no rules");
        DoctorFinding::warn(CHECK, "no-rules", what)
            .remedy("it may start another version of recoup: check which program it names")
    } else if *slowest > SLOW {
        let what = format!("{name}: {sound} events answered, the slowest in {millis} ms");
        DoctorFinding::warn(CHECK, "slow", what)
            .remedy("the machine is very busy, or the program is on a slow disk")
    } else {
        let program = of.hooks.first().map_or("", |hook| hook.call.started());
        let program = context.display_path(Path::new(program));
        DoctorFinding::ok(CHECK, format!("{name}: {program} {}", describe_answers(fired, millis)))
    };
    found.fact("commands", of.hooks.len()).fact("fired", *sound).fact("slowest_ms", millis)
}

/// Describes the answers if all is well.
fn describe_answers(fired: &HookProbeResult, millis: u64) -> String {
    let HookProbeResult { sound, rule, withheld, .. } = fired;
    let noun = if *sound == 1 { "event" } else { "events" };
    let rules = if *rule == Some(true) { ", rules are delivered" } else { "" };
    let others = withheld.first().map_or(String::new(), |why| {
        format!("; {} not tested: {}", withheld.len(), why.describe())
    });
    format!("answers {sound} {noun}, the slowest in {millis} ms{rules}{others}")
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
        (DoctorFinding::fail(CHECK, "unknown-event", what), "removes them")
    } else if of.client.lacks_args(&context.places) && of.hooks.iter().any(has_args) {
        let what = format!(
            "{name}: version {version} does not support `args` of a hook, and starts the program \
             without them"
        );
        (DoctorFinding::warn(CHECK, "unknown-args", what), "writes them as shell commands")
    } else {
        return None;
    };
    Some(offer_reinstall(finding, of, context, does))
}

/// Reports programs of another version than this one.
fn find_version_mismatch(
    name: &str,
    of: &ClientInstallation,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let programs: BTreeSet<PathBuf> = of
        .hooks
        .iter()
        // Only the starter knows which program it would start.
        .filter(|hook| hook.call.starter.is_none())
        .filter_map(|hook| permitted_call(&hook.call, of, context).ok())
        .filter_map(|call| match find_program(&call, context) {
            ClientProgram::Here(path) => Some(path),
            _ => None,
        })
        .collect();
    let other = programs.iter().find_map(|path| {
        let version =
            ask_version(path, context).unwrap_or_else(|| "of an unknown version".to_owned());
        (version != OUR_VERSION).then_some((path, version))
    });
    let (path, version) = other?;
    let what = format!(
        "{name}: its hooks start recoup {version} at {}, but this is {OUR_VERSION}",
        context.display_path(path)
    );
    Some(
        DoctorFinding::warn(CHECK, "other-version", what)
            .remedy(version_remedy(&version))
            .fact("version", FindingFact::version(&version)),
    )
}

/// Remedy for a program of another or an unknown version.
pub(super) fn version_remedy(version: &str) -> &'static str {
    if version.starts_with(|c: char| c.is_ascii_digit()) {
        "replace the older one, or run `recoup init` to use another path"
    } else {
        "check what that program is; `recoup init` sets it to this one"
    }
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
    let finding = make(CHECK, code, what);
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
    let Some(SettingsContent::Hooks(hooks)) = slot.map(|slot| &slot.holds) else {
        return Vec::new();
    };
    hooks.events.iter().map(|(event, _)| *event).collect()
}

fn hooks_for_event<'a>(
    of: &'a ClientInstallation,
    event: &'a str,
) -> impl Iterator<Item = &'a HookCommand> {
    of.hooks.iter().filter(move |hook| hook.event.as_deref() == Some(event))
}
