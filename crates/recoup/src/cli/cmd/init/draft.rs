//! The changes of `recoup init` for all clients, computed before anything is written, and again if
//! a file has changed meanwhile.

use recoup_core::{Error, ErrorKind, Result};

use super::InitContext;
use crate::config;
use crate::install::answers::{self, ConfigAnswer};
use crate::install::{self, AgentClient, FileChange, InstallPlan, InstallRequest};

/// A client that can't be set up, and why.
pub(super) type FailedClient = (AgentClient, Error);

/// All changes of one `init`.
pub(super) struct InitDraft {
    pub(super) plans: Vec<InstallPlan>,
    pub(super) failed: Vec<FailedClient>,
    /// Our own configuration, with the answers.
    pub(super) settings: FileChange,
}

impl InitDraft {
    /// Computes the changes for each client. An error of a named client is fatal; a client that was
    /// only found is left out.
    pub(super) fn compute(
        named: &[AgentClient],
        wish: &InstallRequest<'_>,
        answers: &[ConfigAnswer],
        around: &InitContext,
    ) -> Result<Self> {
        let here = |client: &AgentClient| client.is_present(wish.places);
        let clients: Vec<AgentClient> = match named {
            [] => AgentClient::ALL.into_iter().filter(here).collect(),
            named => AgentClient::ALL.into_iter().filter(|client| named.contains(client)).collect(),
        };
        let (mut plans, mut failed) = (Vec::new(), Vec::new());
        for client in clients {
            match InstallPlan::make_after(&plans, client, wish) {
                Ok(plan) => plans.push(plan),
                Err(error) if named.is_empty() => {
                    let left_out = format!("{} is left out", client.title());
                    failed.push((client, error.context(left_out)));
                }
                Err(error) => return Err(error.context("nothing was changed")),
            }
        }
        let settings = answers::plan_answers(&around.config, answers, &around.places)?;
        ensure_valid_config(&settings, &around.places)?;
        Ok(Self { plans, failed, settings })
    }

    /// True if there is no client at all.
    pub(super) fn has_no_client(&self) -> bool {
        self.plans.is_empty() && self.failed.is_empty()
    }

    /// True if anything is to be written.
    pub(super) fn has_changes(&self) -> bool {
        self.settings.has_effect() || self.plans.iter().any(InstallPlan::has_changes)
    }

    /// All changes, in the order in which they are written.
    pub(super) fn changes(&self) -> Vec<FileChange> {
        let of_plans = self.plans.iter().flat_map(|plan| &plan.changes);
        of_plans.chain([&self.settings]).cloned().collect()
    }

    /// Clients without hooks, of which only MCP calls reach us.
    pub(super) fn clients_without_hooks(&self) -> Vec<AgentClient> {
        let clients = self.plans.iter().map(|plan| plan.client);
        clients.filter(|client| client.as_hook_client().is_none()).collect()
    }

    /// Names of other memory tools that were found, without duplicates.
    pub(super) fn peer_names(&self) -> Vec<&'static str> {
        let peers = self.plans.iter().flat_map(|plan| &plan.peers);
        let mut names: Vec<&str> = peers.map(|peer| peer.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Refuses to write a configuration that is invalid or would become so: every command reads it.
fn ensure_valid_config(change: &FileChange, places: &install::InstallPaths) -> Result<()> {
    if !change.has_effect() {
        return Ok(());
    }
    let shown = places.display_path(&change.path);
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
