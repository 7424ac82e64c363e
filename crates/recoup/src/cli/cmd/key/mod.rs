//! `recoup key`: prints any of our keys.

pub(in crate::cli) mod agent_run;
mod canonical;
pub(in crate::cli) mod result;

use clap::{Args, Subcommand};

use crate::cli::CommandResult;

/// Print a cache key, without touching any cache.
#[derive(Debug, Args)]
pub(in crate::cli) struct KeyArgs {
    #[command(subcommand)]
    kind: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// The key of a result: paths, query and operation
    Result(result::ResultArgs),
    /// The key of an agent run: agent, prompts and model
    AgentRun(agent_run::AgentRunArgs),
    /// Canonical JSON (RFC 8785), which keys of JSON are made from
    Canonical(canonical::CanonicalArgs),
}

impl KeyArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        match self.kind {
            KeyCommand::Result(args) => args.run(),
            KeyCommand::AgentRun(args) => args.run(),
            KeyCommand::Canonical(args) => args.run(),
        }
    }
}
