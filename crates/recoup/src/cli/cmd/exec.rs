//! `recoup exec`: a command that is run once and replayed afterwards.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use clap::Args;
use recoup_core::base::project::Origin;
use recoup_core::cache::{Mode, Ttl};
use recoup_core::key::command::CommandRecipe;
use recoup_core::key::{Id, Recipe as _};
use recoup_core::{Error, Result};

use super::place::PlaceArgs;
use crate::cli::app::App;
use crate::cli::failure::{self, Failure};
use crate::cli::{Answer, ui};
use crate::config::env;
use crate::exec::{self, End, Exec, Job, Keeping, Program, Stdin, Teller};

/// How long output is kept unless told otherwise: using `exec` is asking for it.
const DEFAULT_TTL: Ttl = Ttl::days(1);

/// Run a command once, and replay it afterwards.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that people type")]
pub(in crate::cli) struct ExecArgs {
    /// How long it is good for: 30m, 12h, 7d, forever, off [default: 1d]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    ttl: Option<String>,
    /// A file, directory or glob that the command reads: when one changes, it runs again; may be
    /// given several times
    #[arg(long = "source", value_name = "GLOB", allow_hyphen_values = true)]
    sources: Vec<String>,
    /// A variable that matters; may be given several times. Its value is never stored
    #[arg(long = "env", value_name = "VAR")]
    environment: Vec<String>,
    /// Read stdin to its end first: it matters, and the command gets it. Without this, only a
    /// terminal is passed on
    #[arg(long, conflicts_with = "tty")]
    stdin: bool,
    /// Anything else that matters, such as a version
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    key_extra: Option<String>,
    /// Give the command a terminal; what it writes is then one stream, on stdout
    #[arg(long)]
    tty: bool,
    /// Run it in any case, and keep the result
    #[arg(long, conflicts_with_all = ["no_cache", "only_if_cached"])]
    refresh: bool,
    /// Run it in any case, and keep nothing
    #[arg(long, conflicts_with = "only_if_cached")]
    no_cache: bool,
    /// Never run it: exit 124 when there is nothing to replay
    #[arg(long)]
    only_if_cached: bool,
    /// Accept nothing older than this, whatever its own duration
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    max_age: Option<String>,
    /// For how much longer it may be replayed while it is run again in the background
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    stale_while_revalidate: Option<String>,
    /// Keep exit codes other than 0 too, for this long
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    cache_failures: Option<String>,
    /// A word to find it by; may be given several times
    #[arg(long = "tag", value_name = "TAG", allow_hyphen_values = true)]
    tags: Vec<String>,
    /// Say on stderr whether it was a hit
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    place: PlaceArgs,
    /// Be the process that refreshes what is stale.
    #[arg(long, hide = true)]
    detached: bool,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

const AFTER_HELP: &str = "\
Examples:
  recoup exec --source 'src/**/*.rs' -- claude -p 'review src'
  git diff | recoup exec --stdin --ttl 7d --env MODEL -- my-agent review

Exit codes: the command's own, or its signal; 124 with --only-if-cached when there is nothing,
125 when recoup itself fails (wrong usage included), 126 when the command can't be run, 127 when
there is none. Exit codes other than 0, interrupted runs and output with secrets are not kept.";

impl ExecArgs {
    /// Whatever happens, the exit code says so: it is the command's, or one of ours.
    pub(super) fn run(self) -> Answer {
        ui::sign_lines();
        let ended = if self.detached { self.refresh() } else { self.perform() };
        Answer::Exit(match ended {
            Ok(end) => end.leave(),
            Err(failure) => {
                failure.report();
                exec::FAILED
            }
        })
    }

    fn perform(self) -> Result<End, Failure> {
        let spoken = Spoken { verbose: self.verbose };
        match self.prepare(&spoken)? {
            Ok(exec) => Ok(exec.perform()?),
            Err(end) => Ok(end),
        }
    }

    fn refresh(self) -> Result<End, Failure> {
        exec::detach();
        match self.prepare(&Spoken { verbose: false })? {
            Ok(exec) => Ok(exec.perform_refresh()?),
            Err(end) => Ok(end),
        }
    }

    /// Everything that is needed, or the end when there is no such command.
    fn prepare(self, spoken: &Spoken) -> Result<Result<Exec<'_>, End>, Failure> {
        let keeping = self.keeping()?;
        let (mode, max_age) = (self.mode(&keeping), self.max_age(&keeping)?);
        let environment = variables(&self.environment)?;
        let app = App::load(&self.place.overrides())?;
        let view = app.view();
        let program = match Program::find(self.command, env::search_path().as_deref(), &view.cwd) {
            Ok(program) => program,
            Err(missing) => {
                spoken.note(format_args!("{missing}"));
                return Ok(Err(End::Code(missing.code)));
            }
        };
        let stdin = if self.stdin { Stdin::read()? } else { Stdin::look() };
        if let Stdin::LeftOut = stdin {
            spoken.note(format_args!(
                "stdin is left out: with --stdin the command gets it, and it matters"
            ));
        }
        let recipe = CommandRecipe {
            executable: program.executable.clone(),
            arguments: program.words(),
            directory: directory(app),
            environment,
            stdin: stdin.digest(),
            sources: self.sources.clone(),
            tty: self.tty,
            extra: self.key_extra,
        };
        let id = Id::new(app.scope(), recipe.key()?);
        let limit = app.settings.cache.max_size.bytes();
        let job = Job {
            id,
            identity: program.identity(),
            parts: recipe.parts(),
            view,
            program,
            stdin,
            tty: self.tty,
            sources: self.sources,
            mode,
            max_age,
            keeping: Keeping { limit, ..keeping },
        };
        // A store that can't be used does not stop the command.
        let cache = app.cache_for_writing().map_err(|error| spoken.warn(&error)).ok();
        Ok(Ok(Exec { job, cache, outlets: ui::outlets(), teller: spoken }))
    }

    fn mode(&self, keeping: &Keeping) -> Mode {
        match self {
            // Nothing is to be kept, so nothing that was kept is meant either.
            _ if !keeping.keeps_anything() && !self.only_if_cached => Mode::Bypass,
            Self { refresh: true, .. } => Mode::Refresh,
            Self { no_cache: true, .. } => Mode::Bypass,
            Self { only_if_cached: true, .. } => Mode::OnlyIfCached,
            _ => Mode::Use,
        }
    }

    fn keeping(&self) -> Result<Keeping> {
        let grace = duration("--stale-while-revalidate", self.stale_while_revalidate.as_deref())?;
        Ok(Keeping {
            ttl: duration("--ttl", self.ttl.as_deref())?.unwrap_or(DEFAULT_TTL),
            failures: duration("--cache-failures", self.cache_failures.as_deref())?
                .unwrap_or(Ttl::Off),
            grace: grace.map_or(0, |grace| grace.as_millis().unwrap_or(u64::MAX)),
            tags: self.tags.clone(),
            limit: 0,
        })
    }

    /// The smaller of what the reader says: how old it may be, and how long such a
    /// result is good for, with the time in which it may be stale.
    fn max_age(&self, keeping: &Keeping) -> Result<Option<u64>> {
        let said = duration("--max-age", self.max_age.as_deref())?.and_then(Ttl::as_millis);
        let ttl = self.ttl.as_ref().and(keeping.ttl.as_millis());
        let good = ttl.filter(|ttl| *ttl > 0).map(|ttl| ttl.saturating_add(keeping.grace));
        Ok([said, good].into_iter().flatten().min())
    }
}

fn duration(flag: &str, given: Option<&str>) -> Result<Option<Ttl>> {
    given.map(|given| Ttl::parse(flag, given)).transpose()
}

fn variables(names: &[String]) -> Result<BTreeMap<String, Option<OsString>>> {
    let valid = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
    if let Some(name) = names.iter().find(|name| !valid(name)) {
        return Err(Error::usage(format!("--env takes the name of a variable (got {name:?})")));
    }
    Ok(names.iter().map(|name| (name.clone(), env::verbatim(name))).collect())
}

/// From the root of a repository, which has its clones; elsewhere there is only
/// the one place.
fn directory(app: &App) -> PathBuf {
    let (project, cwd) = (&app.settings.project, &app.settings.cwd);
    let inside = match project.origin() {
        Origin::Folder(_) => None,
        _ => cwd.strip_prefix(project.root()).ok(),
    };
    match inside {
        Some(path) if path.as_os_str().is_empty() => PathBuf::from("."),
        Some(path) => path.to_owned(),
        None => cwd.clone(),
    }
}

/// Says things on stderr.
struct Spoken {
    verbose: bool,
}

impl Teller for Spoken {
    fn note(&self, text: fmt::Arguments<'_>) {
        ui::say(text);
    }

    fn aside(&self, text: fmt::Arguments<'_>) {
        if self.verbose {
            ui::say(text);
        }
    }

    fn warn(&self, error: &Error) {
        failure::warn(error);
    }
}
