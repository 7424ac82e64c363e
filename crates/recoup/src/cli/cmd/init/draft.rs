//! What is to be written, worked out for all clients; and worked out anew where somebody was
//! faster.

use recoup_core::{Error, ErrorKind, Result};

use super::Around;
use crate::config;
use crate::install::answers::{self, Answer};
use crate::install::{self, Change, Client, Plan, Wish};

/// A client for which nothing can be done, and why.
pub(super) type Failed = (Client, Error);

/// What becomes of all files.
pub(super) struct Draft {
    pub(super) plans: Vec<Plan>,
    pub(super) failed: Vec<Failed>,
    /// Our own configuration with what was answered.
    pub(super) settings: Change,
}

impl Draft {
    /// What has to change for each client. One that was named must be possible; one that was
    /// only found is left out, and the others go on.
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

    /// Whether there is no client at all.
    pub(super) fn is_for_nobody(&self) -> bool {
        self.plans.is_empty() && self.failed.is_empty()
    }

    /// Whether anything is to be written.
    pub(super) fn is_any(&self) -> bool {
        self.settings.is_any() || self.plans.iter().any(Plan::is_any)
    }

    /// All of it, in the order in which it is written.
    pub(super) fn changes(&self) -> Vec<Change> {
        let of_plans = self.plans.iter().flat_map(|plan| &plan.changes);
        of_plans.chain([&self.settings]).cloned().collect()
    }

    /// The clients that tell us only what their agents store.
    pub(super) fn clients_without_hooks(&self) -> Vec<Client> {
        let clients = self.plans.iter().map(|plan| plan.client);
        clients.filter(|client| client.with_hooks().is_none()).collect()
    }

    /// The others that remember, by name, each once.
    pub(super) fn peers(&self) -> Vec<&'static str> {
        let peers = self.plans.iter().flat_map(|plan| &plan.peers);
        let mut names: Vec<&str> = peers.map(|peer| peer.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Every command reads our own configuration: nothing is written into one that is wrong, and
/// nothing that makes it so.
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
