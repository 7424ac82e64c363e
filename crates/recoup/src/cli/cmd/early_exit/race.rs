//! `recoup early-exit race`, and its guard process.

use std::ffi::OsString;
use std::io::Cursor;
use std::time::Duration;

use clap::Args;
use recoup_core::base::name::SafeName;
use recoup_core::base::ttl::Ttl;
use recoup_core::{Error, ErrorKind, Result};

use super::sessions::SessionNameArgs;
use crate::cli::app::App;
use crate::cli::failure::{self, CommandError, DataLocation};
use crate::cli::{CommandAnswer, NO, USAGE, YES, input, ui};
use crate::exec::CommandEnd;
use crate::race::{self, OutputQueue, RaceOptions, RaceOutcome, RaceProgress, RunningRace};

/// Separator between two commands.
const BETWEEN: &str = "---";
/// Default time for losing commands to exit before they are killed.
const DEFAULT_GRACE: Ttl = Ttl::seconds(5);

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct RaceArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// Give up after this time: 90s, 10m [default: never]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    timeout: Option<String>,
    /// How long the losers may take to exit before they are killed; forever: never kill [default:
    /// 5s]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    grace: Option<String>,
    /// The commands, separated by ---
    #[arg(value_name = "COMMAND", required = true, last = true)]
    commands: Vec<OsString>,
}

const AFTER_HELP: &str = "\
Example:
  recoup early-exit race review -- claude -p 'review src' --- codex exec 'review src'

Exit codes: 0 with the winner's output; 1 when all commands failed, with a line for each; 124 \
on timeout; 125 when recoup itself fails; 2 wrong usage.";

#[derive(Debug, Args)]
pub(super) struct GuardArgs {
    race: String,
    /// Without it nobody is killed.
    grace_ms: Option<u64>,
}

impl GuardArgs {
    pub(super) fn run(self) -> CommandAnswer {
        let grace = self.grace_ms.map(Duration::from_millis);
        race::run_guard(&self.race, grace, ui::outlets().out);
        CommandAnswer::Yes
    }
}

impl RaceArgs {
    /// Runs the race; a failure is reported and becomes an exit code.
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandAnswer {
        ui::prefix_lines();
        CommandAnswer::Exit(match self.run_race(app) {
            Ok(code) => code,
            Err(CommandError::Error(error)) if error.kind() == ErrorKind::Usage => {
                CommandError::Error(error).report(DataLocation::InStore);
                USAGE
            }
            Err(failure) => {
                failure.report(DataLocation::InStore);
                race::FAILED
            }
        })
    }

    fn run_race(self, app: impl FnOnce() -> Result<&'static App>) -> Result<i32, CommandError> {
        let session = self.session.name()?;
        let limit = |ttl: Ttl| ttl.as_millis().map(Duration::from_millis);
        let timeout = input::duration("--timeout", self.timeout.as_deref())?.and_then(limit);
        let timeout = timeout.filter(|time| !time.is_zero());
        let grace = input::duration("--grace", self.grace.as_deref())?;
        let grace = limit(grace.unwrap_or(DEFAULT_GRACE));
        let commands: Vec<Vec<OsString>> =
            self.commands.split(|word| word == BETWEEN).map(<[OsString]>::to_vec).collect();
        if commands.iter().any(|command| command.first().is_none_or(|name| name.is_empty())) {
            let expected = format!("expected COMMAND [{BETWEEN} COMMAND]… after --");
            return Err(Error::usage(format!("a command is empty: {expected}")).into());
        }
        let early_exit = &app()?.early_exit_for_writing()?;
        let shown = session.clone();
        let race =
            RaceOptions { session, commands, timeout, grace, early_exit, warn: failure::warn };
        let mut contest = RunningRace::prepare(race)?;
        let outcome = contest.decide();
        let (code, delivery) = match outcome {
            Ok(outcome) => exit_code_and_output(&shown, outcome),
            // After an error, too, no command is left running.
            Err(error) => {
                contest.finish(OutputQueue::default())?;
                return Err(error.into());
            }
        };
        match contest.finish(delivery)? {
            Some(signal) => Ok(CommandEnd::Signal(signal).exit_code_or_kill_self()),
            None => Ok(code),
        }
    }
}

/// Exit code and output of a finished race. Prints why there is none, or who has won elsewhere.
fn exit_code_and_output(session: &SafeName, outcome: RaceOutcome) -> (i32, OutputQueue) {
    let (nothing, outlets) = (OutputQueue::default(), ui::outlets());
    match outcome {
        RaceOutcome::Ours(output) => {
            (YES, nothing.with_messages(output.err, outlets.err).with_data(output.out, outlets.out))
        }
        RaceOutcome::Theirs(answer, begun) => {
            let at = answer.at.map(|at| format!(" at {}", at.to_second_string()));
            let (agent, at) = (&answer.agent, at.unwrap_or_default());
            match begun {
                RaceProgress::Yes => {
                    ui::say(format_args!("{agent} has won this session elsewhere{at}"));
                }
                RaceProgress::No => ui::say(format_args!(
                    "{agent} has already won this session{at}: its result is printed, and nothing \
                     was run; to race again, use another name or delete the session (recoup \
                     early-exit cleanup {session})"
                )),
            }
            (YES, nothing.with_data(Cursor::new(answer.result.unwrap_or_default()), outlets.out))
        }
        RaceOutcome::Failed(why) => {
            ui::say("all commands failed");
            for line in why {
                ui::say(format_args!("  {line}"));
            }
            (NO, nothing)
        }
        RaceOutcome::TimedOut => {
            ui::say("no command succeeded in time");
            (race::TIMED_OUT, nothing)
        }
        RaceOutcome::Interrupted(signal) => (128 + signal, nothing),
    }
}
