//! `recoup early-exit`: of several agents with one question, the first to answer tells the others
//! to stop. A one-line wrapper, `exec recoup early-exit "$@"`, replaces the original script.

mod race;
mod sessions;
mod winner;

use clap::{Args, Subcommand};

use crate::cli::CommandResult;
use crate::cli::app::App;
use crate::config::FlagOverrides;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct EarlyExitArgs {
    #[command(subcommand)]
    action: EarlyExitCommand,
    #[command(flatten)]
    place: SessionStoreArgs,
}

/// `--store`, for sessions.
#[derive(Debug, Args)]
struct SessionStoreArgs {
    /// `redis://HOST` for agents on several machines; any other store means this one
    /// [default: sqlite:~/.recoup/cache.db]
    #[arg(long, global = true, display_order = 100, value_name = "URL")]
    store: Option<String>,
}

const AFTER_HELP: &str = "\
Sessions and agents have names of 1 to 128 characters of A-Z a-z 0-9 . _ - (not . or ..). All who
use the same store share the sessions; one in which nothing happens for 24 hours is forgotten.

Exit codes: 0 yes, 1 no (for check: 0 go on, 1 stop), 2 wrong usage.";

#[derive(Debug, Subcommand)]
enum EarlyExitCommand {
    /// Ask whether to go on: exit 0 go on, 1 somebody has won
    Check(sessions::SessionCheckArgs),
    /// Win, unless somebody has: exit 0 won, 1 lost
    ///
    /// Of all who signal in a session one wins, and only once: the winner's own second signal
    /// loses, too. A winner without a result makes room for another after its lease; a late result
    /// of its own counts as long as nobody has taken its place. When a server does not answer, who
    /// has won is not known, and the message says so: signal again by the same name, which wins
    /// where the first did unheard.
    Signal(sessions::SignalArgs),
    /// Note that an agent takes part
    Register(sessions::RegisterArgs),
    /// Keep an agent's result, from a file or stdin
    WriteResult(sessions::WriteResultArgs),
    /// Print the winner's result; exit 1 while there is none
    ReadWinner(winner::ReadWinnerArgs),
    /// Wait for the winner's result, and print it
    Poll(winner::PollArgs),
    /// Tell who takes part, who has won and who has a result; or list the sessions
    Status(winner::SessionStatusArgs),
    /// Forget a session
    Cleanup(sessions::SessionCleanupArgs),
    /// Run several commands, print what the first to succeed printed, end the others
    ///
    /// Each command has a process group of its own and reads nothing. The first to exit with 0
    /// wins: what it wrote is given out on stdout and stderr, and its stdout is kept as the
    /// session's result. The others get TERM, and KILL after a grace. When somebody else wins the
    /// session, on this machine or another, that result is printed instead. So a session is good
    /// for one race: in one that is won nothing is run, and the winner's answer is printed again.
    /// To race anew take another name, or `cleanup` the session first.
    Race(race::RaceArgs),
    /// Be the process that ends what a killed race left behind.
    #[command(hide = true)]
    Guard(race::GuardArgs),
}

/// The arguments of `recoup early-exit check` alone.
#[derive(Debug, Args)]
pub(in crate::cli) struct EarlyExitCheckArgs {
    #[command(flatten)]
    check: sessions::SessionCheckArgs,
    #[command(flatten)]
    place: SessionStoreArgs,
}

impl EarlyExitArgs {
    pub(in crate::cli) fn check(args: EarlyExitCheckArgs) -> Self {
        Self { action: EarlyExitCommand::Check(args.check), place: args.place }
    }

    pub(in crate::cli) fn run(self) -> CommandResult {
        let Self { action, place } = self;
        let overrides = FlagOverrides { store: place.store, scope: None };
        // Loaded late: a wrong name is an error whatever the configuration says.
        let app = || App::load(&overrides);
        match action {
            EarlyExitCommand::Check(args) => args.run(app),
            EarlyExitCommand::Signal(args) => args.run(app),
            EarlyExitCommand::Register(args) => args.run(app),
            EarlyExitCommand::WriteResult(args) => args.run(app),
            EarlyExitCommand::ReadWinner(args) => args.run(app),
            EarlyExitCommand::Poll(args) => args.run(app),
            EarlyExitCommand::Status(args) => args.run(app),
            EarlyExitCommand::Cleanup(args) => args.run(app),
            EarlyExitCommand::Race(args) => Ok(args.run(app)),
            EarlyExitCommand::Guard(args) => Ok(args.run()),
        }
    }
}
