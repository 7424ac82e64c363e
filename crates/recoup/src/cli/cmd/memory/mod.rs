//! `recoup memory`: shows and changes what is remembered.

mod change;
mod checkpoint;
mod dedup;
mod enforce;
mod export;
mod forget;
mod list;
mod report;
mod review;
mod sync;

use clap::{Args, Subcommand};
use recoup_core::memory::{Note, NoteId, NoteKind, NoteSource, NoteStatus, NoteTrust};
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use crate::cli::CommandResult;
use crate::cli::app::App;
use crate::config::FlagOverrides;
pub(in crate::cli) use review::ReviewDecision;

#[derive(Debug, Args)]
pub(in crate::cli) struct MemoryArgs {
    #[command(subcommand)]
    action: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// Remember something
    Add(change::AddArgs),
    /// List what is remembered here
    List(list::ListArgs),
    /// Show everything about one memory
    Show(NoteIdArgs),
    /// Search memories by words; exit 1 if there is no match
    Search(list::SearchArgs),
    /// Print the rules exactly as agents get them
    Rules(list::RulesArgs),
    /// Change the text of a memory
    Edit(change::EditArgs),
    /// Bring back a superseded or retired memory
    Restore(NoteIdArgs),
    /// Make a candidate an active rule
    Promote(NoteIdArgs),
    /// Choose what happens to a call that would break a rule: off, remind, ask or block
    Enforce(enforce::EnforceArgs),
    /// Decide about candidates one by one: keep, drop or edit each
    Review(review::ReviewArgs),
    /// Stop using a memory, but keep it
    Retire(NoteIdArgs),
    /// Show or clear the checkpoint of the work in this project; exit 1 if none is saved
    Checkpoint(checkpoint::CheckpointArgs),
    /// Find memories that say the same in different words, and merge them
    Dedup(dedup::DedupArgs),
    /// Delete memories permanently
    Forget(forget::ForgetArgs),
    /// Show which rules help: how often they were given, used and repeated, and what followed
    Report(report::MemoryReportArgs),
    /// Write memories as lines of JSON, or with --team the project's rules for the repository
    Export(export::ExportArgs),
    /// Import what `export` wrote; known memories are not changed
    Import(export::ImportArgs),
    /// Update Claude Code's own memory and skills from what is remembered
    Sync(sync::SyncArgs),
}

#[derive(Debug, Args)]
struct NoteIdArgs {
    /// The id of the memory
    #[arg(value_name = "ID")]
    id: String,
    /// As JSON
    #[arg(long)]
    json: bool,
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
            | MemoryCommand::Forget(_) => App::load_lenient()?,
            _ => App::load(&FlagOverrides::default())?,
        };
        match self.action {
            MemoryCommand::Add(args) => args.run(app),
            MemoryCommand::List(args) => args.run(app),
            MemoryCommand::Show(args) => args.show(app),
            MemoryCommand::Search(args) => args.run(app),
            MemoryCommand::Rules(args) => args.run(app),
            MemoryCommand::Edit(args) => args.run(app),
            MemoryCommand::Restore(args) => args.restore(app),
            MemoryCommand::Promote(args) => args.promote(app),
            MemoryCommand::Enforce(args) => args.run(app),
            MemoryCommand::Review(args) => args.run(app),
            MemoryCommand::Retire(args) => args.retire(app),
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

/// A note, as shown to users.
#[derive(Debug, Serialize)]
pub(super) struct NoteReport {
    id: String,
    kind: NoteKind,
    text: String,
    quote: Option<String>,
    source: NoteSource,
    trust: NoteTrust,
    scope: String,
    paths: Option<String>,
    topic: Option<String>,
    /// The end of its validity, in the user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// The time of that end, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_at: Option<String>,
    status: NoteStatus,
    evidence: u64,
    created_at: String,
    updated_at: String,
    superseded_by: Option<String>,
    /// The client whose agent recorded it for the user; only set by `show`.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_by: Option<String>,
    /// The check that its words give; only set by `show`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    check: Option<enforce::CheckReport>,
}

impl NoteReport {
    fn new(note: &Note) -> Self {
        Self {
            id: note.id.to_string(),
            kind: note.kind,
            text: note.text.clone(),
            quote: note.quote.clone(),
            source: note.source,
            trust: note.trust(),
            scope: note.scope.to_string(),
            paths: note.paths.clone(),
            topic: note.topic.clone(),
            until: note.until.clone(),
            ends_at: note.ends.map(|end| end.to_string()),
            status: note.status,
            evidence: note.evidence,
            created_at: note.created.to_string(),
            updated_at: note.updated.to_string(),
            superseded_by: note.superseded_by.as_ref().map(ToString::to_string),
            recorded_by: None,
            check: None,
        }
    }
}

/// Parses an id. One that cannot exist is reported like one that does not.
fn parse_id(text: &str) -> Result<NoteId> {
    NoteId::parse(text).map_err(|_| {
        let message = format!("no such memory: {text}; `recoup memory list --all` shows all ids");
        Error::new(ErrorKind::Absent, message)
    })
}
