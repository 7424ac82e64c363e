//! Files that a client cannot parse: nothing in them takes effect.

use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::install::{ClientInstallation, SettingsContent};

/// Purpose of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientFileRole {
    Hooks,
    Servers,
}

/// Reports malformed files of that role, each path once: clients and levels may share a file.
pub(super) fn find(
    check: &'static str,
    kind: ClientFileRole,
    context: &DoctorContext,
) -> Vec<DoctorFinding> {
    let mut known = Vec::new();
    let all = context.installed.iter().filter(|of| is_malformed_with_role(of, kind, context));
    let all = all.filter(|of| {
        let is_new = !known.contains(&&of.path);
        known.push(&of.path);
        is_new
    });
    all.filter_map(|of| malformed_finding(check, of, context)).collect()
}

fn malformed_finding(
    check: &'static str,
    of: &ClientInstallation,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let (title, shown) = (of.client.title(), context.places.display_path(&of.path));
    let what = format!("{title} can't read {shown}: {}", of.fault.as_ref()?);
    let finding = if of.client.is_present(&context.places) {
        DoctorFinding::fail(check, "malformed", what)
    } else {
        DoctorFinding::warn(check, "malformed", what)
    };
    let finding = finding.remedy("mend the file: nothing in it counts until then");
    Some(finding.fact("client", of.client.as_str()).fact("level", of.level.as_str()))
}

fn is_malformed_with_role(
    of: &ClientInstallation,
    kind: ClientFileRole,
    context: &DoctorContext,
) -> bool {
    let slots = of.client.settings_files(of.level, &context.places);
    let slot = slots.iter().find(|slot| slot.path == of.path);
    let found = slot.map(|slot| match slot.holds {
        SettingsContent::Hooks(_) | SettingsContent::Extension => ClientFileRole::Hooks,
        SettingsContent::Servers(_) | SettingsContent::TomlServers => ClientFileRole::Servers,
    });
    of.fault.is_some() && found == Some(kind)
}
