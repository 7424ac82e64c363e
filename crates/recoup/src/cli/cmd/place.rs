//! The flags `--store` and `--scope`, the same for all commands that use entries.

use clap::Args;

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
    pub(super) fn overrides(&self) -> FlagOverrides {
        let Self { store, scope } = self.clone();
        FlagOverrides { store, scope }
    }
}
