//! The flags that say where entries are kept and who shares them, the same
//! wherever there are entries.

use clap::Args;

use crate::config::Overrides;

/// `--store` and `--scope`.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceArgs {
    /// Where entries are kept [default: sqlite:~/.recoup/cache.db]
    #[arg(long, global = true, display_order = 100, value_name = "URL")]
    store: Option<String>,
    /// Who shares them: project, global, tenant:NAME or session:NAME [default: project]
    #[arg(long, global = true, display_order = 101, value_name = "SCOPE")]
    scope: Option<String>,
}

impl PlaceArgs {
    pub(super) fn overrides(&self) -> Overrides {
        let Self { store, scope } = self.clone();
        Overrides { store, scope }
    }
}
