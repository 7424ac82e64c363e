//! `recoup config`: shows and checks the configuration.

mod check;
mod env;
mod keys;
mod path;
mod show;

use clap::{Args, Subcommand};

use crate::cli::Ended;
use crate::cli::cmd::place::PlaceArgs;

/// Show and check the configuration.
#[derive(Debug, Args)]
pub(in crate::cli) struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show every key with its value
    Show(show::ShowArgs),
    /// Report everything that is wrong; exit 2 if anything is
    Check(check::CheckArgs),
    /// List every key, what it takes and what it means
    Keys(keys::KeysArgs),
    /// List every environment variable that is read, and what it means
    Env(env::EnvArgs),
    /// Print where the user's configuration file is, or belongs
    Path(path::PathArgs),
}

impl ConfigArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        let Self { action, place } = self;
        match action {
            Action::Show(args) => args.run(&place.overrides()),
            Action::Check(args) => args.run(&place.overrides()),
            Action::Keys(args) => args.run(),
            Action::Env(args) => args.run(),
            Action::Path(args) => args.run(),
        }
    }
}
