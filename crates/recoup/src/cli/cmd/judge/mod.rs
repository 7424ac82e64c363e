//! `recoup judge`: the model that memory asks, what it costs, and whether it answers.

mod ask;
mod status;

use clap::{Args, Subcommand};

use crate::cli::Ended;
use crate::cli::app::App;
use crate::config::Overrides;

/// See and try the model that helps to remember.
#[derive(Debug, Args)]
pub(in crate::cli) struct JudgeArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Tell whether a model is asked, which, what it has cost today, and what went wrong last
    Status(status::StatusArgs),
    /// Ask it about a text, and show what it makes of it; nothing is remembered
    Test(ask::TestArgs),
}

impl JudgeArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        let app = App::load(&Overrides::default())?;
        match self.action {
            Action::Status(args) => args.run(app),
            Action::Test(args) => args.run(app),
        }
    }
}
