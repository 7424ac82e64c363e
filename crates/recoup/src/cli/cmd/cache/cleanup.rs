//! `recoup cache cleanup`.

use clap::Args;
use recoup_core::cache::Limits;
use recoup_core::store::Evicted;
use recoup_core::{Error, Result};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::{Answer, Ended, human, ui};

/// Delete what has expired, then what was used least recently until the rest is under the limit.
#[derive(Debug, Args)]
pub(super) struct CleanupArgs {
    /// The limit for this scope, in MiB [default: as at each write]
    #[arg(long, value_name = "N")]
    max_size_mb: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    expired: u64,
    evicted: u64,
    freed_bytes: u64,
}

impl CleanupArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let cache = app.cache();
        let limits = match &self.max_size_mb {
            Some(text) => Limits { max_bytes: Some(mebibytes(text)?), ..cache.limits() },
            None => cache.limits(),
        };
        let Evicted { expired, least_used, bytes } = cache.clean_up(&app.scope(), limits)?;
        if self.json {
            ui::json(&Report { expired, evicted: least_used, freed_bytes: bytes })?;
        } else {
            ui::say(format_args!(
                "Removed {expired} expired and {least_used} least recently used entries ({})",
                human::size(bytes)
            ));
        }
        Ok(Answer::Yes)
    }
}

/// A number of MiB, whole or with a fraction.
fn mebibytes(text: &str) -> Result<u64> {
    let number = text.trim().parse::<f64>().ok();
    let number = number.filter(|number| (0.0..=1e9).contains(number)).ok_or_else(|| {
        Error::usage(format!("invalid --max-size-mb {text:?}: expected a number of MiB such as 50"))
    })?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in range, and a byte more or less does not matter"
    )]
    Ok((number * f64::from(1 << 20)) as u64)
}
