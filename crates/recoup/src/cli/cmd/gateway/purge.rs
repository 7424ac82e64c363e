//! `recoup gateway purge`: removes stored answers of model APIs.

use clap::Args;
use recoup_core::Error;
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::cmd::cache::is_key_or_prefix;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::gateway::PurgeRequest;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct PurgeArgs {
    /// The answer with this key, or with at least its first 8 characters, in all its forms
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Answers with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Answers of this model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Answers of this upstream
    #[arg(long, value_name = "NAME")]
    upstream: Option<String>,
    /// Answers for this tenant, and not for the local user
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// All answers of the local user, or of the tenant
    #[arg(long, conflicts_with_all = ["key", "tags", "model", "upstream"])]
    all: bool,
    /// Only count them
    #[arg(long)]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
If several criteria are given, all must match. Gateways that run notice it after 1.5 seconds. The \
header Recoup-Cache of an answer has its key.";

#[derive(Serialize)]
struct PurgeReport {
    purged: usize,
    dry_run: bool,
}

impl PurgeArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let Self { key, tags, model, upstream, tenant, all, dry_run, json } = self;
        let is_named = key.is_some() || !tags.is_empty() || model.is_some() || upstream.is_some();
        if !all && !is_named {
            return Err(Error::usage(
                "no answers selected: give --key KEY, --tag TAG, --model NAME or --upstream NAME, or --all",
            )
            .into());
        }
        if let Some(key) = key.as_deref().filter(|key| !is_key_or_prefix(key)) {
            let expected = "expected a key, or at least its first 8 characters";
            return Err(Error::usage(format!("--key: {key:?}: {expected}")).into());
        }
        let is_local = tenant.is_none();
        let request = PurgeRequest { key, tags, model, upstream, tenant, is_dry: dry_run };
        let purged = request.run(&app.cache())?;
        if json {
            ui::json(&PurgeReport { purged, dry_run })?;
        } else {
            ui::line(purged)?;
        }
        let tenants: Vec<&str> =
            app.settings.gateway.tenants.iter().map(|tenant| tenant.name.as_str()).collect();
        if purged == 0 && is_local && !tenants.is_empty() {
            ui::hint(format_args!(
                "these are the local user's answers; give --tenant for those of {}",
                tenants.join(", ")
            ));
        }
        Ok(CommandAnswer::Yes)
    }
}
