//! `recoup cache set`: keeps a result, as it was handed in or condensed, with its cost as reported
//! by the caller, and on request with a row in a notes file.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::fsx;
use recoup_core::cache::{FillOutcome, FillRefusal, SinceToken, Ttl, split_path_list};
use recoup_core::condense::{CondenseOptions, CondenseStrategy, InputDocument, condense_or_keep};
use recoup_core::entry::{Body, Draft, ProductionCost, to_micro_dollars};
use recoup_core::key::{EntryId, Key, Kind};
use recoup_core::{Error, ErrorKind, Result, secrets};
use serde::de::IgnoredAny;

use super::select::ResultSelectorArgs;
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, input, ui};
use crate::config::PriceTable;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("short").args(["condensed", "condense"]).required(true))]
// An abbreviated key names only an entry that exists.
#[command(mut_arg("key", |arg| arg.help("The entry's key")))]
pub(super) struct SetArgs {
    #[command(flatten)]
    named: ResultSelectorArgs,
    /// The result, which must be JSON: given here, from stdin (-) or from a file (@FILE)
    #[arg(long, value_name = "JSON|-|@FILE", allow_hyphen_values = true)]
    condensed: Option<String>,
    /// Instead of --condensed: condense the full result, with this strategy of `recoup condense`
    #[arg(long, value_name = "STRATEGY", requires = "full")]
    condense: Option<String>,
    /// The files, directories and globs that the result depends on, separated by commas: when one
    /// changes, `get` is a miss
    #[arg(long, value_name = "CSV", allow_hyphen_values = true)]
    sources: Option<String>,
    /// A file with the full result, of which --condensed is the short form; `show --full` prints it
    #[arg(long, value_name = "FILE")]
    full: Option<PathBuf>,
    /// How long the result stays valid: 30m, 12h, 7d, forever, off [default: 30d, or cache.ttl of
    /// the configuration]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    ttl: Option<String>,
    /// The token from the `get` that missed: nothing is stored if the sources have changed since
    #[arg(long, value_name = "TOKEN")]
    since: Option<String>,
    /// Also append this message, with the date, to the notes file (cache.notes of the
    /// configuration)
    #[arg(long, value_name = "MSG", allow_hyphen_values = true)]
    synthesize: Option<String>,
    /// A tag to find the entry by; may be given several times
    #[arg(long = "tag", value_name = "TAG", allow_hyphen_values = true)]
    tags: Vec<String>,
    #[command(flatten)]
    cost: CostArgs,
}

impl SetArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let named = self.named.resolve()?;
        let ttl = input::duration("--ttl", self.ttl.as_deref())?;
        let ttl = ttl.unwrap_or(app.settings.cache.ttl);
        let since = self.since.as_deref().map(SinceToken::parse).transpose()?;
        let cost = self.cost.resolve(&app.settings.prices)?;
        let note = self.synthesize.map(|message| DecisionNote::new(app, message)).transpose()?;
        let short = CondensedInput::read(self.condense.as_deref(), self.condensed.as_deref())?;
        if !app.settings.cache.enabled {
            ui::warn("the cache is switched off: nothing was stored");
            return Ok(CommandAnswer::Yes);
        }
        let full = self.full.as_deref().map(|file| input::file("--full", file)).transpose()?;
        let body = short.body(full.as_deref().unwrap_or_default())?;
        let identity = named.identity();
        let id = EntryId::new(app.scope(), named.key);
        let sources = split_path_list(self.sources.as_deref().unwrap_or_default());
        let cache = app.cache_for_writing()?;
        let permit = cache.permit(&id, &app.view(), &sources)?;
        // Warn only at the first result for that key.
        let is_first = || matches!(cache.head(&id), Ok(None));
        let ignored = permit.first_ignored().filter(|_| is_first());
        // Whoever names paths may take them for sources.
        let watches_nothing = sources.is_empty() && !named.parts.is_empty() && is_first();
        let draft = Draft {
            full: full.map(Body::from),
            identity,
            cost,
            parts: named.parts,
            tags: self.tags,
            ..Draft::new(Kind::Result, body)
        };
        let unchanged = match since {
            Some(since) => permit.require_unchanged_since(&since),
            None => Ok(permit),
        };
        let filled = match unchanged {
            Ok(permit) => permit.fill(draft, ttl)?,
            Err(refusal) => FillOutcome::Refused(refusal),
        };
        if let (Some(note), FillOutcome::Stored(_)) = (&note, &filled) {
            note.append(&id.key)?;
            ui::say(format_args!("Noted in {}", note.file.display()));
        }
        let answer = report_filled(&id.key, ttl, &filled);
        if let (Some(path), FillOutcome::Stored(_)) = (ignored, &filled) {
            ui::say(format_args!(
                "files that git ignores are not watched, such as {path}: name them in --sources"
            ));
        }
        if watches_nothing && matches!(filled, FillOutcome::Stored(_)) {
            ui::hint(
                "no --sources given: no file is watched, and `get` returns this until it expires",
            );
        }
        Ok(answer)
    }
}

fn report_filled(key: &Key, ttl: Ttl, filled: &FillOutcome) -> CommandAnswer {
    match filled {
        FillOutcome::Stored(_) => ui::say(format_args!("Cached result for key: {key}")),
        FillOutcome::Off => ui::say(format_args!("Not cached: the TTL is {ttl}")),
        FillOutcome::Refused(refusal) => {
            match refusal {
                FillRefusal::Secret(_) => ui::error(refusal),
                _ => ui::error(format_args!("not cached: {refusal}")),
            }
            return CommandAnswer::No;
        }
    }
    CommandAnswer::Yes
}

/// Source of the condensed form of a result.
enum CondensedInput {
    /// The JSON from the caller, and the error kind if it is invalid.
    Given(Vec<u8>, ErrorKind),
    Made(CondenseStrategy),
}

impl CondensedInput {
    /// Reads the input even if it is not stored: a process that pipes it in must not be cut off.
    fn read(strategy: Option<&str>, given: Option<&str>) -> Result<Self> {
        if let Some(strategy) = strategy {
            return CondenseStrategy::parse(strategy).map(Self::Made);
        }
        let given = given.unwrap_or_default();
        let body = input::text_file_or_stdin("--condensed", given)?;
        Ok(Self::Given(body, input::invalid_kind(given)))
    }

    /// The condensed form: checked to be JSON and not changed, or made from the full result.
    fn body(self, full: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Given(body, kind) => {
                let invalid = || Error::new(kind, "Invalid JSON in --condensed");
                str::from_utf8(&body).map_err(|error| invalid().with_source(error))?;
                serde_json::from_slice::<IgnoredAny>(&body)
                    .map_err(|error| invalid().with_source(error))?;
                Ok(body)
            }
            Self::Made(strategy) => {
                let document =
                    InputDocument::read(full).map_err(|error| error.context("--full"))?;
                let options = CondenseOptions { strategy, ..CondenseOptions::default() };
                Ok(condense_or_keep(&document, &options).to_json().into_bytes())
            }
        }
    }
}

/// `--took`, `--input-tokens`, `--output-tokens`, `--model`, `--dollars`.
#[derive(Debug, Args)]
struct CostArgs {
    /// How long the work took, such as 850ms, 90s or 2m: the time that each later hit saves
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    took: Option<String>,
    /// Number of input tokens
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    input_tokens: Option<u64>,
    /// Number of output tokens
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    output_tokens: Option<u64>,
    /// The model, to compute the cost from the tokens
    #[arg(long, value_name = "MODEL", conflicts_with = "dollars")]
    model: Option<String>,
    /// The cost in dollars
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    dollars: Option<String>,
}

impl CostArgs {
    fn resolve(&self, prices: &PriceTable) -> Result<ProductionCost> {
        let Self { took, input_tokens, output_tokens, model, dollars } = self;
        let millis = match input::duration("--took", took.as_deref())? {
            None => None,
            Some(Ttl::Off) => Some(0),
            Some(ttl) => match ttl.as_millis() {
                None => {
                    return Err(Error::usage(
                        "invalid --took: expected a finite duration such as 90s",
                    ));
                }
                millis => millis,
            },
        };
        let micro_dollars = match (dollars, model) {
            (Some(text), _) => {
                let dollars = text.trim().trim_start_matches('$').parse::<f64>().ok();
                Some(dollars.and_then(to_micro_dollars).ok_or_else(|| {
                    let expected = "expected an amount such as 0.042";
                    Error::usage(format!("invalid --dollars {text:?}: {expected}"))
                })?)
            }
            (None, Some(_)) if input_tokens.is_none() && output_tokens.is_none() => {
                return Err(Error::usage(
                    "--model computes the cost from tokens: also give --input-tokens and --output-tokens",
                ));
            }
            (None, Some(model)) => {
                let price = prices.price_of(model);
                // The result is still stored.
                if price.is_none() {
                    ui::warn(format_args!(
                        "no price is known for the model {model:?}; give --dollars, or a table \
                         [prices.{model:?}] in your configuration (`recoup config path`)"
                    ));
                }
                price.map(|it| it.cost(input_tokens.unwrap_or(0), output_tokens.unwrap_or(0)))
            }
            (None, None) => None,
        };
        Ok(ProductionCost {
            millis,
            input_tokens: *input_tokens,
            output_tokens: *output_tokens,
            micro_dollars,
        })
    }
}

const HEADING: &str = "| Date | Decision | Cache key |\n|---|---|---|\n";

/// A decision and the notes file that it is appended to.
#[derive(Debug)]
struct DecisionNote {
    file: PathBuf,
    message: String,
}

impl DecisionNote {
    /// Checks the message and finds the notes file, before anything is stored.
    fn new(app: &App, message: String) -> Result<Self> {
        if let Some(rule) = secrets::detect_secret(message.as_bytes()) {
            let refusal = FillRefusal::Secret(rule).to_string();
            return Err(Error::new(ErrorKind::Invalid, refusal).context("--synthesize"));
        }
        match &app.settings.cache.notes {
            Some(file) => Ok(Self { file: file.clone(), message }),
            None => Err(Error::usage(
                "--synthesize needs a notes file: set cache.notes in the configuration (`recoup config path` prints its path), or RECOUP_CACHE_NOTES",
            )),
        }
    }

    fn append(&self, key: &Key) -> Result<()> {
        let date = SystemClock.now().date();
        // On one line, without a bar that would end the cell.
        let message = self.message.split_whitespace().collect::<Vec<_>>().join(" ");
        let message = message.replace('|', "\\|");
        fsx::append_text(&self.file, HEADING, &format!("| {date} | {message} | {key} |\n"))
    }
}
