//! `recoup condense`: shortens results and reports. A one-line wrapper, `exec recoup condense
//! "$@"`, replaces the original script.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::cache::FillRefusal;
use recoup_core::condense::{
    self, CondenseOptions, CondenseStrategy, CondensedResult, InputDocument, StrategyInfo,
    TokenEstimate,
};
use recoup_core::store::StoreUrl;
use recoup_core::{Error, ErrorKind, Result, secrets};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, input, ui};
use crate::config::FlagOverrides;

/// Maximum input size: a parsed result takes several times its size in memory.
const MAX_INPUT: u64 = 256 << 20;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::cli) struct CondenseArgs {
    #[command(subcommand)]
    word: Option<CondenseSubcommand>,
    #[command(flatten)]
    make: Option<CondenseInputArgs>,
}

#[derive(Debug, Subcommand)]
enum CondenseSubcommand {
    /// Condense: shorten a result or a report
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
    make: Option<CondenseInputArgs>,
}

#[derive(Debug, Subcommand)]
enum CondenseCommand {
    /// List the strategies
    Strategies(StrategiesArgs),
    /// Show how many tokens each strategy would save
    Estimate(EstimateArgs),
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

fn run(action: Option<CondenseCommand>, make: Option<CondenseInputArgs>) -> CommandResult {
    match (action, make) {
        (Some(CondenseCommand::Strategies(args)), _) => args.run(),
        (Some(CondenseCommand::Estimate(args)), _) => args.run(),
        (None, Some(args)) => args.run(),
        (None, None) => Err(Error::usage("--input FILE is missing (- for stdin)").into()),
    }
}

/// Condense: shorten a result or a report.
#[derive(Debug, Args)]
struct CondenseInputArgs {
    /// The result, which must be JSON: a file, or - for stdin
    #[arg(long, value_name = "FILE|-")]
    input: String,
    /// The strategy: `structured_verdict`, `identifiers_only` or `summary`
    #[arg(long, value_name = "NAME", default_value_t = CondenseStrategy::default().name().to_owned())]
    strategy: String,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE|-")]
    output: Option<PathBuf>,
    /// Also write the full result to a file, and put its path into the condensed result
    #[arg(long)]
    externalize: bool,
    /// The directory for the full result [default: ~/.recoup/full, or `full` in a dir: store]
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Fields to keep unchanged, separated by commas; use dots for fields of nested objects and
    /// lists
    #[arg(long, value_name = "CSV")]
    preserve: Option<String>,
    /// How many findings `structured_verdict` keeps
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = CondenseOptions::default().top)]
    top: usize,
    /// Maximum number of tokens with `identifiers_only`; the output says how many identifiers were
    /// left out
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_tokens: Option<usize>,
}

impl CondenseInputArgs {
    fn run(self) -> CommandResult {
        let strategy = CondenseStrategy::parse(&self.strategy)?;
        if self.max_tokens.is_some() && strategy != CondenseStrategy::IdentifiersOnly {
            let only = CondenseStrategy::IdentifiersOnly;
            return Err(Error::usage(format!(
                "--max-tokens works only with {only}, not with {strategy}"
            ))
            .into());
        }
        let input = read_input(&self.input)?;
        let document = InputDocument::read(&input)?;
        if self.output_dir.is_some() && !self.externalize {
            ui::say_dimmed("note: --output-dir has no effect without --externalize");
        }
        let full = self
            .externalize
            .then(|| ExternalizedResult::new(&input, self.output_dir))
            .transpose()?;
        let preserve = self.preserve.iter().flat_map(|csv| csv.split(',')).map(str::trim);
        let options = CondenseOptions {
            strategy,
            top: self.top,
            preserve: preserve.filter(|path| !path.is_empty()).map(str::to_owned).collect(),
            max_tokens: self.max_tokens,
            full_result_path: full.as_ref().map(|full| full.path.clone()),
        };
        for path in condense::missing_paths(&document, &options) {
            ui::warn(format_args!("--preserve: the input has no field {path}"));
        }
        let condensed = condense::condense_or_keep(&document, &options);
        if let Some(full) = full
            && !full.write()?
        {
            return Ok(CommandAnswer::No);
        }
        write_output(&condensed, input.len(), self.output)
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
            "note: the condensed result ({after} bytes) is larger than the input ({before} bytes)"
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

/// A full result and the file that it is written to, which is named after its contents.
struct ExternalizedResult<'a> {
    contents: &'a [u8],
    dir: PathBuf,
    /// As it stands in the condensed result.
    path: String,
}

impl<'a> ExternalizedResult<'a> {
    fn new(contents: &'a [u8], dir: Option<PathBuf>) -> Result<Self> {
        let dir = if let Some(dir) = dir {
            dir
        } else {
            // In a `dir:` store, where scripts of the protocol look, else in our home.
            let settings = &App::load(&FlagOverrides::default())?.settings;
            let parent = if let StoreUrl::Dir(dir) = &settings.store {
                dir
            } else {
                fsx::ensure_private_dir(&settings.home)?;
                &settings.home
            };
            parent.join("full")
        };
        let file = dir.join(format!("{}.json", Sha256Digest::of(contents)));
        let path = file.into_os_string().into_string().map_err(|path| {
            let path = path.display();
            Error::usage(format!(
                "--output-dir: {path} is not valid UTF-8 and cannot be written as JSON"
            ))
        })?;
        Ok(Self { contents, dir, path })
    }

    /// Writes the file; false if it contains a secret, which is reported.
    fn write(self) -> Result<bool> {
        if let Some(rule) = secrets::detect_secret(self.contents) {
            ui::error(FillRefusal::Secret(rule));
            return Ok(false);
        }
        fsx::ensure_dir(&self.dir)?;
        fsx::write_atomic(self.path.as_ref(), self.contents)?;
        ui::say(format_args!("Full result externalized to: {}", self.path));
        Ok(true)
    }
}

#[derive(Debug, Args)]
struct StrategiesArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct StrategiesReport {
    strategies: [StrategyInfo; 3],
    default: &'static str,
}

impl StrategiesArgs {
    fn run(self) -> CommandResult {
        let strategies = CondenseStrategy::ALL.map(CondenseStrategy::info);
        let default = CondenseStrategy::default().name();
        if self.json {
            ui::json(&StrategiesReport { strategies, default })?;
            return Ok(CommandAnswer::Yes);
        }
        let row = |about: &StrategyInfo| {
            vec![
                about.name.to_owned(),
                format!("~{}", about.target_tokens),
                about.description.to_owned(),
                about.best_for.join(", "),
            ]
        };
        ui::table(
            &["STRATEGY", "TOKENS", "WHAT IT DOES", "BEST FOR"],
            &strategies.iter().map(row).collect::<Vec<_>>(),
        )?;
        ui::line(
            "\nTOKENS is the median for reports of cargo, ESLint, JUnit, pytest, ripgrep and SARIF.\n\
             recoup condense estimate --input FILE measures yours.",
        )?;
        ui::line(format_args!("\nDefault strategy: {default}"))?;
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Debug, Args)]
struct EstimateArgs {
    /// The result, which must be JSON: a file, or - for stdin
    #[arg(long, value_name = "FILE|-")]
    input: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct EstimateReport {
    original_tokens: usize,
    condensed: CondensedTokens,
    savings: SavedPercent,
}

#[derive(Serialize)]
struct CondensedTokens {
    structured_verdict: usize,
    identifiers_only: usize,
    summary: usize,
}

#[derive(Serialize)]
struct SavedPercent {
    #[serde(rename = "structured_verdict_pct")]
    structured_verdict: i64,
    #[serde(rename = "identifiers_only_pct")]
    identifiers_only: i64,
    #[serde(rename = "summary_pct")]
    summary: i64,
}

impl EstimateArgs {
    fn run(self) -> CommandResult {
        let estimate = TokenEstimate::of(&read_input(&self.input)?)?;
        if self.json {
            // In the order of `CondenseStrategy::ALL`.
            let [structured_verdict, identifiers_only, summary] =
                estimate.condensed.map(|(_, n)| n);
            ui::json(&EstimateReport {
                original_tokens: estimate.original,
                condensed: CondensedTokens { structured_verdict, identifiers_only, summary },
                savings: SavedPercent {
                    structured_verdict: estimate.saved_pct(structured_verdict),
                    identifiers_only: estimate.saved_pct(identifiers_only),
                    summary: estimate.saved_pct(summary),
                },
            })?;
        } else {
            let mut fields = vec![("original", format!("{} tokens", estimate.original))];
            fields.extend(estimate.condensed.iter().map(|(strategy, tokens)| {
                let saved = match estimate.saved_pct(*tokens) {
                    saved @ 0.. => format!("{saved} % saved"),
                    _ => "more than the input".to_owned(),
                };
                (strategy.name(), format!("{tokens} tokens ({saved})"))
            }));
            ui::fields(&fields)?;
        }
        Ok(CommandAnswer::Yes)
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
