//! `recoup early-exit race`, and the process that watches over it.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use recoup_core::base::ttl::Ttl;
use recoup_core::{Error, ErrorKind, Result};

use super::named::SessionArg;
use crate::cli::app::App;
use crate::cli::failure::{self, Failure};
use crate::cli::{Answer, NO, USAGE, YES, ui};
use crate::exec::End;
use crate::race::{self, Outcome, Race};

/// What stands between two commands.
const BETWEEN: &str = "---";
/// How long those who lose may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Run several commands, print what the first to succeed printed, end the others.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct RaceArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Give up after this time: 90s, 10m
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    timeout: Option<String>,
    /// How long those who lose may take to end by themselves [default: 5s]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    grace: Option<String>,
    /// The commands, with --- between them
    #[arg(value_name = "COMMAND", required = true, last = true)]
    commands: Vec<OsString>,
}

const AFTER_HELP: &str = "\
Example:
  recoup early-exit race review -- claude -p 'review src' --- codex exec 'review src'

Exit codes: 0 with the winner's output; 1 when all commands failed, with a line on each; 124 when
the time was up; 125 when recoup itself fails; 2 wrong usage.";

/// Be the process that ends what a killed race left behind.
#[derive(Debug, Args)]
pub(super) struct GuardArgs {
    grace_ms: u64,
}

impl GuardArgs {
    pub(super) fn run(self) -> Answer {
        race::watch_over(Duration::from_millis(self.grace_ms));
        Answer::Yes
    }
}

impl RaceArgs {
    /// Whatever happens, the exit code says so.
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> Answer {
        ui::sign_lines();
        Answer::Exit(match self.perform(app) {
            Ok(code) => code,
            Err(Failure::Error(error)) if error.kind() == ErrorKind::Usage => {
                Failure::Error(error).report();
                USAGE
            }
            Err(Failure::ReaderGone) => YES,
            Err(failure) => {
                failure.report();
                race::FAILED
            }
        })
    }

    fn perform(self, app: impl FnOnce() -> Result<&'static App>) -> Result<i32, Failure> {
        let session = self.session.name()?;
        let timeout = duration("--timeout", self.timeout.as_deref())?;
        let timeout = timeout.filter(|time| !time.is_zero());
        let grace = duration("--grace", self.grace.as_deref())?.unwrap_or(GRACE);
        let commands = commands(&self.commands)?;
        let early_exit = &app()?.early_exit_for_writing()?;
        let race = Race { session, commands, timeout, grace, early_exit, warn: failure::warn };
        Ok(match race.perform()? {
            Outcome::Ours(mut output) => {
                ui::replay(&mut output.out, &mut output.err)?;
                YES
            }
            Outcome::Theirs(answer) => {
                ui::say(format_args!("{} has won this session elsewhere", answer.agent));
                ui::data(&[&answer.result.unwrap_or_default()])?;
                YES
            }
            Outcome::Failed(why) => {
                ui::say("all commands failed");
                for line in why {
                    ui::say(format_args!("  {line}"));
                }
                NO
            }
            Outcome::TimedOut => {
                ui::say("no command succeeded in time");
                race::TIMED_OUT
            }
            Outcome::Interrupted(signal) => End::Signal(signal).leave(),
        })
    }
}

fn duration(flag: &str, given: Option<&str>) -> Result<Option<Duration>> {
    let given = given.map(|given| Ttl::parse(flag, given)).transpose()?;
    Ok(given.and_then(Ttl::as_millis).map(Duration::from_millis))
}

/// Each with its arguments.
fn commands(words: &[OsString]) -> Result<Vec<Vec<OsString>>> {
    let commands: Vec<Vec<OsString>> =
        words.split(|word| word == BETWEEN).map(<[OsString]>::to_vec).collect();
    if commands.iter().any(|command| command.first().is_none_or(|name| name.is_empty())) {
        let message = format!("a command is empty: expected COMMAND [{BETWEEN} COMMAND]… after --");
        return Err(Error::usage(message));
    }
    Ok(commands)
}
