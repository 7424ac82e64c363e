//! `recoup cache set --synthesize`: also appends a decision to the notes file, as a row of a
//! Markdown table.

use std::path::{Path, PathBuf};

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::fsx;
use recoup_core::cache::FillRefusal;
use recoup_core::key::Key;
use recoup_core::{Error, ErrorKind, Result, secrets};

use crate::cli::app::AppContext;

const HEADING: &str = "| Date | Decision | Cache key |\n|---|---|---|\n";

/// A decision and the notes file that it is appended to.
#[derive(Debug)]
pub(super) struct DecisionNote {
    file: PathBuf,
    message: String,
}

impl DecisionNote {
    /// Checks the message and finds the notes file, before anything is stored.
    pub(super) fn new(app: &AppContext, message: String) -> Result<Self> {
        if let Some(rule) = secrets::detect_secret(message.as_bytes()) {
            let refusal = FillRefusal::Secret(rule).to_string();
            return Err(Error::new(ErrorKind::Invalid, refusal).context("--synthesize"));
        }
        match &app.settings.cache.notes {
            Some(file) => Ok(Self { file: file.clone(), message }),
            None => Err(Error::usage(
                "--synthesize needs a notes file: set cache.notes in the configuration (`recoup config path` tells where), or RECOUP_CACHE_NOTES",
            )),
        }
    }

    pub(super) fn append(&self, key: &Key) -> Result<()> {
        let (date, message) = (SystemClock.now().date(), escape_cell(&self.message));
        fsx::append_text(&self.file, HEADING, &format!("| {date} | {message} | {key} |\n"))
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }
}

/// Escapes text for a table cell: on one line, without a bar that would end the cell.
fn escape_cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
