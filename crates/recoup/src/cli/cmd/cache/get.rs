//! `recoup cache get`: the path that must cost what starting a process costs.

use clap::Args;
use recoup_core::cache::{Cache, Peek, Reason, Request, View};
use recoup_core::entry::{Body, Chunks, Entry};
use recoup_core::key::{Id, Key, Kind};
use recoup_core::{Error, ErrorKind};
use serde::Serialize;

use super::named::{NamedArgs, listed};
use crate::cli::app::App;
use crate::cli::failure::Failure;
use crate::cli::{Answer, Ended, failure, ui};

/// Print a result that is still true; exit 1 on a miss.
#[derive(Debug, Args)]
pub(super) struct GetArgs {
    #[command(flatten)]
    named: NamedArgs,
    /// On a miss, say why as JSON; a hit prints the result in either form
    #[arg(long)]
    json: bool,
    /// On a miss, print a token for `set --since`: it remembers how the sources are now
    #[arg(long)]
    token: bool,
    /// The files that the work will read, for the token
    #[arg(long, value_name = "CSV", value_delimiter = ',', requires = "token")]
    sources: Vec<String>,
}

#[derive(Serialize)]
struct Miss<'a> {
    status: &'a str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl GetArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let named = self.named.resolve()?;
        let id = Id::new(app.scope()?, named.key);
        let (cache, view) = (app.cache(), app.view()?);
        match cache.read(&Request::new(Kind::Result, &id, &view)) {
            Peek::Hit(entry) | Peek::Stale(entry) => hit(&entry),
            Peek::Miss(reason) => self.miss(&cache, &view, &id.key, &reason),
        }
    }

    fn miss(&self, cache: &Cache, view: &View, key: &Key, reason: &Reason) -> Ended {
        if let Reason::Unavailable(error) = reason {
            failure::warn(error);
        }
        let token = self.token.then(|| cache.since(view, &listed(&self.sources))).transpose()?;
        let token = token.map(|token| token.to_string());
        if self.json {
            let (status, reason) = (reason.status(), reason.code());
            ui::json(&Miss { status, key: key.as_str(), reason, token })?;
        } else {
            ui::aside(format_args!("{}: {reason}", reason.status()));
            token.map_or(Ok(()), ui::line)?;
        }
        Ok(Answer::No)
    }
}

/// The stored bytes and a newline.
fn hit(entry: &Entry) -> Ended {
    match entry.body() {
        Body::Whole(bytes) => ui::data(&[bytes, b"\n"])?,
        Body::Large(chunks) => {
            copy(&**chunks)?;
            ui::data(&[b"\n"])?;
        }
    }
    Ok(Answer::Yes)
}

/// Stops reading when whoever reads our output does.
fn copy(chunks: &dyn Chunks) -> Result<(), Failure> {
    let mut failed = None;
    let read = chunks.each(&mut |chunk| {
        ui::data(&[chunk]).map_err(|failure| {
            failed = Some(failure);
            Error::new(ErrorKind::Io, "the output could not be written")
        })
    });
    failed.map_or_else(|| Ok(read?), Err)
}
