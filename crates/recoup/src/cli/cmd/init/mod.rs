//! `recoup init`: sets up hooks and MCP server for the clients on this machine. All changes are
//! computed and shown first; after one question all are written, or none.

mod ask;
mod diff;
mod draft;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::project::Project;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

use crate::cli::failure::{self, Failure};
use crate::cli::{Answer, Ended, mirror, ui};
use crate::config::{self, ClientDirs};
use crate::install::{self, Client, Level, Turn, Wish, answers};
use draft::Draft;
use show::Report;
pub(super) use show::{FileReport, Missing};

/// Name for any client that is not in the list.
const ANY: &str = "mcp";

/// Hook recoup into the agents on this machine.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag; clap keeps them apart")]
pub(in crate::cli) struct InitArgs {
    /// Only this client, be it found or not; may be given several times. `mcp` prints the
    /// configuration for any other
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// For everything that you do (the default)
    #[arg(long)]
    user: bool,
    /// For this project alone
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only show what would change
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// The program that clients start [default: where this one is found on the PATH]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Take out claude-recall and claude-mem, which would remember everything a second time
    #[arg(long)]
    replace_peers: bool,
    #[command(flatten)]
    said: Said,
}

/// Flags that answer the questions of `init` beforehand.
#[derive(Debug, Args, Clone, Copy)]
struct Said {
    /// May a model read what you said that may be worth remembering, without secrets
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    judge: Option<YesOrNo>,
    /// Write the top rules into Claude Code's own memory, too
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    sync_rules: Option<YesOrNo>,
    /// Make skills of three or more memories on one topic, in your own folder or the project's
    #[arg(long, value_name = "off|user|project", hide_possible_values = true)]
    skills: Option<Skills>,
    /// May agents record rules on your behalf, in clients without hooks (cursor, windsurf, vscode,
    /// zed, gemini, opencode)
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    record_rules: Option<YesOrNo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum YesOrNo {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Skills {
    Off,
    User,
    Project,
}

const AFTER_HELP: &str = "\
Clients: claude-code, codex, pi, cursor, windsurf, vscode, zed, gemini, opencode, mcp.

What is for one project goes into files of yours alone where the client has such (Claude Code:
.claude/settings.local.json, which is kept out of git). Where it has none, the file is for everybody
who works there, and says `recoup` without a path.";

impl InitArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        let ended = self.carried_out();
        if self.json { failure::told_as_json(ended) } else { ended }
    }

    fn carried_out(&self) -> Ended {
        let mut around = Around::find()?;
        if self.clients.is_empty()
            || self.clients.iter().any(|it| Client::parse(it).ok() == Some(Client::ClaudeCode))
        {
            around.places.claude_version = install::ask_claude_code(&around.places);
        }
        self.carried_out_in(&around).map_err(|failure| failure.naming_as(&around.places))
    }

    fn carried_out_in(&self, around: &Around) -> Ended {
        if self.clients.iter().any(|name| name == ANY) {
            return self.print_for_any(around);
        }
        let named =
            self.clients.iter().map(|name| Client::parse(name)).collect::<Result<Vec<_>>>()?;
        let program = around.program(self.program.as_deref())?;
        let level = if self.project { Level::Project } else { Level::User };
        let mut wish =
            Wish { places: &around.places, level, program: &program, replace_peers: &[] };
        let mut draft = Draft::make(&named, &wish, &[], around)?;
        if draft.is_for_nobody() {
            return self.no_client(&wish, &draft);
        }
        let peers = ask::about_peers(&draft.peers(), self.replace_peers, self.may_ask());
        wish.replace_peers = &peers.replaced;
        let answers = self.answers(&draft, &peers, around)?;
        if !peers.replaced.is_empty() || !answers.is_empty() {
            draft = Draft::make(&named, &wish, &answers, around)?;
        }
        let mut report = Report::new(&wish, &draft, &peers.kept);
        if !self.json {
            // With --yes a closed stdout is no reason to stop (`recoup init --yes | head`).
            let any = draft.is_any();
            report.tell(any).or_else(|gone| self.yes.then_some(()).ok_or(gone))?;
        }
        if draft.is_any() && !self.dry_run && self.consents(&mut report)? {
            let again = || Draft::make(&named, &wish, &answers, around);
            let seen = |draft: &Draft| Report::new(&wish, draft, &peers.kept);
            draft = self.write(draft, &mut report, around, &again, &seen)?;
        }
        if self.json {
            ui::json(&report)?;
        }
        let done = !draft.is_any() || self.dry_run || report.written;
        Ok(if done && draft.failed.is_empty() { Answer::Yes } else { Answer::No })
    }

    /// Writes the agreed changes. If a file has changed meanwhile, they are computed again; without
    /// --yes they must then be among the ones that were shown.
    fn write(
        &self,
        draft: Draft,
        report: &mut Report,
        around: &Around,
        again: &dyn Fn() -> Result<Draft>,
        seen: &dyn Fn(&Draft) -> Report,
    ) -> Result<Draft> {
        let turn = Turn::wait_for(&around.places.own, SystemClock.now())?;
        let put_in = |draft: &Draft| turn.put_in(&draft.changes());
        let (draft, copies) = install::settle(draft, put_in, |path| {
            let draft = again()?;
            if self.yes || seen(&draft).is_within(report) {
                Ok(draft)
            } else {
                Err(not_as_shown(path, "recoup init"))
            }
        })?;
        drop(turn);
        *report = seen(&draft);
        if draft.is_any() {
            report.was_written(&copies);
            mirror::withdraw_unwanted();
        }
        if !self.json {
            report.tell_end();
        }
        Ok(draft)
    }

    /// True if questions may be asked interactively.
    fn may_ask(&self) -> bool {
        !self.yes && !self.dry_run && !self.json && ui::can_ask()
    }

    fn consents(&self, report: &mut Report) -> Result<bool, Failure> {
        if self.yes {
            return Ok(true);
        }
        if !self.may_ask() {
            if self.json {
                report.missing = Some(Missing::Yes);
                ui::json(report)?;
            }
            let error = Error::usage(
                "nothing was written: there is no terminal to ask on. If this is what you want, say \
                 `recoup init --yes`; --dry-run only shows it",
            );
            return Err(if self.json { Failure::Told(error) } else { error.into() });
        }
        let agreed = ui::confirm(format_args!("Write {}?", report.files()));
        if !agreed {
            ui::say("Nothing was changed.");
        }
        Ok(agreed)
    }

    /// Collects the answers, from flags and interactively.
    fn answers(
        &self,
        draft: &Draft,
        peers: &ask::Peers,
        around: &Around,
    ) -> Result<Vec<answers::Answer>> {
        let given = answers::given(&around.config, &around.places)?;
        let mut answers = ask::answers(self.said, &given, self.may_ask())?;
        answers.extend(peers.answer());
        let clients = draft.clients_without_hooks();
        answers.extend(ask::about_recording(&clients, self.said.record_rules, self.may_ask()));
        Ok(answers)
    }

    fn no_client(&self, wish: &Wish<'_>, draft: &Draft) -> Ended {
        if self.json {
            let mut report = Report::new(wish, draft, &[]);
            report.missing = Some(Missing::Client);
            ui::json(&report)?;
        }
        ui::error("no client was found on this machine");
        ui::hint(
            "name one (`--client claude-code`), or print what any MCP client takes: `--client mcp`",
        );
        Ok(Answer::No)
    }

    fn print_for_any(&self, around: &Around) -> Ended {
        if self.clients.len() > 1 {
            return Err(Error::usage("`--client mcp` stands alone: it only prints").into());
        }
        let program = around.program(self.program.as_deref()).unwrap_or_else(|error| {
            ui::warn(&error);
            "recoup".to_owned()
        });
        ui::line(install::for_any_client(&program))?;
        Ok(Answer::Yes)
    }
}

/// Error: the changes are no longer the ones that the user agreed to.
pub(super) fn not_as_shown(path: &Path, command: &str) -> Error {
    let message = format!(
        "{} was changed by somebody else meanwhile, and what would be written now is not what was \
         shown: nothing was changed; look at it again with `{command}`",
        path.display()
    );
    Error::new(ErrorKind::Io, message)
}

/// Directories and files that `init` works with.
struct Around {
    places: install::Places,
    /// Our own configuration.
    config: PathBuf,
    cwd: PathBuf,
}

impl Around {
    fn find() -> Result<Self> {
        let found = config::Places::find()?;
        let project = Project::find(&found.cwd)?;
        let places = places(&found, &project)?;
        Ok(Self { places, config: found.user_file(), cwd: found.cwd })
    }

    fn program(&self, named: Option<&Path>) -> Result<String> {
        let running = std::env::current_exe().doing(|| "finding this program".to_owned())?;
        let named = named.map(|path| self.cwd.join(path));
        let path = install::program_path(&running, named.as_deref(), &self.places)?;
        Ok(path.display().to_string())
    }
}

/// Locations of the clients' files and ours; an error if HOME is not set.
pub(super) fn places(found: &config::Places, project: &Project) -> Result<install::Places> {
    if found.user_home.is_none() {
        let message = "HOME is not set: clients keep their settings there";
        return Err(Error::new(ErrorKind::Absent, message));
    }
    Ok(ClientDirs::find(&found.cwd).for_install(&found.home, project.root()))
}
