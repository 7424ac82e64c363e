//! `recoup init`: sets up hooks and MCP server for the clients on this machine. It first says what it
//! found, one line for each client. All changes are computed before the question, can be seen in full,
//! and are computed again if a file has changed meanwhile; then all are written, or none.

mod ask;
mod diff;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::project::Project;
use recoup_core::{Error, ErrorKind, Result};

use super::change_mode::{ChangeModeArgs, ConsentReport as _, MissingFlag};
use super::learn;
use crate::cli::failure;
use crate::cli::{CommandAnswer, CommandResult, mirror, ui};
use crate::config::{self, find_client_dirs};
use crate::install::answers::{self, ConfigAnswer};
use crate::install::{
    self, AgentClient, FileChange, InstallLevel, InstallLock, InstallPlan, InstallRequest,
    ProgramCopy,
};
pub(super) use show::FileReport;
use show::InitReport;

/// Name for any client that is not in the list.
const ANY_CLIENT: &str = "mcp";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(in crate::cli) struct InitArgs {
    /// Only this client, whether or not it was found; may be given several times. `mcp` prints the
    /// configuration for any other MCP client
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// In all projects (the default)
    #[arg(long)]
    user: bool,
    /// Only in this project
    #[arg(long, conflicts_with = "user")]
    project: bool,
    #[command(flatten)]
    mode: ChangeModeArgs,
    /// Show every change in full, as --dry-run does
    #[arg(long, conflicts_with = "json")]
    diff: bool,
    /// The recoup executable that clients start [default: the one on the PATH]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Remove claude-recall and claude-mem, which would remember everything a second time
    #[arg(long)]
    replace_peers: bool,
    #[command(flatten)]
    said: InitAnswerArgs,
}

/// Flags that answer the questions of `init` beforehand.
#[derive(Debug, Args, Clone, Copy)]
struct InitAnswerArgs {
    /// Let a model read statements of yours that may be worth remembering, without secrets
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    judge: Option<YesOrNo>,
    /// Write the top rules into Claude Code's own memory, too
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    sync_rules: Option<YesOrNo>,
    /// Turn three or more memories on one topic into a skill, in your own folder or the
    /// project's
    #[arg(long, value_name = "off|user|project", hide_possible_values = true)]
    skills: Option<SkillsChoice>,
    /// Let agents record rules on your behalf, in clients without hooks (cursor, windsurf,
    /// vscode, zed, opencode)
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    record_rules: Option<YesOrNo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum YesOrNo {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SkillsChoice {
    Off,
    User,
    Project,
}

const AFTER_HELP: &str = "\
Clients: claude-code, codex, pi, qwen, copilot, droid, kimi, gemini, cursor, windsurf, vscode, zed, \
opencode, mcp.

With --project, changes go into personal files if the client has them (Claude Code: \
.claude/settings.local.json, which is kept out of git). If not, the file is shared by everybody \
who works in the project, and names `recoup` without a path.";

impl InitArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let ended = self.execute();
        if self.mode.json { failure::report_as_json(ended) } else { ended }
    }

    fn execute(&self) -> CommandResult {
        let mut around = InitContext::find()?;
        if self.clients.is_empty()
            || self
                .clients
                .iter()
                .any(|it| AgentClient::parse(it).ok() == Some(AgentClient::ClaudeCode))
        {
            around.places.claude_version = install::ask_claude_code(&around.places);
        }
        self.execute_in(&around).map_err(|failure| failure.with_shown_paths(&around.places))
    }

    fn execute_in(&self, around: &InitContext) -> CommandResult {
        if self.clients.iter().any(|name| name == ANY_CLIENT) {
            return self.print_for_any_client(around);
        }
        // Here `mcp` is one more client.
        let parse = |name: &String| {
            AgentClient::parse(name).map_err(|error| Error::usage(format!("{error}, {ANY_CLIENT}")))
        };
        let named = self.clients.iter().map(parse).collect::<Result<Vec<_>>>()?;
        let (program, copy) = around.client_program(self.program.as_deref())?;
        let level = if self.project { InstallLevel::Project } else { InstallLevel::User };
        let mut wish =
            InstallRequest { places: &around.places, level, program: &program, replace_peers: &[] };
        let mut draft = InitDraft::compute(&named, &wish, &[], around)?;
        if draft.plans.is_empty() && draft.failed.is_empty() {
            return self.report_no_client(&wish, &draft);
        }
        let mut found: Vec<&str> =
            draft.plans.iter().flat_map(|plan| &plan.peers).map(|peer| peer.name).collect();
        found.sort_unstable();
        found.dedup();
        let peers = ask::decide_peers(&found, self.replace_peers, self.may_ask());
        wish.replace_peers = &peers.replaced;
        if !peers.replaced.is_empty() {
            draft = InitDraft::compute(&named, &wish, &[], around)?;
        }
        if !self.mode.json {
            InitReport::new(&wish, &draft, &peers.kept).print_clients();
        }
        let answers = self.collect_answers(&draft, &peers, around)?;
        if !answers.is_empty() {
            draft = InitDraft::compute(&named, &wish, &answers, around)?;
        }
        let mut report = InitReport::new(&wish, &draft, &peers.kept);
        // Where nobody can ask for more, all of it is shown.
        let in_full =
            self.diff || self.mode.dry_run || (!self.mode.yes && !self.mode.json && !ui::can_ask());
        let copy = copy.filter(ProgramCopy::is_needed);
        let any = draft.has_changes() || copy.is_some();
        if !self.mode.json {
            if let Some(ProgramCopy { to, reason, .. }) = &copy {
                let shown = around.places.display_path(to);
                ui::say(format_args!("Copies recoup itself to {shown}, because {reason}"));
            }
            // With --yes a closed stdout is no reason to stop (`recoup init --yes | head`).
            let shown = if in_full { report.print_details().map(drop) } else { Ok(()) };
            shown.or_else(|gone| self.mode.yes.then_some(()).ok_or(gone))?;
            report.print_remarks(any);
        }
        let offer = if in_full || !draft.has_changes() { "" } else { " `d` shows every change." };
        let question = if draft.has_changes() {
            format!("Write {}?{offer}", report.describe_files())
        } else {
            "Write the copy?".to_owned()
        };
        let mut done = !any || self.mode.dry_run;
        if !done && self.mode.ask_consent(&mut report, &question, "nothing was written")? {
            copy.iter().try_for_each(ProgramCopy::write)?;
            if draft.has_changes() {
                let again = || InitDraft::compute(&named, &wish, &answers, around);
                let seen = |draft: &InitDraft| InitReport::new(&wish, draft, &peers.kept);
                draft = self.write_changes(draft, &mut report, around, &again, &seen)?;
            }
            done = report.written || !draft.has_changes();
        }
        if self.mode.json {
            ui::json(&report)?;
        }
        if report.written && !self.project && self.may_ask() {
            learn::offer()?;
        }
        Ok(if done && draft.failed.is_empty() { CommandAnswer::Yes } else { CommandAnswer::No })
    }

    /// Writes the agreed changes. If a file has changed meanwhile, they are computed again; without
    /// --yes they must then be among the ones that were shown.
    fn write_changes(
        &self,
        draft: InitDraft,
        report: &mut InitReport,
        around: &InitContext,
        again: &dyn Fn() -> Result<InitDraft>,
        seen: &dyn Fn(&InitDraft) -> InitReport,
    ) -> Result<InitDraft> {
        let turn = InstallLock::acquire(&around.places.own, SystemClock.now())?;
        let put_in = |draft: &InitDraft| turn.install(&draft.changes(), &[]);
        let (draft, copies) = install::apply_with_retry(draft, put_in, |path| {
            let draft = again()?;
            if self.mode.yes || seen(&draft).is_covered_by(report) {
                Ok(draft)
            } else {
                Err(changed_meanwhile_error(path, "recoup init"))
            }
        })?;
        drop(turn);
        *report = seen(&draft);
        if draft.has_changes() {
            report.mark_written(&copies);
            mirror::remove_unwanted_mirrors();
        }
        if !self.mode.json {
            report.print_summary();
        }
        Ok(draft)
    }

    /// True if questions may be asked interactively.
    fn may_ask(&self) -> bool {
        !self.mode.yes && !self.mode.dry_run && !self.mode.json && ui::can_ask()
    }

    /// Collects the answers, from flags and interactively.
    fn collect_answers(
        &self,
        draft: &InitDraft,
        peers: &ask::PeerDecision,
        around: &InitContext,
    ) -> Result<Vec<ConfigAnswer>> {
        let given = answers::find_answered_keys(&around.config, &around.places)?;
        let mut answers = ask::collect_answers(self.said, &given, self.may_ask())?;
        answers.extend(peers.answer());
        // Of clients without hooks only MCP calls reach us.
        let clients: Vec<_> = draft
            .plans
            .iter()
            .map(|plan| plan.client)
            .filter(|client| client.as_hook_client().is_none())
            .collect();
        answers.extend(ask::decide_recording(&clients, self.said.record_rules, self.may_ask()));
        Ok(answers)
    }

    fn report_no_client(&self, wish: &InstallRequest<'_>, draft: &InitDraft) -> CommandResult {
        if self.mode.json {
            let mut report = InitReport::new(wish, draft, &[]);
            report.missing = Some(MissingFlag::Client);
            ui::json(&report)?;
        }
        ui::error("no supported client found on this machine");
        ui::hint(
            "name a client (`--client claude-code`), or print the configuration for any MCP client: `--client mcp`",
        );
        Ok(CommandAnswer::No)
    }

    fn print_for_any_client(&self, around: &InitContext) -> CommandResult {
        if self.clients.len() > 1 {
            return Err(Error::usage(
                "`--client mcp` cannot be combined with other clients: it only prints",
            )
            .into());
        }
        let program = around.program(self.program.as_deref()).unwrap_or_else(|error| {
            ui::warn(&error);
            "recoup".to_owned()
        });
        ui::line(install::any_client_config(&program))?;
        Ok(CommandAnswer::Yes)
    }
}

/// A client that can't be set up, and why.
type FailedClient = (AgentClient, Error);

/// All changes of one `init`.
struct InitDraft {
    plans: Vec<InstallPlan>,
    failed: Vec<FailedClient>,
    /// Our own configuration, with the answers.
    settings: FileChange,
}

impl InitDraft {
    /// Computes the changes for each client. An error of a named client is fatal; a client that was
    /// only found is left out.
    fn compute(
        named: &[AgentClient],
        wish: &InstallRequest<'_>,
        answers: &[ConfigAnswer],
        around: &InitContext,
    ) -> Result<Self> {
        let here = |client: &AgentClient| client.is_present(wish.places);
        let clients: Vec<AgentClient> = match named {
            [] => AgentClient::ALL.into_iter().filter(here).collect(),
            named => AgentClient::ALL.into_iter().filter(|client| named.contains(client)).collect(),
        };
        let (mut plans, mut failed) = (Vec::new(), Vec::new());
        for client in clients {
            match InstallPlan::make_after(&plans, client, wish) {
                Ok(plan) => plans.push(plan),
                Err(error) if named.is_empty() => {
                    let left_out = format!("skipping {}", client.title());
                    failed.push((client, error.context(left_out)));
                }
                Err(error) => return Err(error.context("nothing was changed")),
            }
        }
        let settings = answers::plan_answers(&around.config, answers, &around.places)?;
        // A configuration that is invalid or would become so is not written: every command reads it.
        if settings.has_effect() {
            let shown = around.places.display_path(&settings.path);
            for (text, remedy) in [
                (&settings.before, "fix it first (`recoup config check`)"),
                (&settings.after, "this is a bug in recoup"),
            ] {
                let text = String::from_utf8_lossy(text.as_deref().unwrap_or_default());
                if let Some(problem) = config::problems_of_user_file(&text, &shown).first() {
                    let message = format!("{problem}; nothing was changed: {remedy}");
                    return Err(Error::new(ErrorKind::Invalid, message));
                }
            }
        }
        Ok(Self { plans, failed, settings })
    }

    /// True if anything is to be written.
    fn has_changes(&self) -> bool {
        self.settings.has_effect() || self.plans.iter().any(InstallPlan::has_changes)
    }

    /// All changes, in the order in which they are written.
    fn changes(&self) -> Vec<FileChange> {
        let of_plans = self.plans.iter().flat_map(|plan| &plan.changes);
        of_plans.chain([&self.settings]).cloned().collect()
    }
}

/// Directories and files that `init` works with.
pub(super) struct InitContext {
    pub(super) places: install::InstallPaths,
    /// Our own configuration.
    pub(super) config: PathBuf,
    pub(super) cwd: PathBuf,
}

impl InitContext {
    /// Finds them; an error if HOME is not set.
    pub(super) fn find() -> Result<Self> {
        let found = config::BaseDirs::find()?;
        let project = Project::find(&found.cwd)?;
        if found.user_home.is_none() {
            let message = "HOME is not set: clients keep their settings there";
            return Err(Error::new(ErrorKind::Absent, message));
        }
        let dirs = find_client_dirs(&found.cwd);
        let places = install::InstallPaths::new(dirs, &found.home, project.root());
        Ok(Self { places, config: found.user_file(), cwd: found.cwd })
    }

    /// Returns the path that clients get, and the copy that has to be there first if this program
    /// was started from a cache.
    fn client_program(&self, named: Option<&Path>) -> Result<(String, Option<ProgramCopy>)> {
        if named.is_none()
            && let Some(copy) = ProgramCopy::plan(&crate::process::own_program()?, &self.places)
        {
            return Ok((copy.to.display().to_string(), Some(copy)));
        }
        Ok((self.program(named)?, None))
    }

    pub(super) fn program(&self, named: Option<&Path>) -> Result<String> {
        let running = crate::process::own_program()?;
        let named = named.map(|path| self.cwd.join(path));
        let path = install::program_path(&running, named.as_deref(), &self.places)?;
        Ok(path.display().to_string())
    }
}

/// Error: the changes are no longer the ones that the user agreed to.
pub(super) fn changed_meanwhile_error(path: &Path, command: &str) -> Error {
    let message = format!(
        "{} was changed meanwhile, and the changes are no longer the ones that were shown: \
         nothing was changed; run `{command}` again",
        path.display()
    );
    Error::new(ErrorKind::Io, message)
}
