//! `recoup cache set`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use recoup_core::cache::{FillOutcome, FillRefusal, SinceToken, Ttl, split_path_list};
use recoup_core::condense::{CondenseOptions, CondenseStrategy, InputDocument, condense_or_keep};
use recoup_core::entry::{Body, Draft};
use recoup_core::key::{EntryId, Key, Kind};
use recoup_core::{Error, ErrorKind, Result};
use serde::de::IgnoredAny;

use super::cost::CostArgs;
use super::named::ResultSelectorArgs;
use super::synthesize::DecisionNote;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, input, ui};

/// Keep a result.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("short").args(["condensed", "condense"]).required(true))]
pub(super) struct SetArgs {
    #[command(flatten)]
    named: ResultSelectorArgs,
    /// The result, which must be JSON: as it is, from stdin, or from a file
    #[arg(long, value_name = "JSON|-|@FILE", allow_hyphen_values = true)]
    condensed: Option<String>,
    /// In place of --condensed: make it from the full result, with this strategy of
    /// `recoup condense`
    #[arg(long, value_name = "STRATEGY", requires = "full")]
    condense: Option<String>,
    /// The files, directories and globs it was made from, separated by commas: when one changes,
    /// the result is no longer given out
    #[arg(long, value_name = "CSV", allow_hyphen_values = true)]
    sources: Option<String>,
    /// A file with the full result, of which --condensed is the short form; `show --full` prints it
    #[arg(long, value_name = "FILE")]
    full: Option<PathBuf>,
    /// How long it is good for: 30m, 12h, 7d, forever, off [default: 30d, or cache.ttl of the
    /// configuration]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    ttl: Option<String>,
    /// The token of the `get` that missed: nothing is kept if the sources have changed since
    #[arg(long, value_name = "TOKEN")]
    since: Option<String>,
    /// Also write this down, as a dated row in the notes file (cache.notes of the configuration)
    #[arg(long, value_name = "MSG", allow_hyphen_values = true)]
    synthesize: Option<String>,
    /// A word to find it by; may be given several times
    #[arg(long = "tag", value_name = "TAG", allow_hyphen_values = true)]
    tags: Vec<String>,
    #[command(flatten)]
    cost: CostArgs,
}

impl SetArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let named = self.named.resolve()?;
        let ttl = self.ttl.as_deref().map(|ttl| Ttl::parse_with_unit("--ttl", ttl)).transpose()?;
        let ttl = ttl.unwrap_or(app.settings.cache.ttl);
        let since = self.since.as_deref().map(SinceToken::parse).transpose()?;
        let cost = self.cost.resolve(&app.settings.prices)?;
        let note = self.synthesize.map(|message| DecisionNote::new(app, message)).transpose()?;
        let short = CondensedInput::read(self.condense.as_deref(), self.condensed.as_deref())?;
        if !app.settings.cache.enabled {
            ui::warn("the cache is switched off: nothing was kept");
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
        let ignored = permit.first_ignored().filter(|_| matches!(cache.head(&id), Ok(None)));
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
            ui::say(format_args!("Noted in {}", note.file().display()));
        }
        let answer = report_filled(&id.key, ttl, &filled);
        if let (Some(path), FillOutcome::Stored(_)) = (ignored, &filled) {
            ui::say(format_args!(
                "files that git ignores are not watched, such as {path}: name them in --sources"
            ));
        }
        Ok(answer)
    }
}

fn report_filled(key: &Key, ttl: Ttl, filled: &FillOutcome) -> CommandAnswer {
    match filled {
        FillOutcome::Stored(_) => ui::say(format_args!("Cached result for key: {key}")),
        FillOutcome::Off => ui::say(format_args!("Not cached: the duration is {ttl}")),
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

    fn body(self, full: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Given(body, kind) => validate_json(body, kind),
            Self::Made(strategy) => {
                let document =
                    InputDocument::read(full).map_err(|error| error.context("--full"))?;
                let options = CondenseOptions { strategy, ..CondenseOptions::default() };
                Ok(condense_or_keep(&document, &options).to_json().into_bytes())
            }
        }
    }
}

/// Checks that `body` is JSON; no byte is changed.
fn validate_json(body: Vec<u8>, kind: ErrorKind) -> Result<Vec<u8>> {
    let invalid = || Error::new(kind, "Invalid JSON in --condensed");
    std::str::from_utf8(&body).map_err(|error| invalid().with_source(error))?;
    serde_json::from_slice::<IgnoredAny>(&body).map_err(|error| invalid().with_source(error))?;
    Ok(body)
}
