//! Clients on this machine without our hooks.

use super::CHECK;
use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::doctor::fix::{find_install_obstacle, init_command, obstacle_remedy};
use crate::install::{
    AgentClient, ClientInstallation, InstallLevel, SettingsContent, SettingsFile,
};

/// Reports clients without our hooks, and how to install them.
pub(super) fn find(
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
    let found = |client: AgentClient| {
        let title = client.title();
        if client.as_hook_client().is_some_and(|client| context.has_our_hooks(client)) {
            let what =
                format!("{title} has our hooks in a file that others share, or write: not fired");
            return DoctorFinding::skipped(CHECK, "elsewhere", what)
                .fact("client", client.as_str());
        }
        missing_hooks_finding(client, context).fact("client", client.as_str())
    };
    AgentClient::ALL.into_iter().filter(is_bare).map(found).collect()
}

/// Finding for a client without our hooks.
fn missing_hooks_finding(client: AgentClient, context: &DoctorContext) -> DoctorFinding {
    let title = client.title();
    let init = init_command(client, InstallLevel::User);
    let remedy = format!("`{init}` hooks recoup in");
    if let Some(error) = find_install_obstacle(client, context) {
        let what = format!("{title} is here, and `{init}` can't put our hooks in");
        return DoctorFinding::warn(CHECK, "not-installable", what).remedy(obstacle_remedy(&error));
    }
    let slots = client.settings_files(InstallLevel::User, &context.places);
    let is_of_hooks = |slot: &&SettingsFile| {
        matches!(slot.holds, SettingsContent::Hooks(_) | SettingsContent::Extension)
    };
    if slots.iter().filter(is_of_hooks).any(|slot| context.was_installed(slot)) {
        let what = format!("{title} had our hooks, and they are gone");
        return DoctorFinding::warn(CHECK, "lost", what).remedy(format!("`{init}` puts them back"));
    }
    let what = format!("{title} is here, and does not have our hooks");
    DoctorFinding::skipped(CHECK, "not-installed", what).remedy(remedy)
}
