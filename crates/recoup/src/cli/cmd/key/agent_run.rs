//! `recoup key agent-run`.

use clap::Args;
use recoup_core::Result;
use recoup_core::key::KeyRecipe as _;
use recoup_core::key::agent_run::AgentRunRecipe;

use crate::cli::{CommandAnswer, CommandResult, input, ui};

/// Print the key of an agent run: 64 hex digits.
#[derive(Debug, Args)]
pub(in crate::cli) struct AgentRunArgs {
    /// The agent's name
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    agent: String,
    /// The system prompt
    #[arg(long, value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    system: String,
    /// The user prompt; turns of a longer run are joined with \x01
    #[arg(long, value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    user: String,
    /// The model's name
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    model: String,
}

impl AgentRunArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        ui::line(self.recipe()?.key()?)?;
        Ok(CommandAnswer::Yes)
    }

    pub(in crate::cli) fn recipe(self) -> Result<AgentRunRecipe> {
        let Self { agent, system, user, model } = self;
        let system = input::decode_utf8("--system", input::text_or_file("--system", &system)?)?;
        let user = input::decode_utf8("--user", input::text_or_file("--user", &user)?)?;
        Ok(AgentRunRecipe { agent, system, user, model })
    }
}
