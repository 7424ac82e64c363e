//! `recoup mcp wrap` and `recoup mcp unwrap`: the caching proxy in front of the MCP servers that
//! clients have, and away again. As with `init`, all changes are shown first, and written together
//! after one question.

use std::path::PathBuf;

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::change_mode::{ChangeModeArgs, ConsentReport, MissingFlag};
use super::init::{FileReport, InitContext, changed_meanwhile_error};
use crate::cli::app::App;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, failure, input, ui};
use crate::config::{self, FlagOverrides};
use crate::install::server_ttls::{ServerTtlRecord, plan_server_ttls, server_ttl_line};
use crate::install::{
    self, AgentClient, ApplyOutcome, BACKUPS, FileChange, InstallLevel, InstallLock, InstallPaths,
    ServerFile, UndoPlan, UndoRequest, WrapPlan, WrapRequest,
};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct WrapArgs {
    /// A client's file with MCP servers [default: all that are yours]
    #[arg(value_name = "FILE", conflicts_with_all = ["clients", "project"])]
    files: Vec<PathBuf>,
    /// Only this server; may be given several times
    #[arg(long = "server", value_name = "NAME")]
    servers: Vec<String>,
    /// Keep what these servers answer that long, such as 5m or 1h: `mcpServers.NAME.cache` in your
    /// configuration
    #[arg(long, value_name = "D")]
    ttl: Option<String>,
    /// Only the servers of this client; may be given several times
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// The files of this project, in place of yours
    #[arg(long)]
    project: bool,
    /// The program that clients start [default: where this one is found on the PATH]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    #[command(flatten)]
    mode: ChangeModeArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UnwrapArgs {
    /// A client's file with MCP servers [default: all in which the proxy may be]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    mode: ChangeModeArgs,
}

const AFTER_HELP: &str = "\
Nothing is cached before you have given a time, with --ttl or in your configuration.

URLs and the values of headers move to variables of the entry, so that none is on a command line.
Servers that are switched off, recoup's own, and those for which the client logs in are left alone.
`recoup mcp unwrap` undoes it.";

/// Changes of all files, for people and programs.
#[derive(Serialize)]
struct ProxyReport {
    /// True if the changes were written.
    written: bool,
    files: Vec<FileReport>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<String>,
    /// Lines that the user is to add to the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    add: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<MissingFlag>,
}

/// A command that changes clients' files: its plans, and its words.
trait ProxyCommand {
    type Plan;
    const COMMAND: &'static str;
    const QUESTION: &'static str;

    fn plan(&self) -> Result<Self::Plan>;
    /// Line if there is nothing to do.
    fn idle_message(plan: &Self::Plan) -> &'static str;
    fn report(&self, plan: &Self::Plan) -> ProxyReport;
    fn apply(&self, turn: &InstallLock<'_>, plan: &Self::Plan) -> Result<ApplyOutcome>;
    /// One line about a file that was written.
    fn summary(file: &FileReport) -> String;
    /// Last line, once everything is written.
    fn closing(&self, plan: &Self::Plan) -> String;
}

impl WrapArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let (mode, ended) = (self.mode, self.execute());
        if mode.json { failure::report_as_json(ended) } else { ended }
    }

    fn execute(self) -> CommandResult {
        let around = InitContext::find()?;
        self.execute_in(&around).map_err(|failure| failure.with_shown_paths(&around.places))
    }

    fn execute_in(&self, around: &InitContext) -> CommandResult {
        input::duration("--ttl", self.ttl.as_deref())?;
        let program = around.program(self.program.as_deref())?;
        let clients =
            self.clients.iter().map(|name| AgentClient::parse(name)).collect::<Result<Vec<_>>>()?;
        let files = if self.files.is_empty() {
            let clients = if clients.is_empty() { AgentClient::ALL.to_vec() } else { clients };
            let level = if self.project { InstallLevel::Project } else { InstallLevel::User };
            install::find_server_files(&clients, level, &around.places)
        } else {
            named_files(&self.files, around)?
        };
        run_changes(&WrapCommand { args: self, around, program, files }, self.mode, around)
    }
}

impl UnwrapArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let (mode, ended) = (self.mode, self.execute());
        if mode.json { failure::report_as_json(ended) } else { ended }
    }

    fn execute(self) -> CommandResult {
        let around = InitContext::find()?;
        let done =
            named_files(&self.files, &around).map_err(CommandError::from).and_then(|files| {
                let wanted = UndoRequest { only_proxies: true, files, ..UndoRequest::default() };
                run_changes(&UnwrapCommand { around: &around, wanted }, self.mode, &around)
            });
        done.map_err(|failure| failure.with_shown_paths(&around.places))
    }
}

fn named_files(files: &[PathBuf], around: &InitContext) -> Result<Vec<ServerFile>> {
    let found = files
        .iter()
        .map(|path| install::named_server_files(&around.cwd.join(path), &around.places));
    Ok(found.collect::<Result<Vec<_>>>()?.concat())
}

/// Shows the changes, asks, and writes them. If a file has changed meanwhile, they are computed
/// again; without --yes they must then be among the ones that were shown.
fn run_changes<C: ProxyCommand>(
    command: &C,
    mode: ChangeModeArgs,
    around: &InitContext,
) -> CommandResult {
    let mut plan = command.plan()?;
    let mut report = command.report(&plan);
    if !mode.json {
        // With --yes a closed stdout is no reason to stop.
        report.print_plan().or_else(|gone| mode.yes.then_some(()).ok_or(gone))?;
    }
    let any = !report.files.is_empty();
    if any && !mode.dry_run && mode.ask_consent(&mut report, C::QUESTION, "nothing was written")? {
        let turn = InstallLock::acquire(&around.places.own, SystemClock.now())?;
        let shown = report;
        let (applied, copies) = install::apply_with_retry(
            plan,
            |plan| command.apply(&turn, plan),
            |path| {
                let plan = command.plan()?;
                let is_shown =
                    |file: &FileReport| shown.files.iter().any(|it| file.matches_shown(it));
                if mode.yes || command.report(&plan).files.iter().all(is_shown) {
                    Ok(plan)
                } else {
                    Err(changed_meanwhile_error(path, C::COMMAND))
                }
            },
        )?;
        plan = applied;
        report = command.report(&plan);
        report.written = true;
        report.files.iter_mut().for_each(|file| file.record_backup(&copies));
    }
    if mode.json {
        ui::json(&report)?;
    } else if report.written {
        report.files.iter().for_each(|file| ui::say(C::summary(file)));
        if report.files.iter().any(FileReport::has_backup) {
            let backups = around.places.display_path(&around.places.own.join(BACKUPS));
            ui::say(format_args!("Copies of what was there are in {backups}"));
        }
        ui::say(command.closing(&plan));
    } else if !any {
        ui::say(C::idle_message(&plan));
    }
    let done = !any || mode.dry_run || report.written;
    Ok(if done && report.failed.is_empty() { CommandAnswer::Yes } else { CommandAnswer::No })
}

/// Planned changes of `wrap`: of clients' files, and of our configuration.
struct WrapDraft {
    plan: WrapPlan,
    settings: Option<FileChange>,
    /// Times that the configuration gets.
    ttls: Vec<ServerTtlRecord>,
    /// Lines for the configuration that this version cannot write there.
    add: Vec<String>,
}

struct WrapCommand<'a> {
    args: &'a WrapArgs,
    around: &'a InitContext,
    program: String,
    files: Vec<ServerFile>,
}

impl WrapCommand<'_> {
    /// Plans the configuration's change. One that is invalid is not written: every command reads it.
    fn plan_ttls(&self, plan: WrapPlan) -> Result<WrapDraft> {
        let mut draft = WrapDraft { plan, settings: None, ttls: Vec::new(), add: Vec::new() };
        let Some(ttl) = self.args.ttl.as_deref().map(str::trim) else {
            return Ok(draft);
        };
        let InitContext { places, config: path, .. } = self.around;
        let (change, ttls) = plan_server_ttls(path, &draft.plan.proxied, ttl, places)?;
        let shown = places.display_path(path);
        let problem = |bytes: &Option<Vec<u8>>| {
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            config::problems_of_user_file(&text, &shown).first().map(ToString::to_string)
        };
        if let Some(problem) = problem(&change.before) {
            let message =
                format!("{problem}; nothing was changed: mend it first (`recoup config check`)");
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        if problem(&change.after).is_some() {
            let lines = draft.plan.proxied.iter().map(|name| server_ttl_line(name, ttl));
            draft.add = lines.collect();
        } else {
            (draft.settings, draft.ttls) = (Some(change), ttls);
        }
        Ok(draft)
    }
}

impl ProxyCommand for WrapCommand<'_> {
    type Plan = WrapDraft;
    const COMMAND: &'static str = "recoup mcp wrap";
    const QUESTION: &'static str = "Write this?";

    fn plan(&self) -> Result<WrapDraft> {
        self.plan_ttls(WrapPlan::make(WrapRequest {
            files: &self.files,
            program: &self.program,
            servers: &self.args.servers,
            is_strict: !self.args.files.is_empty(),
        })?)
    }

    fn idle_message(draft: &WrapDraft) -> &'static str {
        if draft.plan.names.is_empty() && draft.plan.faults.is_empty() {
            "No client has an MCP server there. Nothing was changed."
        } else {
            "No server was left to put behind the proxy. Nothing was changed."
        }
    }

    fn report(&self, draft: &WrapDraft) -> ProxyReport {
        let WrapDraft { plan, settings, add, .. } = draft;
        let changes = plan.changes.iter().chain(settings);
        let report = ProxyReport::new(changes, &plan.notes, &plan.faults, &self.around.places);
        ProxyReport { add: add.clone(), ..report }
    }

    fn apply(&self, turn: &InstallLock<'_>, draft: &WrapDraft) -> Result<ApplyOutcome> {
        let changes = draft.plan.changes.iter().chain(&draft.settings);
        turn.install(&changes.cloned().collect::<Vec<_>>(), &draft.ttls)
    }

    fn summary(file: &FileReport) -> String {
        file.change_summary()
    }

    fn closing(&self, draft: &WrapDraft) -> String {
        let is_any_cached = App::load(&FlagOverrides::default()).is_ok_and(|app| {
            let policy = |name: &String| app.settings.tools.policy_for(name);
            draft.plan.proxied.iter().any(|name| policy(name).caches_anything())
        });
        let cached = if self.args.ttl.is_some() {
            " Tools that declare nothing are cached too: name those that write, as \
             `toolsCache.TOOL = { ttl = \"off\", invalidates = [\"*\"] }`."
        } else if is_any_cached {
            ""
        } else {
            " Nothing is cached yet: --ttl, or `mcpServers.NAME.cache` in your configuration, says \
             for how long."
        };
        format!(
            "Done. Sessions that you begin now reach these servers through the proxy; \
             `recoup mcp unwrap` undoes it.{cached}"
        )
    }
}

struct UnwrapCommand<'a> {
    around: &'a InitContext,
    wanted: UndoRequest,
}

impl ProxyCommand for UnwrapCommand<'_> {
    type Plan = UndoPlan;
    const COMMAND: &'static str = "recoup mcp unwrap";
    const QUESTION: &'static str = "Take the proxy away?";

    fn plan(&self) -> Result<UndoPlan> {
        let places = &self.around.places;
        UndoPlan::make(places, &self.wanted)
    }

    fn idle_message(_: &UndoPlan) -> &'static str {
        "No server is behind the proxy. Nothing was changed."
    }

    fn report(&self, undo: &UndoPlan) -> ProxyReport {
        ProxyReport::new(undo.changes.iter(), &undo.notes, &undo.faults, &self.around.places)
    }

    fn apply(&self, turn: &InstallLock<'_>, undo: &UndoPlan) -> Result<ApplyOutcome> {
        turn.uninstall(undo)
    }

    fn summary(file: &FileReport) -> String {
        file.removal_summary()
    }

    fn closing(&self, _: &UndoPlan) -> String {
        "Done. Sessions that you begin now reach these servers directly.".to_owned()
    }
}

impl ConsentReport for ProxyReport {
    fn set_missing(&mut self, flag: MissingFlag) {
        self.missing = Some(flag);
    }
}

impl ProxyReport {
    fn new<'a>(
        changes: impl Iterator<Item = &'a FileChange>,
        notes: &[String],
        faults: &[Error],
        places: &InstallPaths,
    ) -> Self {
        let changes = changes.filter(|change| change.has_effect());
        let file = |it: &FileChange| FileReport::new(it, &places.display_path(&it.path));
        Self {
            written: false,
            files: changes.map(file).collect(),
            notes: notes.to_vec(),
            failed: faults.iter().map(ToString::to_string).collect(),
            add: Vec::new(),
            missing: None,
        }
    }

    fn print_plan(&self) -> Result<(), CommandError> {
        self.files.iter().try_for_each(FileReport::print)?;
        self.notes.iter().for_each(ui::say);
        self.failed.iter().for_each(ui::error);
        for line in &self.add {
            ui::say(format_args!("To be added to your configuration by hand: {line}"));
        }
        Ok(())
    }
}
