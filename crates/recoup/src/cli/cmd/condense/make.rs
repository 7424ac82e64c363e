//! `recoup condense --input FILE`.

use std::path::PathBuf;

use clap::Args;
use recoup_core::base::fsx;
use recoup_core::condense::{
    self, CondenseOptions, CondenseStrategy, CondensedResult, InputDocument,
};
use recoup_core::{Error, Result};

use super::externalize::{ExternalizeOutcome, ExternalizedResult};
use super::read_input;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Condense: make a result or a report short enough to be read.
#[derive(Debug, Args)]
pub(super) struct CondenseInputArgs {
    /// The result: JSON from a file, or from stdin
    #[arg(long, value_name = "FILE|-")]
    input: String,
    /// How: `structured_verdict`, `identifiers_only` or `summary`
    #[arg(long, value_name = "NAME", default_value_t = CondenseStrategy::default().name().to_owned())]
    strategy: String,
    /// Write to this file in place of stdout
    #[arg(long, value_name = "FILE|-")]
    output: Option<PathBuf>,
    /// Also write the full result to a file, and say where it is in the short one
    #[arg(long)]
    externalize: bool,
    /// The directory for that file [default: full in ~/.recoup, or in the store if that is a dir:]
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Fields to keep as they are, separated by commas; dots lead into objects and lists
    #[arg(long, value_name = "CSV")]
    preserve: Option<String>,
    /// How many findings `structured_verdict` keeps
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = CondenseOptions::default().top)]
    top: usize,
    /// At most so many tokens with `identifiers_only`; what is left out is counted
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_tokens: Option<usize>,
}

impl CondenseInputArgs {
    pub(super) fn run(self) -> CommandResult {
        let mut options = self.parse_options()?;
        let input = read_input(&self.input)?;
        let document = InputDocument::read(&input)?;
        if self.output_dir.is_some() && !self.externalize {
            ui::say_dimmed("note: --output-dir is for --externalize, and was not used");
        }
        let full = self
            .externalize
            .then(|| ExternalizedResult::new(&input, self.output_dir))
            .transpose()?;
        options.full_result_path = full.as_ref().map(ExternalizedResult::path);
        for path in condense::missing_paths(&document, &options) {
            ui::warn(format_args!("--preserve: the input has no field {path}"));
        }
        let condensed = condense::condense_or_keep(&document, &options);
        if let Some(full) = full
            && let ExternalizeOutcome::Refused = full.write()?
        {
            return Ok(CommandAnswer::No);
        }
        write_output(&condensed, input.len(), self.output)
    }

    fn parse_options(&self) -> Result<CondenseOptions> {
        let strategy = CondenseStrategy::parse(&self.strategy)?;
        if self.max_tokens.is_some() && strategy != CondenseStrategy::IdentifiersOnly {
            return Err(Error::usage(format!(
                "--max-tokens is for {}: {strategy} has no list that could be cut short",
                CondenseStrategy::IdentifiersOnly
            )));
        }
        let preserve = self.preserve.iter().flat_map(|csv| csv.split(',')).map(str::trim);
        Ok(CondenseOptions {
            strategy,
            top: self.top,
            preserve: preserve.filter(|path| !path.is_empty()).map(str::to_owned).collect(),
            max_tokens: self.max_tokens,
            full_result_path: None,
        })
    }
}

/// Writes compact JSON, or indented JSON on a terminal.
fn write_output(
    condensed: &CondensedResult,
    before: usize,
    output: Option<PathBuf>,
) -> CommandResult {
    let json = condensed.to_json();
    if json.len() > before {
        let after = json.len();
        ui::say_dimmed(format_args!(
            "note: the result has {after} bytes, more than its input ({before})"
        ));
    }
    match output.filter(|file| file.as_os_str() != "-") {
        None if ui::stdout_is_terminal() => ui::line(condensed.to_pretty_json())?,
        None => ui::line(json)?,
        Some(file) => {
            fsx::write_output(&file, format!("{json}\n").as_bytes())?;
            ui::say(format_args!("Condensed result written to: {}", file.display()));
        }
    }
    Ok(CommandAnswer::Yes)
}
