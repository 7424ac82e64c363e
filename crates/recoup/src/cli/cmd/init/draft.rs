//! The changes of `recoup init` for all clients, computed before anything is written, and again if
//! a file has changed meanwhile.

use recoup_core::{Error, ErrorKind, Result};

use super::Around;
use crate::config;
use crate::install::answers::{self, Answer};
use crate::install::{self, Change, Client, Plan, Wish};

/// A client that can't be set up, and why.
pub(super) type Failed = (Client, Error);

/// All changes of one `init`.
pub(super) struct Draft {
    pub(super) plans: Vec<Plan>,
    pub(super) failed: Vec<Failed>,
    /// Our own configuration, with the answers.
    pub(super) settings: Change,
}

impl Draft {
    /// Computes the changes for each client. An error of a named client is fatal; a client that was
    /// only found is left out.
    pub(super) fn make(
        named: &[Client],
        wish: &Wish<'_>,
        answers: &[Answer],
        around: &Around,
    ) -> Result<Self> {
        let here = |client: &Client| client.is_here(wish.places);
        let clients: Vec<Client> = match named {
            [] => Client::ALL.into_iter().filter(here).collect(),
            named => Client::ALL.into_iter().filter(|client| named.contains(client)).collect(),
        };
        let (mut plans, mut failed) = (Vec::new(), Vec::new());
        for client in clients {
            match Plan::behind(&plans, client, wish) {
                Ok(plan) => plans.push(plan),
                Err(error) if named.is_empty() => {
                    let left_out = format!("{} is left out", client.title());
                    failed.push((client, error.context(left_out)));
                }
                Err(error) => return Err(error.context("nothing was changed")),
            }
        }
        let settings = answers::written(&around.config, answers, &around.places)?;
        demand_sound(&settings, &around.places)?;
        Ok(Self { plans, failed, settings })
    }

    /// True if there is no client at all.
    pub(super) fn is_for_nobody(&self) -> bool {
        self.plans.is_empty() && self.failed.is_empty()
    }

    /// True if anything is to be written.
    pub(super) fn is_any(&self) -> bool {
        self.settings.is_any() || self.plans.iter().any(Plan::is_any)
    }

    /// All changes, in the order in which they are written.
    pub(super) fn changes(&self) -> Vec<Change> {
        let of_plans = self.plans.iter().flat_map(|plan| &plan.changes);
        of_plans.chain([&self.settings]).cloned().collect()
    }

    /// Clients without hooks, of which only MCP calls reach us.
    pub(super) fn clients_without_hooks(&self) -> Vec<Client> {
        let clients = self.plans.iter().map(|plan| plan.client);
        clients.filter(|client| client.with_hooks().is_none()).collect()
    }

    /// Names of other memory tools that were found, without duplicates.
    pub(super) fn peers(&self) -> Vec<&'static str> {
        let peers = self.plans.iter().flat_map(|plan| &plan.peers);
        let mut names: Vec<&str> = peers.map(|peer| peer.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Refuses to write a configuration that is invalid or would become so: every command reads it.
fn demand_sound(change: &Change, places: &install::Places) -> Result<()> {
    if !change.is_any() {
        return Ok(());
    }
    let shown = places.shown(&change.path);
    for (text, remedy) in [
        (&change.before, "mend it first (`recoup config check`)"),
        (&change.after, "this is a fault of recoup's own"),
    ] {
        let text = String::from_utf8_lossy(text.as_deref().unwrap_or_default());
        if let Some(problem) = config::problems_of_user_file(&text, &shown).first() {
            let message = format!("{problem}; nothing was changed: {remedy}");
            return Err(Error::new(ErrorKind::Invalid, message));
        }
    }
    Ok(())
}
