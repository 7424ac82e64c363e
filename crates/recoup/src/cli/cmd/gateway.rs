//! `recoup gateway`: serves model APIs with cached answers, and looks after a gateway that runs.

mod purge;
mod status;

use std::collections::HashMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, thread};

use clap::{Args, Subcommand};
use parking_lot::Mutex;
use recoup_core::base::FaultLog;
use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};
use rustix::rand::{GetRandomFlags, getrandom};
use tokio::sync::oneshot;

use crate::cli::app::App;
use crate::cli::cmd::place::StoreScopeArgs;
use crate::cli::failure::warn;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::{GatewaySettings, ResolvedSettings, env};
use crate::exec::{self, CommandEnd, ExecReporter, ProgramError, ResolvedProgram};
use crate::gateway::{
    CassetteMode, CassetteReplay, ExchangeRecorder, GatewaySetup, ReplaySummary, serve,
};

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
    /// Record every exchange in this cassette, which is replaced
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Answer from this cassette and ask nobody; status 424 for anything that is not in it
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    #[command(flatten)]
    place: StoreScopeArgs,
    #[command(subcommand)]
    action: Option<GatewayAction>,
    /// Run this command behind the gateway, on a port of its own, and end with it
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// True if a command is run behind it.
    #[arg(skip)]
    is_behind: bool,
}

#[derive(Debug, Subcommand)]
enum GatewayAction {
    /// Show what a gateway that runs does, and has done
    Status(status::StatusArgs),
    /// Remove stored answers
    Purge(purge::PurgeArgs),
}

/// Prints faults of the store, the same one not more often than every ten seconds, and counts all of them.
#[derive(Debug, Default)]
struct FaultCounter {
    count: Arc<AtomicU64>,
    printed: Mutex<HashMap<String, Timestamp>>,
}

/// Time for which the same fault is not printed again, in milliseconds.
const QUIET_MILLIS: u64 = 10_000;
/// Most faults that are remembered for that.
const MOST_FAULTS: usize = 100;

impl FaultLog for FaultCounter {
    fn fault(&self, source: &str, error: &Error) {
        // Warnings about settings come this way, too.
        if source != "configuration" {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        let (text, now) = (error.to_string(), SystemClock.now());
        let mut printed = self.printed.lock();
        if printed.get(&text).is_some_and(|at| now.millis_since(*at) < QUIET_MILLIS) {
            return;
        }
        if printed.len() >= MOST_FAULTS {
            printed.clear();
        }
        printed.insert(text, now);
        // Whoever reads stderr slowly must not hold up those who only count.
        drop(printed);
        warn(error);
    }
}

const AFTER_HELP: &str = "\
Programs only change their base URL:
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 python evaluate.py
  OPENAI_BASE_URL=http://127.0.0.1:8787/v1 node agent.js

A command behind `--` gets both variables, and its exit code is the gateway's:
  recoup gateway --ttl 7d -- python evaluate.py
  recoup gateway --record tests/api.cassette.json -- pytest
  recoup gateway --replay tests/api.cassette.json -- pytest

Nothing is cached unless a duration is given: --ttl, `ttl` in [gateway] of your configuration file, \
or the header Recoup-TTL of a request. The header Recoup-Cache of an answer says what happened and why.";

/// File with the key that makes fingerprints of credentials.
const KEY_FILE: &str = "gateway-key";
const KEY_BYTES: usize = 32;
/// Most exchanges that were not recorded and are named.
const MOST_OMISSIONS: usize = 20;

impl GatewayArgs {
    pub(in crate::cli) fn run(mut self) -> CommandResult {
        if self.place.overrides().scope.is_some() {
            let message = "the gateway's scopes are its tenants: omit --scope";
            return Err(Error::usage(message).into());
        }
        match self.action.take() {
            None => self.serve(),
            Some(_) if self.ttl.is_some() || self.record.is_some() || self.replay.is_some() => {
                let message = "--ttl, --record and --replay are for a gateway that is started";
                Err(Error::usage(message).into())
            }
            Some(GatewayAction::Status(status)) => {
                let app = App::load(&self.place.overrides())?;
                status.run(&self.apply_to(app.settings.gateway.clone())?)
            }
            Some(GatewayAction::Purge(purge)) => purge.run(App::load(&self.place.overrides())?),
        }
    }

    fn serve(mut self) -> CommandResult {
        let faults = FaultCounter::default();
        let store_errors = Arc::clone(&faults.count);
        let overrides = self.place.overrides();
        let app = App::load_with(&overrides, faults)?;
        let program = match self.find_program(&app.settings.cwd) {
            Some(Ok(program)) => Some(program),
            Some(Err(missing)) => {
                ui::say(format_args!("{missing}"));
                return Ok(CommandAnswer::Exit(missing.code));
            }
            None => None,
        };
        let cassette = self.cassette(&app.settings.gateway)?;
        let with_flags = |settings| -> Result<GatewaySettings> {
            let mut settings = self.apply_to(settings)?;
            if let CassetteMode::Replay(replay) = &cassette {
                settings.for_replay(&replay.upstreams());
            }
            Ok(settings)
        };
        let settings = with_flags(app.settings.gateway.clone())?;
        let home = &app.settings.home;
        let (cache, store, fingerprint_key) = if let Some(file) = &self.replay {
            (app.cache_in_memory(), file.display().to_string(), random_key()?)
        } else {
            app.prepare_cache()?;
            fsx::ensure_private_dir(home)?;
            (app.cache_of_gateway(), app.settings.store.to_string(), fingerprint_key(home)?)
        };
        let reload = || {
            let loaded = ResolvedSettings::load(&overrides)?;
            Ok((with_flags(loaded.gateway)?, loaded.prices))
        };
        let setup = GatewaySetup {
            cache,
            store,
            store_errors,
            settings,
            prices: app.settings.prices.clone(),
            home: home.clone(),
            fingerprint_key,
            key_of: &env::api_key,
            cassette: cassette.clone(),
            reload: &reload,
            tell: &|text| ui::say(format_args!("{text}")),
        };
        let end = if let Some(program) = program {
            Some(run_behind(&setup, program)?)
        } else {
            serve(&setup, None, |url| {
                // The reader of stdout may have gone; the server is there all the same.
                let _ = ui::line(url);
                Ok(())
            })?;
            None
        };
        report_cassette(&cassette, self.record.or(self.replay), home)?;
        Ok(end.map_or(CommandAnswer::Yes, |end| CommandAnswer::Exit(end.exit_code_or_kill_self())))
    }

    /// The command to run, if there is one.
    fn find_program(&mut self, cwd: &Path) -> Option<Result<ResolvedProgram, ProgramError>> {
        if self.command.is_empty() {
            return None;
        }
        ui::prefix_lines();
        let words = std::mem::take(&mut self.command);
        // The port is its own, so that several can run at a time.
        self.listen = self.listen.or(Some(SocketAddr::from(([127, 0, 0, 1], 0))));
        self.is_behind = true;
        Some(ResolvedProgram::find(words, env::search_path().as_deref(), cwd))
    }

    fn cassette(&self, settings: &GatewaySettings) -> Result<CassetteMode> {
        match (&self.record, &self.replay) {
            (Some(file), _) => {
                let withheld = env::credentials().and(settings.credentials());
                ExchangeRecorder::start(file, &withheld).map(CassetteMode::Record)
            }
            (None, Some(file)) => {
                let replay = CassetteReplay::open(file, &settings.normalisers)?;
                Ok(CassetteMode::Replay(Arc::new(replay)))
            }
            (None, None) => Ok(CassetteMode::Off),
        }
    }

    fn apply_to(&self, settings: GatewaySettings) -> Result<GatewaySettings> {
        let mut settings = settings;
        settings.listen = self.listen.unwrap_or(settings.listen);
        if self.is_behind {
            settings.tls = None;
        }
        if let Some(ttl) = &self.ttl {
            settings.set_general_ttl(recoup_core::cache::Ttl::parse_with_unit("--ttl", ttl)?);
        }
        Ok(settings)
    }
}

/// Runs a command while the gateway serves it.
fn run_behind(setup: &GatewaySetup<'_>, program: ResolvedProgram) -> Result<CommandEnd> {
    let (ended, stop) = oneshot::channel();
    let is_replay = matches!(setup.cassette, CassetteMode::Replay(_));
    let mut running = None;
    serve(setup, Some(stop), |url| {
        let variables = env::api_variables(url, is_replay);
        running = Some(thread::spawn(move || {
            let end = exec::run_attached(&program, &variables, &CommandMessages);
            // Fails only if the gateway has ended already.
            let _ = ended.send(());
            end
        }));
        Ok(())
    })?;
    let end = running.and_then(|running| running.join().ok());
    end.unwrap_or_else(|| Err(Error::new(ErrorKind::Io, "the command was not run")))
}

/// Messages about a command that can't be run.
struct CommandMessages;

impl ExecReporter for CommandMessages {
    fn note(&self, text: fmt::Arguments<'_>) {
        ui::say(text);
    }

    fn detail(&self, _: fmt::Arguments<'_>) {}

    fn warn(&self, error: &Error) {
        warn(error);
    }
}

/// Ends the use of a cassette, and says what came of it.
fn report_cassette(cassette: &CassetteMode, file: Option<PathBuf>, home: &Path) -> Result<()> {
    let file = file.unwrap_or_default();
    let file = file.display();
    match cassette {
        CassetteMode::Off => {}
        CassetteMode::Record(recorder) => {
            let summary = recorder.finish()?;
            for omission in summary.omissions.iter().take(MOST_OMISSIONS) {
                ui::say(format_args!("{omission}"));
            }
            if let Some(more @ 1..) = summary.omissions.len().checked_sub(MOST_OMISSIONS) {
                ui::say(format_args!("not written to {file}: {more} more"));
            }
            let count = summary.exchanges;
            let exchanges = if count == 1 { "exchange" } else { "exchanges" };
            if summary.is_written {
                ui::say(format_args!("recorded {count} {exchanges} in {file}"));
            } else {
                ui::say(format_args!("nothing was recorded: {file} stays as it was"));
            }
        }
        CassetteMode::Replay(replay) => {
            // Best effort: only `recoup cassette prune` reads it.
            let _ = replay.note_used(home);
            let ReplaySummary { recorded, unused, missed } = replay.summary();
            if missed > 0 {
                let requests = if missed == 1 { "request" } else { "requests" };
                ui::say(format_args!(
                    "{missed} {requests} not in {file}: answered with status 424"
                ));
            }
            // A command that failed early has used none, and needs all of them.
            let advice = if unused < recorded {
                format!(" (`recoup cassette prune {file}` removes them)")
            } else {
                String::new()
            };
            if unused > 0 {
                ui::say(format_args!(
                    "not used: {unused} of {recorded} recordings in {file}{advice}"
                ));
            }
        }
    }
    Ok(())
}

/// The key in its file, which is created.
fn fingerprint_key(home: &Path) -> Result<Vec<u8>> {
    let path = home.join(KEY_FILE);
    if let Some(key) = fsx::read_regular(&path, 1 << 10)?.filter(|key| key.len() == KEY_BYTES) {
        return Ok(key);
    }
    let key = random_key()?;
    fsx::write_atomic(&path, &key)?;
    Ok(key)
}

fn random_key() -> Result<Vec<u8>> {
    let mut key = vec![0; KEY_BYTES];
    getrandom(&mut key, GetRandomFlags::empty())
        .map_err(|error| Error::new(ErrorKind::Io, "no random numbers").with_source(error))?;
    Ok(key)
}
