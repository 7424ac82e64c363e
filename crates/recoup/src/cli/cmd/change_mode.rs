//! Flags of the commands that change clients' files: consent and output.

use clap::Args;
use recoup_core::Error;
use serde::Serialize;

use crate::cli::failure::CommandError;
use crate::cli::ui;

/// Flags about consent and output.
#[derive(Debug, Args, Clone, Copy)]
pub(super) struct ChangeModeArgs {
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Only show what would change
    #[arg(long, short = 'n')]
    pub(super) dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The flag without which nothing can be done.
#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingFlag {
    /// The user has not agreed.
    #[serde(rename = "--yes")]
    Yes,
    /// No client was found.
    #[serde(rename = "--client")]
    Client,
}

/// Report of a command that needs the user's consent.
pub(super) trait ConsentReport: Serialize {
    /// Records that a flag is missing.
    fn set_missing(&mut self, flag: MissingFlag);

    /// Prints every change in full, where only a summary was shown; false if there is no more.
    fn print_details(&self) -> Result<bool, CommandError> {
        Ok(false)
    }
}

impl ChangeModeArgs {
    /// Asks before anything is changed, unless `--yes` was given. An error where nobody can be
    /// asked; with `--json` the report tells it first.
    pub(super) fn ask_consent(
        self,
        report: &mut impl ConsentReport,
        question: &str,
        nothing_done: &str,
    ) -> Result<bool, CommandError> {
        if self.yes {
            return Ok(true);
        }
        if self.json {
            report.set_missing(MissingFlag::Yes);
            ui::json(report)?;
        }
        if self.json || !ui::can_ask() {
            let error = Error::usage(format!(
                "{nothing_done}: cannot ask for confirmation without a terminal; repeat the \
                 command with --yes to confirm, or with --dry-run to only show the changes"
            ));
            return Err(if self.json { CommandError::Told(error) } else { error.into() });
        }
        let agreed = loop {
            match ui::ask(format_args!("{question} [y/N]")).as_str() {
                "y" | "yes" => break true,
                "d" | "diff" if report.print_details()? => {}
                _ => break false,
            }
        };
        if !agreed {
            ui::say("Nothing was changed.");
        }
        Ok(agreed)
    }
}
