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

use crate::cli::Ended;
use crate::cli::app::App;
use crate::config::Overrides;

/// See and change what is remembered.
#[derive(Debug, Args)]
pub(in crate::cli) struct MemoryArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Remember something
    Add(add::AddArgs),
    /// List what is remembered here
    List(list::ListArgs),
    /// Tell everything about one memory
    Show(list::ShowArgs),
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
    Report(helped::ReportArgs),
    /// Write memories as lines of JSON, or with --team the project's rules for the repository
    Export(transfer::ExportArgs),
    /// Take in what `export` wrote; what is known stays as it is
    Import(transfer::ImportArgs),
    /// Bring Claude Code's own memory, and skills, in step with what is remembered
    Sync(sync::SyncArgs),
}

impl MemoryArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        let app = match self.action {
            Action::List(_)
            | Action::Show(_)
            | Action::Search(_)
            | Action::Restore(_)
            | Action::Promote(_)
            | Action::Retire(_)
            | Action::Checkpoint(_)
            | Action::Forget(_) => App::load_lenient()?,
            _ => App::load(&Overrides::default())?,
        };
        match self.action {
            Action::Add(args) => args.run(app),
            Action::List(args) => args.run(app),
            Action::Show(args) => args.run(app),
            Action::Search(args) => args.run(app),
            Action::Rules(args) => args.run(app),
            Action::Edit(args) => args.run(app),
            Action::Restore(args) => args.run(app),
            Action::Promote(args) => args.run(app),
            Action::Retire(args) => args.run(app),
            Action::Checkpoint(args) => args.run(app),
            Action::Dedup(args) => args.run(app),
            Action::Forget(args) => args.run(app),
            Action::Report(args) => args.run(app),
            Action::Export(args) => args.run(app),
            Action::Import(args) => args.run(app),
            Action::Sync(args) => args.run(app),
        }
    }
}
