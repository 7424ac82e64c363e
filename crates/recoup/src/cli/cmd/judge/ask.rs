//! `recoup judge test`

use clap::Args;
use recoup_core::memory::judge::{
    JudgeCandidate, JudgeVerdict, JudgedStatement, MemoryJudge as _, UndecidedReason,
};
use recoup_core::{Error, ErrorKind};
use serde::Serialize;

use crate::cli::app::AppContext;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, input, ui};
use crate::config::{JudgeUnreadyReason, env};

/// Default texts: one to remember, and one not to.
const SAMPLES: [&str; 2] =
    ["from now on use tabs, never spaces, in this project", "thanks, that works. What is next?"];

/// Ask it about a text, and show what it makes of it.
#[derive(Debug, Args)]
pub(super) struct JudgeTestArgs {
    /// Text to ask about, @FILE, or - for stdin [default: two sentences of our own]
    #[arg(value_name = "TEXT|-|@FILE")]
    text: Option<String>,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

/// Verdict on one text.
#[derive(Debug, Serialize)]
struct JudgeTestReport {
    /// The text as sent, without secrets and private parts.
    text: String,
    /// A kind of memory, `none`, or null where it is not decided.
    label: Option<&'static str>,
    confidence: Option<f64>,
    statement: Option<String>,
    /// Reason why it is undecided.
    undecided: Option<String>,
}

impl JudgeTestArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let judge = match app.judge_for_asking()? {
            Ok(judge) => judge.ignoring_pause(),
            Err(why) => {
                ui::error(&why);
                ui::hint(remedy(&why));
                return Ok(CommandAnswer::No);
            }
        };
        let candidates = self.candidates()?;
        let verdicts = match judge.classify(&candidates) {
            Ok(verdicts) => verdicts,
            Err(error) => {
                ui::error(&error);
                ui::hint("`recoup judge status` tells how things stand");
                return Ok(CommandAnswer::No);
            }
        };
        let said: Vec<JudgeTestReport> =
            candidates.iter().zip(verdicts).map(JudgeTestReport::new).collect();
        if self.json {
            ui::json(&said)?;
        } else {
            let rows: Vec<_> = said.iter().map(JudgeTestReport::row).collect();
            ui::table(&["LABEL", "SURE", "STATEMENT", "TEXT"], &rows)?;
        }
        Ok(CommandAnswer::Yes)
    }

    fn candidates(&self) -> Result<Vec<JudgeCandidate>, CommandError> {
        let hidden = env::credentials();
        let Some(given) = &self.text else {
            return Ok(SAMPLES
                .iter()
                .filter_map(|text| JudgeCandidate::new(text, &hidden))
                .collect());
        };
        let text = input::decode_utf8("TEXT", input::text_file_or_stdin("TEXT", given)?)?;
        let nothing = || {
            let message = "TEXT: nothing is left to ask about (it is empty, or private)";
            CommandError::from(Error::new(ErrorKind::Usage, message))
        };
        JudgeCandidate::new(&text, &hidden).map(|it| vec![it]).ok_or_else(nothing)
    }
}

fn remedy(why: &JudgeUnreadyReason) -> String {
    match why {
        JudgeUnreadyReason::NotAgreed => {
            "to agree, say `judge.enabled = true` in your configuration file (`recoup config path`)"
                .to_owned()
        }
        JudgeUnreadyReason::NoKey(variable) => {
            format!("set {variable}, or name another variable with judge.key_env")
        }
    }
}

impl JudgeTestReport {
    fn new((candidate, verdict): (&JudgeCandidate, JudgeVerdict)) -> Self {
        let mut said = Self {
            text: candidate.text().to_owned(),
            label: None,
            confidence: None,
            statement: None,
            undecided: None,
        };
        match verdict {
            JudgeVerdict::Keep(JudgedStatement { kind, confidence, statement }) => {
                said.label = Some(kind.as_str());
                said.confidence = Some(confidence.get());
                said.statement = Some(statement);
            }
            JudgeVerdict::Nothing => said.label = Some("none"),
            JudgeVerdict::Undecided(why) => said.undecided = Some(undecided_reason(why)),
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

fn undecided_reason(why: UndecidedReason) -> String {
    match why {
        UndecidedReason::Unsaid => "it said nothing about it",
        UndecidedReason::Malformed => "its answer has not the shape that was asked for",
        UndecidedReason::UnknownLabel => "it gave a label that there is not",
        UndecidedReason::NoConfidence => "it gave no confidence from 0 to 1",
        UndecidedReason::Unsure => "it is not sure enough",
        UndecidedReason::NotItsWords => "its statement is not what the text says",
        UndecidedReason::Twice => "it said two things about it",
        UndecidedReason::Refused(refusal) => return format!("its statement is refused: {refusal}"),
    }
    .to_owned()
}
