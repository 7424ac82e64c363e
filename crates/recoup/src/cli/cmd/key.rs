//! `recoup key`: prints any of our keys. `recoup key result` is also `recoup cache generate-key`.

use clap::{Args, Subcommand};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::key::KeyRecipe as _;
use recoup_core::key::agent_run::AgentRunRecipe;
use recoup_core::key::canonical::canonical;
use recoup_core::key::result::ResultRecipe;
use recoup_core::{Error, Result};

use crate::cli::{CommandAnswer, CommandResult, input, ui};

#[derive(Debug, Args)]
pub(in crate::cli) struct KeyArgs {
    #[command(subcommand)]
    kind: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// The key of a result: paths, query and operation
    Result(ResultArgs),
    /// The key of an agent run: agent, prompts and model
    AgentRun(AgentRunArgs),
    /// Canonical JSON (RFC 8785), from which keys of JSON are computed
    Canonical(CanonicalArgs),
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

#[derive(Debug, Args)]
pub(in crate::cli) struct ResultArgs {
    /// The paths to look at, separated by commas; order and repetition do not matter
    #[arg(long, value_name = "CSV", allow_hyphen_values = true)]
    paths: String,
    /// The question; case and white space do not matter
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: String,
    /// The skill or operation that answers
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    operation: String,
}

impl ResultArgs {
    pub(in crate::cli) fn run(&self) -> CommandResult {
        let key = ResultRecipe::new(&self.paths, &self.query, &self.operation).key()?;
        ui::line(key)?;
        Ok(CommandAnswer::Yes)
    }
}

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

#[derive(Debug, Args)]
struct CanonicalArgs {
    /// The JSON: given here, from a file (@FILE) or from stdin (-)
    #[arg(value_name = "JSON|@FILE|-", default_value = "-", allow_negative_numbers = true)]
    json: String,
    /// Print the SHA-256 of the canonical form instead
    #[arg(long)]
    sha256: bool,
}

impl CanonicalArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let given =
            input::decode_utf8("the JSON", input::text_file_or_stdin("the JSON", &self.json)?)?;
        let text = canonical(&given)
            .map_err(|error| Error::new(input::invalid_kind(&self.json), error.to_string()))?;
        if self.sha256 {
            ui::line(Sha256Digest::of(text.as_bytes()))?;
        } else {
            ui::line(text)?;
        }
        Ok(CommandAnswer::Yes)
    }
}
