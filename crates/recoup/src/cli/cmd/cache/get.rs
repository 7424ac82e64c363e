//! `recoup cache get`: the path that must cost what starting a process costs.

use clap::Args;
use recoup_core::cache::{Peek, Reason, Request};
use recoup_core::entry::{Body, Chunks, Entry};
use recoup_core::key::{Id, Key};
use recoup_core::{Error, ErrorKind};
use serde::Serialize;

use super::named::NamedArgs;
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
}

#[derive(Serialize)]
struct Miss<'a> {
    status: &'a str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl GetArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let named = self.named.resolve()?;
        let id = Id::new(app.scope()?, named.key);
        match app.cache().peek(&Request::new(&id, &app.view()?)) {
            Peek::Hit(entry) | Peek::Stale(entry) => match entry.verify() {
                Ok(()) => hit(&entry),
                Err(damage) => self.miss(&id.key, &Reason::Corrupt(damage)),
            },
            Peek::Miss(reason) => self.miss(&id.key, &reason),
        }
    }

    fn miss(&self, key: &Key, reason: &Reason) -> Ended {
        if let Reason::Unavailable(error) = reason {
            failure::warn(error);
        }
        if self.json {
            let (status, reason) = (reason.status(), reason.code());
            ui::json(&Miss { status, key: key.as_str(), reason })?;
        } else {
            ui::aside(format_args!("{}: {reason}", reason.status()));
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
