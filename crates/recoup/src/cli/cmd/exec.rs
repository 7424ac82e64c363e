//! `recoup exec`: a command that is run once and replayed afterwards.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use recoup_core::base::project::ProjectOrigin;
use recoup_core::cache::{CacheMode, Ttl};
use recoup_core::entry::Draft;
use recoup_core::key::command::CommandRecipe;
use recoup_core::key::{EntryId, KeyRecipe as _, Scope};
use recoup_core::secrets;
use recoup_core::{Error, ErrorKind, Result};

use super::place::StoreScopeArgs;
use crate::cli::app::App;
use crate::cli::explain::ExplainReport;
use crate::cli::failure::{self, CommandError, DataLocation};
use crate::cli::{CommandAnswer, input, ui};
use crate::config::env;
use crate::exec::{
    self, CacheTarget, CommandEnd, CommandStdin, ExecInvocation, ExecReporter, KeepPolicy,
    LookupLimits, ResolvedProgram,
};
use crate::process;

/// Default TTL: calling `exec` is the request to cache.
const DEFAULT_TTL: Ttl = Ttl::days(1);

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that people type")]
pub(in crate::cli) struct ExecArgs {
    /// How long the output may be replayed: 30m, 12h, 7d, forever, off [default: 1d]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    ttl: Option<String>,
    /// A file, directory or glob that the command reads: when it changes, the command runs again;
    /// may be given several times
    #[arg(long = "source", value_name = "GLOB", allow_hyphen_values = true)]
    sources: Vec<OsString>,
    /// Don't watch files among the command's arguments; without this, they are sources
    /// automatically
    #[arg(long)]
    no_auto_source: bool,
    /// An environment variable that affects the output; may be given several times. Its value
    /// becomes part of the key and is not stored
    #[arg(long = "env", value_name = "VAR")]
    environment: Vec<String>,
    /// Read all of stdin first, make it part of the key, and pass it to the command. Without this,
    /// the command gets stdin only if it is a terminal
    #[arg(long, conflicts_with = "tty")]
    stdin: bool,
    /// Additional text for the key, such as a version
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    key_extra: Option<String>,
    /// Run the command in a terminal; its stdout and stderr become one stream, on stdout
    #[arg(long)]
    tty: bool,
    /// Always run the command, and store the result
    #[arg(long, conflicts_with_all = ["no_cache", "only_if_cached"])]
    refresh: bool,
    /// Always run the command, and store nothing
    #[arg(long, conflicts_with = "only_if_cached")]
    no_cache: bool,
    /// Never run the command: exit 124 if there is nothing to replay
    #[arg(long)]
    only_if_cached: bool,
    /// Accept no output that is older than this, whatever its TTL
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    max_age: Option<String>,
    /// How long after the TTL the output may still be replayed while the command is run again in
    /// the background
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    stale_while_revalidate: Option<String>,
    /// Also store runs with exit codes other than 0, for this long
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    cache_failures: Option<String>,
    /// How long to wait for another process that is running the same command [default: 5m]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    wait: Option<String>,
    /// A tag to find the entry by; may be given several times
    #[arg(long = "tag", value_name = "TAG", allow_hyphen_values = true)]
    tags: Vec<String>,
    /// Report on stderr whether it was a hit
    #[arg(short, long)]
    verbose: bool,
    /// Explain on stderr why it is a hit or a miss
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    place: StoreScopeArgs,
    /// True for `recoup explain exec`: nothing is run.
    #[arg(skip)]
    asks: bool,
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

Files among the arguments, scripts and programs are watched automatically. Name everything \
else that the command reads with --source. With --source, worktrees and clones of a repository share \
entries for the same directory if the contents agree; without, each checkout has its own.
Do not use it for commands that ask questions: typed input is not part of the key.
If stdout and stderr go to one place (a terminal, 2>&1), their order is exact. If not, output \
that is written to both at the same moment may change places when it is replayed into one. Output \
recorded as one stream is not replayed to separate streams: the command runs again.
For claude, codex and pi with recoup's hooks (also behind env, timeout, npx, sh -c and the \
like), the remembered rules are part of the key: when a rule changes, the command runs again.

Exit codes: the command's own, or its signal; 124 with --only-if-cached if there is no entry, \
125 if recoup itself fails (wrong usage included), 126 if the command cannot be run, 127 if it \
is not found. Exit codes other than 0, interrupted runs and output with secrets are not stored.";

impl ExecArgs {
    /// Returns the exit code of the command, or one of ours.
    pub(super) fn run(self) -> CommandAnswer {
        ui::prefix_lines();
        let ended = self.execute();
        CommandAnswer::Exit(match ended {
            Ok(end) => end.exit_code_or_kill_self(),
            Err(failure) => {
                failure.report(DataLocation::InStore);
                exec::FAILED
            }
        })
    }

    fn execute(self) -> Result<CommandEnd, CommandError> {
        let Self { detached, explain, .. } = self;
        if detached {
            process::leave_session();
        }
        let messages = StderrMessages { verbose: self.verbose && !detached };
        match self.prepare(&messages)? {
            Ok(PreparedCommand { exec, .. }) if detached => Ok(exec.refresh_stale()?),
            Ok(PreparedCommand { exec, app }) => {
                if explain && let Some(report) = explain_lookup(&exec, app) {
                    report.lines().iter().for_each(ui::say);
                }
                Ok(exec.replay_or_run()?)
            }
            Err(end) => Ok(end),
        }
    }

    /// Explains why it would be replayed or run; `Err` is the exit code if it does not exist.
    pub(in crate::cli) fn explain(self) -> Result<Result<ExplainReport, i32>, CommandError> {
        let messages = StderrMessages { verbose: self.verbose };
        match (Self { asks: true, ..self }).prepare(&messages)? {
            Ok(PreparedCommand { exec, app }) => match explain_lookup(&exec, app) {
                Some(report) => Ok(Ok(report)),
                None => Err(Error::usage("nothing to explain: the cache is bypassed").into()),
            },
            Err(end) => Ok(Err(end.exit_code_or_kill_self())),
        }
    }

    /// Resolves program, key and cache entry; `Err` is the end if there is no such command.
    fn prepare(
        mut self,
        messages: &StderrMessages,
    ) -> Result<Result<PreparedCommand<'_>, CommandEnd>, CommandError> {
        let ttl = input::duration("--ttl", self.ttl.as_deref())?.and_then(Ttl::as_millis);
        let max_age =
            input::duration("--max-age", self.max_age.as_deref())?.and_then(Ttl::as_millis);
        let wait = input::duration("--wait", self.wait.as_deref())?;
        let wait = wait.map(|wait| wait.as_millis().map_or(Duration::MAX, Duration::from_millis));
        // A TTL of `off` means that nothing is stored, not that nothing is accepted.
        let limits = LookupLimits { ttl: ttl.filter(|ttl| *ttl > 0), max_age, wait };
        let keeping = self.storage_policy()?;
        let mode = self.mode(&keeping);
        let environment = read_variables(&self.environment)?;
        let app = self.load(messages)?;
        let cwd = app.map_or_else(|| PathBuf::from("."), |app| app.settings.cwd.clone());
        let command = std::mem::take(&mut self.command);
        let program = match ResolvedProgram::find(command, env::search_path().as_deref(), &cwd) {
            Ok(program) => program,
            Err(missing) => {
                messages.note(format_args!("{missing}"));
                return Ok(Err(CommandEnd::Code(missing.code)));
            }
        };
        let stdin = if self.stdin { CommandStdin::read_to_end()? } else { CommandStdin::inspect() };
        if let CommandStdin::LeftOut = stdin {
            messages.note(format_args!(
                "stdin is not passed to the command; use --stdin to pass it and make it part of the key"
            ));
        }
        let tty = self.tty;
        let (slot, outlets, reporter) = (None, ui::outlets(), messages);
        let mut exec =
            ExecInvocation { program, stdin, tty, mode, keeping, slot, outlets, reporter };
        if let Some(app) = app {
            exec.keeping.limit = app.settings.cache.max_size.bytes();
            exec.slot = self.cache_slot(app, &exec, environment, limits)?;
        }
        Ok(Ok(PreparedCommand { exec, app }))
    }

    /// Loads the settings; none without a usable home: the command then runs uncached.
    fn load(&mut self, messages: &StderrMessages) -> Result<Option<&'static App>> {
        match App::load(&self.place.overrides()) {
            Ok(app) => Ok(Some(app)),
            Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Absent) => {
                messages.warn(&error.context("not cached"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The cache slot of this command. Problems are reported before anything is run.
    fn cache_slot(
        self,
        app: &App,
        exec: &ExecInvocation<'_>,
        environment: BTreeMap<String, Option<OsString>>,
        limits: LookupLimits,
    ) -> Result<Option<CacheTarget>> {
        let ExecInvocation { program, stdin, mode, keeping, reporter, .. } = exec;
        let rules = match mode {
            CacheMode::Bypass => Ok(None),
            _ => app
                .rules_for_program(program.file(), &program.words())
                .map_err(|error| error.context("reading the rules for its agent")),
        };
        let rules = match rules {
            Ok(rules) => rules,
            Err(error) if self.asks => return Err(error),
            // The rules are part of the key: without them no entry is known to be right.
            Err(error) => {
                reporter.warn(&error.context("not cached"));
                return Ok(None);
            }
        };
        let files = match self.watched_files(program, app) {
            Ok(files) => files,
            Err(error) => {
                reporter.warn(&error.context("not cached"));
                return Ok(None);
            }
        };
        let recipe = CommandRecipe {
            programs: program.executables_relative_to(app.settings.project.root()),
            arguments: program.words(),
            directory: key_directory(app, !files.named.is_empty()),
            environment,
            stdin: stdin.digest(),
            sources: [&files.named[..], &files.arguments[..]].concat(),
            auto_sources: !self.no_auto_source,
            tty: self.tty,
            rules,
            extra: self.key_extra,
        };
        let id = EntryId::new(app.scope(), recipe.key()?);
        if *mode == CacheMode::Bypass {
            return Ok(None);
        }
        let Some(mark) = env::begin_work_on(&id.to_string()) else {
            reporter.detail(format_args!(
                "not cached: the same command is already running as a parent process"
            ));
            return Ok(None);
        };
        // `explain` must not write; and an unusable store must not stop the command.
        let opened = if self.asks { Ok(app.cache()) } else { app.cache_for_writing() };
        let Ok(cache) = opened.map_err(|error| reporter.warn(&error)) else {
            return Ok(None);
        };
        let withheld = env::credentials();
        let draft = Draft { withheld: withheld.clone(), ..keeping.draft() };
        cache.check_draft(&id, &draft, keeping.ttl)?;
        let mut identity = program.identity();
        identity.name = identity.name.map(|name| withheld.redact(&name).into_owned());
        let (parts, view) = (recipe.parts(), app.view());
        let WatchedFiles { named, programs, mentioned, .. } = files;
        // With --no-auto-source the user has decided what is watched.
        let is_unwatched =
            named.is_empty() && mentioned.is_empty() && !self.no_auto_source && !self.stdin;
        let sources = [named, mentioned.clone(), programs].concat();
        Ok(Some(CacheTarget {
            cache,
            id,
            identity,
            parts,
            view,
            sources,
            argument_files: mentioned,
            is_unwatched,
            limits,
            failures: keeping.failures,
            // A detached refresh has no streams and must find what its caller was served; the
            // streams of `explain` are not the command's.
            accepts_merged_streams: self.detached || self.asks || ui::outlets().are_same_file(),
            withheld,
            mark,
        }))
    }

    /// Collects the files to watch: given sources, programs and files among the arguments.
    fn watched_files(&self, program: &ResolvedProgram, app: &App) -> Result<WatchedFiles> {
        let cwd = &app.settings.cwd;
        let named = self.sources.iter().map(|source| exec::path_as_source(Path::new(source)));
        let mut files = WatchedFiles {
            named: named.collect::<Result<_>>()?,
            programs: program.program_files()?,
            ..WatchedFiles::default()
        };
        if !self.no_auto_source {
            files.arguments = program.argument_files(cwd)?.into_iter().collect();
            let mut mentioned = program.mentioned_files(cwd)?;
            for source in &files.named {
                mentioned.remove(source);
            }
            files.mentioned = mentioned.into_iter().collect();
        }
        Ok(files)
    }

    fn mode(&self, keeping: &KeepPolicy) -> CacheMode {
        match self {
            // If nothing is stored, nothing stored is wanted either.
            _ if !keeping.keeps_anything() && !self.only_if_cached => CacheMode::Bypass,
            Self { refresh: true, .. } => CacheMode::Refresh,
            Self { no_cache: true, .. } => CacheMode::Bypass,
            Self { only_if_cached: true, .. } => CacheMode::OnlyIfCached,
            _ => CacheMode::Use,
        }
    }

    fn storage_policy(&self) -> Result<KeepPolicy> {
        let grace =
            input::duration("--stale-while-revalidate", self.stale_while_revalidate.as_deref())?;
        Ok(KeepPolicy {
            ttl: input::duration("--ttl", self.ttl.as_deref())?.unwrap_or(DEFAULT_TTL),
            failures: input::duration("--cache-failures", self.cache_failures.as_deref())?
                .unwrap_or(Ttl::Off),
            grace: grace.map_or(0, |grace| grace.as_millis().unwrap_or(u64::MAX)),
            tags: self.tags.clone(),
            limit: 0,
            refreshes: self.refresh,
        })
    }
}

/// Files that are watched for changes.
#[derive(Default)]
struct WatchedFiles {
    /// Given with --source.
    named: Vec<String>,
    programs: Vec<String>,
    /// Part of the key: a file that appears makes it another command.
    arguments: Vec<String>,
    /// `arguments`, and files named in shell code, which come and go while it runs.
    mentioned: Vec<String>,
}

/// A command that is ready to be run or explained.
struct PreparedCommand<'a> {
    exec: ExecInvocation<'a>,
    /// None without a usable home.
    app: Option<&'static App>,
}

/// Explanation of the look-up; none if the cache is bypassed.
fn explain_lookup(exec: &ExecInvocation<'_>, app: Option<&App>) -> Option<ExplainReport> {
    Some(ExplainReport::with_rule_names(&exec.explain()?, &app?.rule_names()))
}

fn read_variables(names: &[String]) -> Result<BTreeMap<String, Option<OsString>>> {
    let valid = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
    if names.iter().any(|name| secrets::detect_secret(name.as_bytes()).is_some()) {
        return Err(Error::usage("--env takes the name of a variable, not its value"));
    }
    if let Some(name) = names.iter().find(|name| !valid(name)) {
        return Err(Error::usage(format!("--env takes the name of a variable (got {name:?})")));
    }
    Ok(names.iter().map(|name| (name.clone(), env::verbatim(name))).collect())
}

/// Working directory for the key: relative in a repository, so that clones share entries; absolute
/// elsewhere. Without sources nothing tells checkouts apart, so each has its own entries unless the
/// user chose a wider scope.
fn key_directory(app: &App, has_sources: bool) -> PathBuf {
    let (project, cwd) = (&app.settings.project, &app.settings.cwd);
    let unshared = app.settings.store.is_own_scope() || app.scope() == Scope::project(project.id());
    let is_own = !has_sources && unshared;
    let inside = match project.origin() {
        _ if is_own => None,
        ProjectOrigin::Folder(_) => None,
        _ => cwd.strip_prefix(project.root()).ok(),
    };
    match inside {
        Some(path) if path.as_os_str().is_empty() => PathBuf::from("."),
        Some(path) => path.to_owned(),
        None => cwd.clone(),
    }
}

/// Prints messages on stderr.
struct StderrMessages {
    verbose: bool,
}

impl ExecReporter for StderrMessages {
    fn note(&self, text: fmt::Arguments<'_>) {
        ui::say(text);
    }

    fn detail(&self, text: fmt::Arguments<'_>) {
        if self.verbose {
            ui::say(text);
        }
    }

    fn warn(&self, error: &Error) {
        failure::warn(error);
    }
}
