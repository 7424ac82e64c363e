//! `recoup condense`: shortens results and reports. A one-line wrapper, `exec recoup condense
//! "$@"`, replaces the original script.

mod estimate;
mod externalize;
mod make;
mod strategies;

use std::io;
use std::path::Path;

use clap::{Args, Subcommand};
use recoup_core::{Error, ErrorKind, Result};

use crate::cli::{CommandResult, input};

/// Maximum input size: a parsed result takes several times its size in memory.
const MAX_INPUT: u64 = 256 << 20;

/// Condense: make a result or a report short enough to be read.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::cli) struct CondenseArgs {
    #[command(subcommand)]
    word: Option<CondenseSubcommand>,
    #[command(flatten)]
    make: Option<make::CondenseInputArgs>,
}

#[derive(Debug, Subcommand)]
enum CondenseSubcommand {
    /// Condense: make a result or a report short enough to be read
    // An alias for scripts that repeat the word.
    #[command(hide = true)]
    Condense(CondenseAliasArgs),
    #[command(flatten)]
    Action(CondenseCommand),
}

/// Arguments after the redundant word `condense`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct CondenseAliasArgs {
    #[command(subcommand)]
    action: Option<CondenseCommand>,
    #[command(flatten)]
    make: Option<make::CondenseInputArgs>,
}

#[derive(Debug, Subcommand)]
enum CondenseCommand {
    /// List the strategies
    Strategies(strategies::StrategiesArgs),
    /// Tell how many tokens each strategy would save
    Estimate(estimate::EstimateArgs),
}

impl CondenseArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        match self.word {
            Some(CondenseSubcommand::Condense(CondenseAliasArgs { action, make })) => {
                run(action, make)
            }
            Some(CondenseSubcommand::Action(action)) => run(Some(action), None),
            None => run(None, self.make),
        }
    }
}

fn run(action: Option<CondenseCommand>, make: Option<make::CondenseInputArgs>) -> CommandResult {
    match (action, make) {
        (Some(CondenseCommand::Strategies(args)), _) => args.run(),
        (Some(CondenseCommand::Estimate(args)), _) => args.run(),
        (None, Some(args)) => args.run(),
        (None, None) => Err(Error::usage("--input FILE is missing (- for stdin)").into()),
    }
}

/// The contents of `FILE`, or of stdin for `-`.
fn read_input(given: &str) -> Result<Vec<u8>> {
    if given == "-" {
        return input::stdin_up_to(MAX_INPUT);
    }
    input::file_up_to(MAX_INPUT, "--input", Path::new(given)).map_err(|error| {
        let cause = std::error::Error::source(&error).and_then(|it| it.downcast_ref::<io::Error>());
        match cause.map(io::Error::kind) {
            Some(io::ErrorKind::NotFound) => {
                Error::new(ErrorKind::Io, format!("Input file not found: {given}"))
            }
            _ => error,
        }
    })
}
