//! `recoup cassette show`: what was recorded, for people.

use std::path::PathBuf;

use clap::Args;
use recoup_core::{Error, Result};

use super::{ExchangeSummary, HEADINGS};
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::gateway::readable_answer;
use crate::llm::{CassetteFile, ExchangeContent, JsonTokens};

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The cassette
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The exchange to show in full; a stream is shown as the answer that it makes
    #[arg(value_name = "NUMBER")]
    number: Option<usize>,
    /// As JSON: the list, or the exchange as it is in the file
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    pub(super) fn run(self) -> CommandResult {
        let file = CassetteFile::read(&self.file)?;
        match self.number {
            None => self.list(&file)?,
            Some(number) => self.show(&file, number)?,
        }
        if !file.is_whole {
            ui::warn(format_args!("{}: the last exchange is cut off", self.file.display()));
        }
        Ok(CommandAnswer::Yes)
    }

    fn list(&self, file: &CassetteFile) -> Result<(), crate::cli::CommandError> {
        let summaries = ExchangeSummary::of_file(file);
        if self.json {
            return ui::json(&summaries);
        }
        if summaries.is_empty() {
            ui::say(format_args!("{} has no exchanges", self.file.display()));
            return Ok(());
        }
        let rows: Vec<_> = summaries.into_iter().map(ExchangeSummary::into_row).collect();
        ui::table(&HEADINGS, &rows)
    }

    fn show(&self, file: &CassetteFile, number: usize) -> Result<(), crate::cli::CommandError> {
        let exchange = number.checked_sub(1).and_then(|at| file.exchanges.get(at));
        let Some(exchange) = exchange else {
            let (name, count) = (self.file.display(), file.exchanges.len());
            let message = format!("{name} has no number {number}: expected 1 to {count}");
            return Err(Error::usage(message).into());
        };
        if self.json {
            return ui::line(&exchange.text);
        }
        let ExchangeContent::Http(http) = &exchange.content else {
            return ui::line(readable(&exchange.text));
        };
        let summary = ExchangeSummary::of(number, exchange);
        let mut fields = vec![
            ("request", format!("{} {}", http.request.method, http.request.path)),
            ("upstream", http.request.upstream.clone()),
        ];
        let headers = http.request.headers.iter();
        fields.extend(headers.map(|(name, value)| ("header", format!("{name}: {value}"))));
        fields.push(("status", http.response.status.to_string()));
        let headers = http.response.headers.iter();
        fields.extend(headers.map(|(name, value)| ("header", format!("{name}: {value}"))));
        let events = http.response.event_count().map(|count| format!(", {count} events"));
        fields.push(("answer", summary.answer + &events.unwrap_or_default()));
        ui::fields(&fields)?;
        let body = http.request.body.to_bytes();
        if !body.is_empty() {
            ui::line(format_args!("\nAsked:\n{}", readable(&String::from_utf8_lossy(&body))))?;
        }
        ui::line(format_args!("\nAnswered:\n{}", readable(&readable_answer(http))))
    }
}

/// JSON with line breaks, and any other text line by line, without what a terminal would obey.
fn readable(text: &str) -> String {
    let text =
        JsonTokens::parse(text).map_or_else(|| text.to_owned(), |tokens| tokens.to_readable());
    let lines: Vec<String> = text.lines().map(|line| ui::printable(line).to_string()).collect();
    lines.join("\n")
}
