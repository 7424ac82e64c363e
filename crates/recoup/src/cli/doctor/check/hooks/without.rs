//! Clients on this machine without our hooks.

use super::CHECK;
use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;
use crate::cli::doctor::fix::{in_the_way, init_for, obstacle};
use crate::install::{Client, Holds, Installation, Level, Slot};

/// Reports clients without our hooks, and how to install them.
pub(super) fn find(installed: &[&Installation], around: &Around) -> Vec<Finding> {
    // Unreadable files are already reported.
    let unreadable: Vec<&Installation> =
        around.installed.iter().filter(|of| of.fault.is_some()).collect();
    let is_bare = |client: &Client| {
        client.with_hooks().is_some()
            && client.is_here(&around.places)
            && !installed.iter().any(|of| of.client == *client)
            && !unreadable.iter().any(|of| of.client == *client)
    };
    let found = |client: Client| {
        let title = client.title();
        if client.with_hooks().is_some_and(|client| around.has_our_hooks(client)) {
            let what =
                format!("{title} has our hooks in a file that others share, or write: not fired");
            return Finding::skipped(CHECK, "elsewhere", what).fact("client", client.as_str());
        }
        bare(client, around).fact("client", client.as_str())
    };
    Client::ALL.into_iter().filter(is_bare).map(found).collect()
}

/// Finding for a client without our hooks.
fn bare(client: Client, around: &Around) -> Finding {
    let title = client.title();
    let init = init_for(client, Level::User);
    let remedy = format!("`{init}` hooks recoup in");
    if let Some(error) = obstacle(client, around) {
        let what = format!("{title} is here, and `{init}` can't put our hooks in");
        return Finding::warn(CHECK, "not-installable", what).remedy(in_the_way(&error));
    }
    let slots = client.slots(Level::User, &around.places);
    let is_of_hooks = |slot: &&Slot| matches!(slot.holds, Holds::Hooks(_) | Holds::Extension);
    if slots.iter().filter(is_of_hooks).any(|slot| around.was_put_in(slot)) {
        let what = format!("{title} had our hooks, and they are gone");
        return Finding::warn(CHECK, "lost", what).remedy(format!("`{init}` puts them back"));
    }
    let what = format!("{title} is here, and does not have our hooks");
    Finding::skipped(CHECK, "not-installed", what).remedy(remedy)
}
