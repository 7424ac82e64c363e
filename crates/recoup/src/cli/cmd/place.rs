//! The flags `--store` and `--scope`, the same for all commands that use entries.

use clap::Args;
use recoup_core::{Error, Result};

use crate::config::FlagOverrides;

/// `--store` and `--scope`.
#[derive(Debug, Clone, Args)]
pub(super) struct StoreScopeArgs {
    /// The store of the entries [default: sqlite:~/.recoup/cache.db]
    #[arg(long, global = true, display_order = 100, value_name = "URL")]
    store: Option<String>,
    /// The scope of the entries: project, global, tenant:NAME or session:NAME [default: project]
    #[arg(long, global = true, display_order = 101, value_name = "SCOPE")]
    scope: Option<String>,
}

impl StoreScopeArgs {
    /// Refuses both flags for a command that uses no entries itself.
    pub(super) fn demand_none(&self, command: &str) -> Result<()> {
        if self.store.is_none() && self.scope.is_none() {
            return Ok(());
        }
        let message = format!("`{command}` has no --store and no --scope: it touches no entries");
        Err(Error::usage(message))
    }

    pub(super) fn overrides(&self) -> FlagOverrides {
        let Self { store, scope } = self.clone();
        FlagOverrides { store, scope }
    }
}
