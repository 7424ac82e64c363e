//! `recoup cache invalidate`.

use clap::Args;
use recoup_core::cache::EntrySelection;
use recoup_core::{Error, Result};
use serde::Serialize;

use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Forget the results that were made from certain files, have a tag, or come from an operation;
/// prints how many.
#[derive(Debug, Args)]
pub(super) struct InvalidateArgs {
    /// Results with a matching source, as it was given or from the project's root; * also crosses /
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    paths: Option<String>,
    /// Results with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Results of this operation
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    operation: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct InvalidateReport {
    invalidated: usize,
}

impl InvalidateArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let selection = self.selection()?;
        let invalidated = app.cache().invalidate(&app.scope(), &selection)?;
        if self.json {
            ui::json(&InvalidateReport { invalidated })?;
        } else {
            ui::line(invalidated)?;
        }
        Ok(CommandAnswer::Yes)
    }

    fn selection(&self) -> Result<EntrySelection> {
        let Self { paths, tag, operation, json: _ } = self;
        let selection =
            EntrySelection::from_criteria(paths.as_deref(), tag.as_deref(), operation.as_deref())?;
        selection.ok_or_else(|| Error::usage(
                "which entries? Give --paths GLOB, --tag TAG or --operation NAME; `recoup cache clear` forgets all",
            ))
    }
}
