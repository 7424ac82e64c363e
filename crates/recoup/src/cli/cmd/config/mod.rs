//! `recoup config`: shows and checks the configuration.

mod check;
mod env;
mod keys;
mod path;
mod show;

use clap::{Args, Subcommand};

use crate::cli::CommandResult;
use crate::cli::cmd::place::StoreScopeArgs;

/// Show and check the configuration.
#[derive(Debug, Args)]
pub(in crate::cli) struct ConfigArgs {
    #[command(subcommand)]
    action: ConfigCommand,
    #[command(flatten)]
    place: StoreScopeArgs,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show every key with its value
    Show(show::ConfigShowArgs),
    /// Report everything that is wrong; exit 2 if anything is
    Check(check::ConfigCheckArgs),
    /// List every key, what it takes and what it means
    Keys(keys::KeysArgs),
    /// List every environment variable that is read, and what it means
    Env(env::EnvArgs),
    /// Print where the user's configuration file is, or belongs
    Path(path::PathArgs),
}

impl ConfigArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let Self { action, place } = self;
        match action {
            ConfigCommand::Show(args) => args.run(&place.overrides()),
            ConfigCommand::Check(args) => args.run(&place.overrides()),
            ConfigCommand::Keys(args) => args.run(),
            ConfigCommand::Env(args) => args.run(),
            ConfigCommand::Path(args) => args.run(),
        }
    }
}
