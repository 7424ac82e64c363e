//! The commands, one file each.

mod cache;
mod key;
mod tour;

use clap::Subcommand;

use super::Ended;

/// What recoup can do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Cache Manager: keep results, and get them back while they are true
    Cache(cache::CacheArgs),
    /// Print a cache key, without touching any cache
    Key(key::KeyArgs),
    /// Show the main job end to end, in a temporary home
    Tour(tour::TourArgs),
}

impl Command {
    pub(super) fn run(self) -> Ended {
        match self {
            Self::Cache(args) => args.run(),
            Self::Key(args) => args.run(),
            Self::Tour(args) => args.run(),
        }
    }
}
