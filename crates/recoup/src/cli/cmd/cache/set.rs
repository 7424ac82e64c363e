//! `recoup cache set`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use recoup_core::cache::{Filled, Refusal, Since, Ttl, listed};
use recoup_core::condense::{Document, Options, Strategy, condense_or_keep};
use recoup_core::entry::{Body, Draft};
use recoup_core::key::{Id, Key, Kind};
use recoup_core::{Error, ErrorKind, Result};
use serde::de::IgnoredAny;

use super::cost::CostArgs;
use super::named::NamedArgs;
use super::synthesize::Note;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, input, ui};

/// Keep a result.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("short").args(["condensed", "condense"]).required(true))]
pub(super) struct SetArgs {
    #[command(flatten)]
    named: NamedArgs,
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
    pub(super) fn run(self, app: &App) -> Ended {
        let named = self.named.resolve()?;
        let ttl = self.ttl.as_deref().map(|ttl| Ttl::parse_with_unit("--ttl", ttl)).transpose()?;
        let ttl = ttl.unwrap_or(app.settings.cache.ttl);
        let since = self.since.as_deref().map(Since::parse).transpose()?;
        let cost = self.cost.resolve(&app.settings.prices)?;
        let note = self.synthesize.map(|message| Note::new(app, message)).transpose()?;
        let short = Short::read(self.condense.as_deref(), self.condensed.as_deref())?;
        if !app.settings.cache.enabled {
            ui::warn("the cache is switched off: nothing was kept");
            return Ok(Answer::Yes);
        }
        let full = self.full.as_deref().map(|file| input::file("--full", file)).transpose()?;
        let body = short.body(full.as_deref().unwrap_or_default())?;
        let identity = named.identity();
        let id = Id::new(app.scope(), named.key);
        let sources = listed(self.sources.as_deref().unwrap_or_default());
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
            Some(since) => permit.since(&since),
            None => Ok(permit),
        };
        let filled = match unchanged {
            Ok(permit) => permit.fill(draft, ttl)?,
            Err(refusal) => Filled::Refused(refusal),
        };
        if let (Some(note), Filled::Stored(_)) = (&note, &filled) {
            note.append(&id.key)?;
            ui::say(format_args!("Noted in {}", note.file().display()));
        }
        let answer = report(&id.key, ttl, &filled);
        if let (Some(path), Filled::Stored(_)) = (ignored, &filled) {
            ui::say(format_args!(
                "files that git ignores are not watched, such as {path}: name them in --sources"
            ));
        }
        Ok(answer)
    }
}

fn report(key: &Key, ttl: Ttl, filled: &Filled) -> Answer {
    match filled {
        Filled::Stored(_) => ui::say(format_args!("Cached result for key: {key}")),
        Filled::Off => ui::say(format_args!("Not cached: the duration is {ttl}")),
        Filled::Refused(refusal) => {
            match refusal {
                Refusal::Secret(_) => ui::error(refusal),
                _ => ui::error(format_args!("not cached: {refusal}")),
            }
            return Answer::No;
        }
    }
    Answer::Yes
}

/// Source of the condensed form of a result.
enum Short {
    /// The JSON from the caller, and the error kind if it is invalid.
    Given(Vec<u8>, ErrorKind),
    Made(Strategy),
}

impl Short {
    /// Reads the input even if it is not stored: a process that pipes it in must not be cut off.
    fn read(strategy: Option<&str>, given: Option<&str>) -> Result<Self> {
        if let Some(strategy) = strategy {
            return Strategy::parse(strategy).map(Self::Made);
        }
        let given = given.unwrap_or_default();
        let body = input::piped("--condensed", given)?;
        Ok(Self::Given(body, input::invalid_kind(given)))
    }

    fn body(self, full: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Given(body, kind) => checked(body, kind),
            Self::Made(strategy) => {
                let document = Document::read(full).map_err(|error| error.context("--full"))?;
                let options = Options { strategy, ..Options::default() };
                Ok(condense_or_keep(&document, &options).to_json().into_bytes())
            }
        }
    }
}

/// Checks that `body` is JSON; no byte is changed.
fn checked(body: Vec<u8>, kind: ErrorKind) -> Result<Vec<u8>> {
    let invalid = || Error::new(kind, "Invalid JSON in --condensed");
    std::str::from_utf8(&body).map_err(|error| invalid().with_source(error))?;
    serde_json::from_slice::<IgnoredAny>(&body).map_err(|error| invalid().with_source(error))?;
    Ok(body)
}
