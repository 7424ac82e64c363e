//! `recoup judge`: the model that memory asks, what it costs, and whether it answers.

mod ask;
mod status;

use clap::{Args, Subcommand};

use crate::cli::CommandResult;
use crate::cli::app::AppContext;
use crate::config::FlagOverrides;

/// See and try the model that helps to remember.
#[derive(Debug, Args)]
pub(in crate::cli) struct JudgeArgs {
    #[command(subcommand)]
    action: JudgeCommand,
}

#[derive(Debug, Subcommand)]
enum JudgeCommand {
    /// Tell whether a model is asked, which, what it has cost today, and what went wrong last
    Status(status::JudgeStatusArgs),
    /// Ask it about a text, and show what it makes of it; nothing is remembered
    Test(ask::JudgeTestArgs),
}

impl JudgeArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = AppContext::load(&FlagOverrides::default())?;
        match self.action {
            JudgeCommand::Status(args) => args.run(app),
            JudgeCommand::Test(args) => args.run(app),
        }
    }
}
