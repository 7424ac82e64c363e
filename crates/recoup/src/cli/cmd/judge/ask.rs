//! `recoup judge test`

use clap::Args;
use recoup_core::memory::judge::{Candidate, Finding, Judge as _, Undecided, Verdict};
use recoup_core::{Error, ErrorKind};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::failure::Failure;
use crate::cli::{Answer, Ended, input, ui};
use crate::config::{Unready, env};

/// Default texts: one to remember, and one not to.
const SAMPLES: [&str; 2] =
    ["from now on use tabs, never spaces, in this project", "thanks, that works. What is next?"];

/// Ask it about a text, and show what it makes of it.
#[derive(Debug, Args)]
pub(super) struct TestArgs {
    /// Text to ask about, @FILE, or - for stdin [default: two sentences of our own]
    #[arg(value_name = "TEXT|-|@FILE")]
    text: Option<String>,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

/// Verdict on one text.
#[derive(Debug, Serialize)]
struct Said {
    /// The text as sent, without secrets and private parts.
    text: String,
    /// A kind of memory, `none`, or null where it is not decided.
    label: Option<&'static str>,
    confidence: Option<f64>,
    statement: Option<String>,
    /// Reason why it is undecided.
    undecided: Option<String>,
}

impl TestArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let judge = match app.judge_for_asking()? {
            Ok(judge) => judge.insisting(),
            Err(why) => {
                ui::error(&why);
                ui::hint(remedy(&why));
                return Ok(Answer::No);
            }
        };
        let candidates = self.candidates()?;
        let verdicts = match judge.classify(&candidates) {
            Ok(verdicts) => verdicts,
            Err(error) => {
                ui::error(&error);
                ui::hint("`recoup judge status` tells how things stand");
                return Ok(Answer::No);
            }
        };
        let said: Vec<Said> = candidates.iter().zip(verdicts).map(Said::new).collect();
        if self.json {
            ui::json(&said)?;
        } else {
            let rows: Vec<_> = said.iter().map(Said::row).collect();
            ui::table(&["LABEL", "SURE", "STATEMENT", "TEXT"], &rows)?;
        }
        Ok(Answer::Yes)
    }

    fn candidates(&self) -> Result<Vec<Candidate>, Failure> {
        let hidden = env::credentials();
        let Some(given) = &self.text else {
            return Ok(SAMPLES.iter().filter_map(|text| Candidate::new(text, &hidden)).collect());
        };
        let text = input::utf8("TEXT", input::piped("TEXT", given)?)?;
        let nothing = || {
            let message = "TEXT: nothing is left to ask about (it is empty, or private)";
            Failure::from(Error::new(ErrorKind::Usage, message))
        };
        Candidate::new(&text, &hidden).map(|it| vec![it]).ok_or_else(nothing)
    }
}

fn remedy(why: &Unready) -> String {
    match why {
        Unready::NotAgreed => {
            "to agree, say `judge.enabled = true` in your configuration file (`recoup config path`)"
                .to_owned()
        }
        Unready::NoKey(variable) => {
            format!("set {variable}, or name another variable with judge.key_env")
        }
    }
}

impl Said {
    fn new((candidate, verdict): (&Candidate, Verdict)) -> Self {
        let mut said = Self {
            text: candidate.text().to_owned(),
            label: None,
            confidence: None,
            statement: None,
            undecided: None,
        };
        match verdict {
            Verdict::Keep(Finding { kind, confidence, statement }) => {
                said.label = Some(kind.as_str());
                said.confidence = Some(confidence.get());
                said.statement = Some(statement);
            }
            Verdict::Nothing => said.label = Some("none"),
            Verdict::Undecided(why) => said.undecided = Some(reason(why)),
        }
        said
    }

    fn row(&self) -> Vec<String> {
        let sure = self.confidence.map_or_else(String::new, |number| format!("{number:.2}"));
        let label = self.label.unwrap_or("(undecided)").to_owned();
        let statement = self.statement.as_ref().or(self.undecided.as_ref()).cloned();
        vec![label, sure, statement.unwrap_or_default(), self.text.clone()]
    }
}

fn reason(why: Undecided) -> String {
    match why {
        Undecided::Unsaid => "it said nothing about it",
        Undecided::Malformed => "its answer has not the shape that was asked for",
        Undecided::UnknownLabel => "it gave a label that there is not",
        Undecided::NoConfidence => "it gave no confidence from 0 to 1",
        Undecided::Unsure => "it is not sure enough",
        Undecided::NotItsWords => "its statement is not what the text says",
        Undecided::Twice => "it said two things about it",
        Undecided::Refused(refusal) => return format!("its statement is refused: {refusal}"),
    }
    .to_owned()
}
