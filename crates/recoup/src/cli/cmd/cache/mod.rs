//! `recoup cache`: the result cache of the semantic-cache protocol. A one-line wrapper, `exec recoup cache "$@"`,
//! replaces the original script.

mod get;
mod ls;
mod remove;
mod select;
mod set;
mod stats;
mod verify;

use clap::{Args, Subcommand};

use crate::cli::CommandResult;
use crate::cli::app::App;
use crate::cli::cmd::key::ResultArgs;
use crate::cli::cmd::place::StoreScopeArgs;
pub(in crate::cli) use ls::{EntryReport, describe_entry};
pub(in crate::cli) use select::{ResultSelectorArgs, find_entry, is_key_or_prefix};

#[derive(Debug, Args)]
pub(in crate::cli) struct CacheArgs {
    #[command(subcommand)]
    action: CacheCommand,
    #[command(flatten)]
    place: StoreScopeArgs,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in a process")]
enum CacheCommand {
    /// Print the key for paths, query and operation
    GenerateKey(ResultArgs),
    /// Print a result that is still valid; exit 1 on a miss
    Get(get::GetArgs),
    /// Store a result
    Set(set::SetArgs),
    /// Delete one result
    Delete(remove::DeleteArgs),
    /// Delete results by source file, tag or operation
    Invalidate(remove::InvalidateArgs),
    /// Delete expired entries, then the least recently used until under the limit
    Cleanup(remove::CacheCleanupArgs),
    /// List entries
    Ls(ls::LsArgs),
    /// Show everything about an entry except its body
    Show(ls::CacheShowArgs),
    /// Show the size and the hit rate of this scope
    Stats(stats::CacheStatsArgs),
    /// Check all entries in this scope for damage
    Verify(verify::VerifyArgs),
    /// Delete all entries in this scope
    Clear(remove::ClearArgs),
}

/// The arguments of `recoup cache get` alone.
#[derive(Debug, Args)]
pub(in crate::cli) struct CacheGetArgs {
    #[command(flatten)]
    get: get::GetArgs,
    #[command(flatten)]
    place: StoreScopeArgs,
}

impl CacheArgs {
    pub(in crate::cli) fn get(args: CacheGetArgs) -> Self {
        Self { action: CacheCommand::Get(args.get), place: args.place }
    }

    pub(in crate::cli) fn run(self) -> CommandResult {
        let Self { action, place } = self;
        let overrides = place.overrides();
        let app = || App::load(&overrides);
        match action {
            // A key depends on its parts only: no settings are loaded.
            CacheCommand::GenerateKey(args) => args.run(),
            CacheCommand::Get(args) => args.run(app()?),
            CacheCommand::Set(args) => args.run(app()?),
            CacheCommand::Delete(args) => args.run(app()?),
            CacheCommand::Invalidate(args) => args.run(app()?),
            CacheCommand::Cleanup(args) => args.run(app()?),
            CacheCommand::Ls(args) => args.run(app()?),
            CacheCommand::Show(args) => args.run(app()?),
            CacheCommand::Stats(args) => args.run(app()?),
            CacheCommand::Verify(args) => args.run(app()?),
            CacheCommand::Clear(args) => args.run(app()?),
        }
    }
}
