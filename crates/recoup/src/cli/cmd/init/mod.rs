//! `recoup init`: hooks and server for the clients of this machine. Everything is worked out
//! and shown first; one question later it is written, or nothing is.

mod ask;
mod diff;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::project::Project;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

use crate::cli::{Answer, Ended, failure, mirror, ui};
use crate::config::{self, ClientDirs};
use crate::install::{self, Change, Client, Level, Plan, Wish, answers};
pub(super) use show::FileReport;
use show::Report;

/// The name that stands for every client that is not known.
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

/// What is asked once, and can be said beforehand.
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
        let around = Around::find()?;
        if self.clients.iter().any(|name| name == ANY) {
            return self.print_for_any(&around);
        }
        let named =
            self.clients.iter().map(|name| Client::parse(name)).collect::<Result<Vec<_>>>()?;
        let program = around.program(self.program.as_deref())?;
        let mut wish = Wish {
            places: &around.places,
            level: if self.project { Level::Project } else { Level::User },
            program: &program,
            replace_peers: self.replace_peers,
        };
        let (mut plans, failed) = plans(&named, &wish)?;
        if plans.is_empty() && failed.is_empty() {
            return Ok(no_client());
        }
        if self.may_ask() && ask::replaces_peers(&plans, &wish) {
            wish.replace_peers = true;
            plans = self::plans(&named, &wish)?.0;
        }
        let settings = self.settings(&around)?;
        let any = settings.is_any() || plans.iter().any(Plan::is_any);
        let mut report = Report::new(&wish, &plans, &settings, &failed);
        if !self.json {
            // Whoever said yes beforehand need not see it to the end (`recoup init --yes | head`).
            report.tell(any).or_else(|gone| self.yes.then_some(()).ok_or(gone))?;
        }
        if any && !self.dry_run && self.consents(&report)? {
            let changes: Vec<Change> =
                plans.iter().flat_map(|it| &it.changes).chain([&settings]).cloned().collect();
            let copies = install::put_in(&changes, &around.places.own, SystemClock.now())?;
            report.was_written(&copies);
            mirror::withdraw_unwanted();
            if !self.json {
                report.tell_end();
            }
        }
        if self.json {
            ui::json(&report)?;
        }
        let done = !any || self.dry_run || report.written;
        Ok(if done && failed.is_empty() { Answer::Yes } else { Answer::No })
    }

    /// Whether there is a person who wants to be asked.
    fn may_ask(&self) -> bool {
        !self.yes && !self.dry_run && !self.json && ui::can_ask()
    }

    fn consents(&self, report: &Report) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        if !self.may_ask() {
            return Err(Error::usage(
                "nothing was written: there is no terminal to ask on. If this is what you want, say \
                 `recoup init --yes`; --dry-run only shows it",
            ));
        }
        let agreed = ui::confirm(format_args!("Write {}?", report.files()));
        if !agreed {
            ui::say("Nothing was changed.");
        }
        Ok(agreed)
    }

    /// Our own configuration with what was answered.
    fn settings(&self, around: &Around) -> Result<Change> {
        let given = answers::given(&around.config, &around.places)?;
        let answers = ask::answers(self.said, &given, self.may_ask())?;
        let change = answers::written(&around.config, &answers, &around.places)?;
        demand_sound(&change, &around.places)?;
        Ok(change)
    }

    fn print_for_any(&self, around: &Around) -> Ended {
        if self.clients.len() > 1 {
            return Err(Error::usage("`--client mcp` stands alone: it only prints").into());
        }
        let program = around.program(self.program.as_deref()).unwrap_or_else(|error| {
            failure::warn(&error);
            "recoup".to_owned()
        });
        ui::line(install::for_any_client(&program))?;
        Ok(Answer::Yes)
    }
}

/// Every command reads our own configuration: nothing is written into one that is wrong, and
/// nothing that makes it so.
fn demand_sound(change: &Change, places: &install::Places) -> Result<()> {
    if !change.is_any() {
        return Ok(());
    }
    let shown = places.shown(&change.path);
    for (text, remedy) in [
        (&change.before, "mend it first (`recoup config check`)"),
        (&change.after, "this is a fault of recoup's own"),
    ] {
        let text = String::from_utf8_lossy(text.as_deref().unwrap_or_default());
        if let Some(problem) = config::problems_of_user_file(&text, &shown).first() {
            let message = format!("{problem}; nothing was changed: {remedy}");
            return Err(Error::new(ErrorKind::Invalid, message));
        }
    }
    Ok(())
}

/// Where everything is.
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

/// Where clients and we have our files. Without a home nobody knows.
pub(super) fn places(found: &config::Places, project: &Project) -> Result<install::Places> {
    if found.user_home.is_none() {
        let message = "HOME is not set: clients keep their settings there";
        return Err(Error::new(ErrorKind::Absent, message));
    }
    Ok(ClientDirs::find(&found.cwd).for_install(&found.home, project.root()))
}

/// A client for which nothing can be done, and why.
type Failed = (Client, Error);

/// What has to change for each client. One that was named must be possible; one that was only
/// found is left out, and the others go on.
fn plans(named: &[Client], wish: &Wish<'_>) -> Result<(Vec<Plan>, Vec<Failed>)> {
    let here = |client: &Client| client.is_here(wish.places);
    let clients: Vec<Client> = match named {
        [] => Client::ALL.into_iter().filter(here).collect(),
        named => Client::ALL.into_iter().filter(|client| named.contains(client)).collect(),
    };
    let (mut plans, mut failed) = (Vec::new(), Vec::new());
    for client in clients {
        match Plan::behind(&plans, client, wish) {
            Ok(plan) => plans.push(plan),
            Err(error) if named.is_empty() => failed.push((client, error)),
            Err(error) => return Err(error),
        }
    }
    Ok((plans, failed))
}

fn no_client() -> Answer {
    ui::error("no client was found on this machine");
    ui::hint(
        "name one (`--client claude-code`), or print what any MCP client takes: `--client mcp`",
    );
    Answer::No
}
