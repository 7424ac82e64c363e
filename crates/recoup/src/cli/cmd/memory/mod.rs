//! `recoup memory`: shows and changes what is remembered.

mod add;
mod change;
mod checkpoint;
mod dedup;
mod forget;
mod helped;
mod list;
mod report;
mod search;
mod share;
mod sync;
mod transfer;

use clap::{Args, Subcommand};

use crate::cli::CommandResult;
use crate::cli::app::AppContext;
use crate::config::FlagOverrides;

/// See and change what is remembered.
#[derive(Debug, Args)]
pub(in crate::cli) struct MemoryArgs {
    #[command(subcommand)]
    action: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// Remember something
    Add(add::AddArgs),
    /// List what is remembered here
    List(list::ListArgs),
    /// Tell everything about one memory
    Show(list::MemoryShowArgs),
    /// Find memories by their words; exit 1 when there is none
    Search(search::SearchArgs),
    /// Print exactly what an agent is given
    Rules(search::RulesArgs),
    /// Say it in other words
    Edit(change::EditArgs),
    /// Bring back what was superseded or retired
    Restore(change::RestoreArgs),
    /// Make a rule of what was only inferred
    Promote(change::PromoteArgs),
    /// Let it count no longer, and keep it
    Retire(change::RetireArgs),
    /// Show where work in this project stands, or clear that; exit 1 when nothing is saved
    Checkpoint(checkpoint::CheckpointArgs),
    /// Find memories that say the same in other words, and merge them
    Dedup(dedup::DedupArgs),
    /// Remove it for good
    Forget(forget::ForgetArgs),
    /// Tell which rules help: given, used, repeated, and what came after
    Report(helped::MemoryReportArgs),
    /// Write memories as lines of JSON, or with --team the project's rules for the repository
    Export(transfer::ExportArgs),
    /// Take in what `export` wrote; what is known stays as it is
    Import(transfer::ImportArgs),
    /// Bring Claude Code's own memory, and skills, in step with what is remembered
    Sync(sync::SyncArgs),
}

impl MemoryArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = match self.action {
            MemoryCommand::List(_)
            | MemoryCommand::Show(_)
            | MemoryCommand::Search(_)
            | MemoryCommand::Restore(_)
            | MemoryCommand::Promote(_)
            | MemoryCommand::Retire(_)
            | MemoryCommand::Checkpoint(_)
            | MemoryCommand::Forget(_) => AppContext::load_lenient()?,
            _ => AppContext::load(&FlagOverrides::default())?,
        };
        match self.action {
            MemoryCommand::Add(args) => args.run(app),
            MemoryCommand::List(args) => args.run(app),
            MemoryCommand::Show(args) => args.run(app),
            MemoryCommand::Search(args) => args.run(app),
            MemoryCommand::Rules(args) => args.run(app),
            MemoryCommand::Edit(args) => args.run(app),
            MemoryCommand::Restore(args) => args.run(app),
            MemoryCommand::Promote(args) => args.run(app),
            MemoryCommand::Retire(args) => args.run(app),
            MemoryCommand::Checkpoint(args) => args.run(app),
            MemoryCommand::Dedup(args) => args.run(app),
            MemoryCommand::Forget(args) => args.run(app),
            MemoryCommand::Report(args) => args.run(app),
            MemoryCommand::Export(args) => args.run(app),
            MemoryCommand::Import(args) => args.run(app),
            MemoryCommand::Sync(args) => args.run(app),
        }
    }
}
