//! `recoup cassette`: shows, checks and prunes recorded exchanges of `recoup gateway` and `recoup run`.

mod check;
mod prune;
mod show;

use clap::{Args, Subcommand};
use recoup_core::key::KeyPart;
use serde::Serialize;

use crate::cli::{CommandResult, human};
use crate::gateway::{ExchangeIdentity, first_words};
use crate::llm::{CassetteFile, ExchangeContent, RecordedExchange};

#[derive(Debug, Args)]
pub(in crate::cli) struct CassetteArgs {
    #[command(subcommand)]
    action: CassetteAction,
}

#[derive(Debug, Subcommand)]
enum CassetteAction {
    /// List the exchanges of a cassette, or show one of them
    Show(show::ShowArgs),
    /// Check cassettes; exit 1 if something is wrong with one
    ///
    /// Wrong is: a file that is no cassette, a newer format, an end that is cut off, a secret, and an order that is not
    /// the stable one. Requests with several answers, and answers that only repeat others, are mentioned.
    Check(check::CheckArgs),
    /// Remove exchanges that are not needed
    ///
    /// Without other criteria: those that no replay has used since the file was last changed. The rest is put in its
    /// stable order.
    Prune(prune::PruneArgs),
}

impl CassetteArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        match self.action {
            CassetteAction::Show(args) => args.run(),
            CassetteAction::Check(args) => args.run(),
            CassetteAction::Prune(args) => args.run(),
        }
    }
}

/// An exchange in a list.
#[derive(Debug, Serialize)]
struct ExchangeSummary {
    number: usize,
    request: String,
    path: String,
    model: String,
    asked: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Tokens, or the size.
    answer: String,
}

impl ExchangeSummary {
    fn of(number: usize, recorded: &RecordedExchange) -> Self {
        match &recorded.content {
            ExchangeContent::Http(exchange) => {
                let (request, response) = (&exchange.request, &exchange.response);
                let identity = ExchangeIdentity::of(request, &[]);
                let tokens = identity.tokens(response).map(|(input, output)| {
                    format!("{} + {} tokens", human::count(input), human::count(output))
                });
                Self {
                    number,
                    request: format!("{} {}", request.method, request.bare_path()),
                    path: request.bare_path().to_owned(),
                    model: request.model(),
                    asked: identity.asked(),
                    status: Some(response.status),
                    answer: tokens.unwrap_or_else(|| human::size(response.to_bytes().len() as u64)),
                }
            }
            ExchangeContent::Run(line) => {
                let (request, model, status) = line.summary();
                let preview = |part: &KeyPart| part.preview.clone();
                let is_question =
                    |part: &&KeyPart| part.name.starts_with("messages[") || part.name.contains('.');
                let asked = line.parts().iter().rfind(is_question).and_then(preview);
                Self {
                    number,
                    path: request.split(' ').next_back().unwrap_or_default().to_owned(),
                    request,
                    model,
                    asked: asked.unwrap_or_default(),
                    status,
                    answer: human::size(recorded.text.len() as u64),
                }
            }
        }
    }

    fn of_file(file: &CassetteFile) -> Vec<Self> {
        let numbered = file.exchanges.iter().enumerate();
        numbered.map(|(at, exchange)| Self::of(at + 1, exchange)).collect()
    }

    fn into_row(self) -> Vec<String> {
        let status = self.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let model = if self.model.is_empty() { "-".to_owned() } else { self.model };
        let asked = first_words(&self.asked, 50);
        vec![self.number.to_string(), self.request, model, status, self.answer, asked]
    }
}

/// Headings of a list of exchanges.
const HEADINGS: [&str; 6] = ["NUMBER", "REQUEST", "MODEL", "STATUS", "ANSWER", "ASKED"];

/// Place of each exchange of a gateway in the stable order; none for others.
fn stable_order(file: &CassetteFile) -> Vec<Option<String>> {
    let place = |exchange: &RecordedExchange| {
        exchange.http().map(|it| ExchangeIdentity::of(&it.request, &[]).order)
    };
    file.exchanges.iter().map(place).collect()
}
