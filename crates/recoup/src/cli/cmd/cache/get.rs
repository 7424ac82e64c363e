//! `recoup cache get`: the hot path, which must cost no more than starting a process.

use clap::Args;
use recoup_core::Error;
use recoup_core::cache::{
    Cache, LookupRequest, MissReason, PathContext, PeekOutcome, Ttl, split_path_list,
};
use recoup_core::key::{EntryId, Key, Kind};
use serde::Serialize;

use super::select::{ResultSelectorArgs, expand_key};
use crate::cli::app::App;
use crate::cli::explain::ExplainReport;
use crate::cli::{CommandAnswer, CommandResult, failure, input, ui};

#[derive(Debug, Args)]
pub(super) struct GetArgs {
    #[command(flatten)]
    named: ResultSelectorArgs,
    /// On a miss, print the status as JSON, with a reason for changed sources, damage and an
    /// unavailable store; a hit prints the result either way
    #[arg(long)]
    json: bool,
    /// Explain on stderr why it is a hit or a miss
    #[arg(long)]
    explain: bool,
    /// Accept no result that is older than this, whatever its TTL: 30m, 12h, 7d
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    max_age: Option<String>,
    /// On a miss, print a token for `set --since`, with the current state of the sources
    #[arg(long)]
    token: bool,
    /// The files that the work will read, recorded in the token
    #[arg(long, value_name = "CSV", allow_hyphen_values = true, requires = "token")]
    sources: Option<String>,
}

#[derive(Serialize)]
struct CacheMissReport<'a> {
    status: &'a str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl GetArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let named = self.named.resolve()?;
        let identity = named.identity();
        let (cache, view) = (app.cache(), app.view());
        let id = EntryId::new(app.scope(), expand_key(app, &cache, named.key)?);
        let max_age =
            input::duration("--max-age", self.max_age.as_deref())?.and_then(Ttl::as_millis);
        let request = LookupRequest {
            max_age,
            identity: Some(&identity),
            parts: &named.parts,
            ..LookupRequest::new(Kind::Result, &id, &view)
        };
        if self.explain {
            ExplainReport::new(&cache.explain(&request)).lines().iter().for_each(ui::say);
        }
        match cache.read(&request) {
            PeekOutcome::Hit(entry) | PeekOutcome::Stale(entry) => {
                if entry.head().header.kind == Kind::Command {
                    return Err(command_entry_error(&id.key).into());
                }
                ui::body(entry.body())?;
                Ok(CommandAnswer::Yes)
            }
            PeekOutcome::Miss(reason) => self.report_miss(&cache, &view, &id.key, &reason),
        }
    }

    fn report_miss(
        &self,
        cache: &Cache,
        view: &PathContext,
        key: &Key,
        reason: &MissReason,
    ) -> CommandResult {
        if let MissReason::Unavailable(error) = reason {
            failure::warn(error);
        }
        let token = self
            .token
            .then(|| {
                cache.issue_since_token(
                    view,
                    &split_path_list(self.sources.as_deref().unwrap_or_default()),
                )
            })
            .transpose()?;
        let token = token.map(|token| token.to_string());
        if self.json {
            let (status, reason) = (reason.status(), reason.code());
            ui::json(&CacheMissReport { status, key: key.as_str(), reason, token })?;
        } else {
            if !self.explain && !matches!(reason, MissReason::Unavailable(_)) {
                ui::say_dimmed(format_args!("{}: {reason}", reason.status()));
            }
            token.map_or(Ok(()), ui::line)?;
        }
        Ok(CommandAnswer::No)
    }
}

/// Error: the body is a recording of a command, which only `exec` can replay.
fn command_entry_error(key: &Key) -> Error {
    Error::usage(format!(
        "{key} is the output of a command: replay it with `recoup exec`, or use `recoup cache show \
         --key {key}`"
    ))
}
