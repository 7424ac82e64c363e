//! `recoup key canonical`.

use clap::Args;
use recoup_core::Error;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::key::canonical::canonical;

use crate::cli::{CommandAnswer, CommandResult, input, ui};

/// Print the canonical form of JSON (RFC 8785), or its SHA-256.
#[derive(Debug, Args)]
pub(in crate::cli) struct CanonicalArgs {
    /// The JSON: as it is, from a file, or from stdin
    #[arg(value_name = "JSON|@FILE|-", default_value = "-", allow_negative_numbers = true)]
    json: String,
    /// Print the SHA-256 of the canonical form instead
    #[arg(long)]
    sha256: bool,
}

impl CanonicalArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let given =
            input::decode_utf8("the JSON", input::text_file_or_stdin("the JSON", &self.json)?)?;
        let text = canonical(&given)
            .map_err(|error| Error::new(input::invalid_kind(&self.json), error.to_string()))?;
        if self.sha256 {
            ui::line(Sha256Digest::of(text.as_bytes()))?;
        } else {
            ui::line(text)?;
        }
        Ok(CommandAnswer::Yes)
    }
}
