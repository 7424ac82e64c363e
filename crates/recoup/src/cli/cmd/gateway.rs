//! `recoup gateway`: serves model APIs with cached answers, and looks after a gateway that runs.

mod purge;
mod status;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, Subcommand};
use recoup_core::base::FaultLog;
use recoup_core::base::fsx;
use recoup_core::{Error, Result};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::cli::app::App;
use crate::cli::cmd::place::StoreScopeArgs;
use crate::cli::failure::warn;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::{GatewaySettings, ResolvedSettings, env};
use crate::gateway::{GatewaySetup, serve};

/// Serve model APIs with cached answers.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct GatewayArgs {
    /// The address to listen at [default: gateway.listen, or 127.0.0.1:8787]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// How long answers are kept for which the configuration gives no duration
    #[arg(long, value_name = "DURATION")]
    ttl: Option<String>,
    #[command(flatten)]
    place: StoreScopeArgs,
    #[command(subcommand)]
    action: Option<GatewayAction>,
}

#[derive(Debug, Subcommand)]
enum GatewayAction {
    /// Show what a gateway that runs does, and has done
    Status(status::StatusArgs),
    /// Remove stored answers
    Purge(purge::PurgeArgs),
}

/// Prints faults of the store, and counts them.
#[derive(Debug, Default)]
struct FaultCounter(Arc<AtomicU64>);

impl FaultLog for FaultCounter {
    fn fault(&self, source: &str, error: &Error) {
        // Warnings about settings come this way, too.
        if source != "configuration" {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        warn(error);
    }
}

const AFTER_HELP: &str = "\
Programs only change their base URL:
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 python evaluate.py
  OPENAI_BASE_URL=http://127.0.0.1:8787/v1 node agent.js

Nothing is cached unless a duration is given: --ttl, `ttl` in [gateway] of your configuration file, \
or the header Recoup-TTL of a request. The header Recoup-Cache of an answer says what happened and why.";

/// File with the key that makes fingerprints of credentials.
const KEY_FILE: &str = "gateway-key";
const KEY_BYTES: usize = 32;

impl GatewayArgs {
    pub(in crate::cli) fn run(mut self) -> CommandResult {
        if self.place.overrides().scope.is_some() {
            let message = "the gateway's scopes are its tenants: omit --scope";
            return Err(Error::usage(message).into());
        }
        match self.action.take() {
            None => self.serve(),
            Some(_) if self.ttl.is_some() => {
                Err(Error::usage("--ttl is for a gateway that is started").into())
            }
            Some(GatewayAction::Status(status)) => {
                let app = App::load(&self.place.overrides())?;
                status.run(&self.apply_to(app.settings.gateway.clone())?)
            }
            Some(GatewayAction::Purge(purge)) => purge.run(App::load(&self.place.overrides())?),
        }
    }

    fn serve(self) -> CommandResult {
        let faults = FaultCounter::default();
        let store_errors = Arc::clone(&faults.0);
        let app = App::load_with(&self.place.overrides(), faults)?;
        let settings = self.apply_to(app.settings.gateway.clone())?;
        app.prepare_cache()?;
        fsx::ensure_private_dir(&app.settings.home)?;
        let reload = || {
            let loaded = ResolvedSettings::load(&self.place.overrides())?;
            Ok((self.apply_to(loaded.gateway)?, loaded.prices))
        };
        let setup = GatewaySetup {
            cache: app.cache_of_gateway(),
            store: app.settings.store.to_string(),
            store_errors,
            settings,
            prices: app.settings.prices.clone(),
            home: app.settings.home.clone(),
            fingerprint_key: fingerprint_key(&app.settings.home)?,
            key_of: &env::api_key,
            reload: &reload,
            tell: &|text| ui::say(format_args!("{text}")),
        };
        serve(&setup, |url| {
            // The reader of stdout may have gone; the server is there all the same.
            let _ = ui::line(url);
            Ok(())
        })?;
        Ok(CommandAnswer::Yes)
    }

    fn apply_to(&self, settings: GatewaySettings) -> Result<GatewaySettings> {
        let mut settings = settings;
        settings.listen = self.listen.unwrap_or(settings.listen);
        if let Some(ttl) = &self.ttl {
            settings.set_general_ttl(recoup_core::cache::Ttl::parse_with_unit("--ttl", ttl)?);
        }
        Ok(settings)
    }
}

/// The key in its file, which is created.
fn fingerprint_key(home: &std::path::Path) -> Result<Vec<u8>> {
    let path = home.join(KEY_FILE);
    if let Some(key) = fsx::read_regular(&path, 1 << 10)?.filter(|key| key.len() == KEY_BYTES) {
        return Ok(key);
    }
    let mut key = vec![0; KEY_BYTES];
    getrandom(&mut key, GetRandomFlags::empty()).map_err(|error| {
        Error::new(recoup_core::ErrorKind::Io, "no random numbers").with_source(error)
    })?;
    fsx::write_atomic(&path, &key)?;
    Ok(key)
}
