//! `recoup cache cleanup`.

use clap::Args;
use recoup_core::cache::CacheLimits;
use recoup_core::store::EvictionReport;
use recoup_core::{Error, Result};
use serde::Serialize;

use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::config::megabytes_in_bytes;

/// Delete what has expired, then what was used least recently until the rest is under the limit.
#[derive(Debug, Args)]
pub(super) struct CacheCleanupArgs {
    /// The limit for this scope, in MB [default: as at each write]
    #[arg(long, value_name = "N")]
    max_size_mb: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CacheCleanupReport {
    expired: u64,
    evicted: u64,
    freed_bytes: u64,
}

impl CacheCleanupArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let cache = app.cache();
        let limits = match &self.max_size_mb {
            Some(text) => CacheLimits { max_bytes: Some(parse_limit(text)?), ..cache.limits() },
            None => cache.limits(),
        };
        let EvictionReport { expired, least_used, bytes, .. } =
            cache.clean_up(&app.scope(), limits)?;
        if self.json {
            ui::json(&CacheCleanupReport { expired, evicted: least_used, freed_bytes: bytes })?;
        } else {
            ui::say(format_args!(
                "Removed {expired} expired and {least_used} least recently used entries ({})",
                human::size(bytes)
            ));
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Parses `--max-size-mb`: whole or fractional, and unlike in the configuration also 0.
fn parse_limit(text: &str) -> Result<u64> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|number| (0.0..=1e9).contains(number)).map(megabytes_in_bytes).ok_or_else(|| {
        Error::usage(format!("invalid --max-size-mb {text:?}: expected a number of MB such as 50"))
    })
}
