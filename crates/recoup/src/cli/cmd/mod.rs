//! The commands, one file each.

mod cache;
mod completions;
mod config;
mod key;
mod man;
mod place;
mod tour;
mod trust;

use clap::Subcommand;

use super::Ended;

/// What recoup can do.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one of them, made at the start")]
pub(super) enum Command {
    /// Cache Manager: keep results, and get them back while they are true
    Cache(cache::CacheArgs),
    /// Show and check the configuration
    Config(config::ConfigArgs),
    /// Print a cache key, without touching any cache
    Key(key::KeyArgs),
    /// Let this repository's files say where entries are kept
    Trust(trust::TrustArgs),
    /// Print a shell's completions
    Completions(completions::CompletionsArgs),
    /// Print a manual page, or write all of them
    Man(man::ManArgs),
    /// Show the main job end to end, in a temporary home
    Tour(tour::TourArgs),
}

impl Command {
    pub(super) fn run(self) -> Ended {
        match self {
            Self::Cache(args) => args.run(),
            Self::Config(args) => args.run(),
            Self::Key(args) => args.run(),
            Self::Trust(args) => args.run(),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
            Self::Tour(args) => args.run(),
        }
    }
}
