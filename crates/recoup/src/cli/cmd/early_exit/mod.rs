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
    /// `redis://HOST` for agents on several machines; any other store is local to this machine
    /// [default: sqlite:~/.recoup/cache.db]
    #[arg(long, global = true, display_order = 100, value_name = "URL")]
    store: Option<String>,
}

const AFTER_HELP: &str = "\
Names of sessions and agents have 1 to 128 characters of A-Z a-z 0-9 . _ - (not . or ..). All \
users of a store share its sessions. A session is deleted after 24 hours without activity.

Exit codes: 0 yes, 1 no (for check: 0 go on, 1 stop), 2 wrong usage.";

#[derive(Debug, Subcommand)]
enum EarlyExitCommand {
    /// Check whether to go on: exit 0 go on, 1 an agent has won
    Check(sessions::SessionCheckArgs),
    /// Try to win the session: exit 0 won, 1 lost
    ///
    /// The first agent that signals in a session wins. A second signal of the winner exits with 1.
    /// Exception: if a server did not answer the first one, repeat it with the same name; it exits
    /// with 0 if the first had won. If the winner delivers no result within its lease, another agent
    /// can win; until one does, a late result still counts.
    Signal(sessions::SignalArgs),
    /// Register an agent in a session
    Register(sessions::RegisterArgs),
    /// Store an agent's result, from a file or stdin
    WriteResult(sessions::WriteResultArgs),
    /// Print the winner's result; exit 1 while there is none
    ReadWinner(winner::ReadWinnerArgs),
    /// Wait for the winner's result, and print it
    Poll(winner::PollArgs),
    /// Show the agents, the winner and the results of a session; or list all sessions
    Status(winner::SessionStatusArgs),
    /// Delete a session
    Cleanup(sessions::SessionCleanupArgs),
    /// Run several commands, print the output of the first that succeeds, stop the others
    ///
    /// Each command runs in its own process group, with empty stdin. The first to exit with 0 wins:
    /// its output is printed on stdout and stderr, and its stdout is stored as the session's
    /// result. The others get SIGTERM, and SIGKILL after a grace period. If another process wins
    /// the session, on this machine or another, its result is printed instead. A session is good
    /// for one race: if it is already won, nothing is run, and the winner's result is printed
    /// again. To race again, use another name, or `cleanup` the session first.
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
