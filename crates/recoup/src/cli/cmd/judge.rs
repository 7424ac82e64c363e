//! `recoup judge`: the model that memory asks, what it costs, and whether it answers.

use clap::{Args, Subcommand};
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::judge::account::AccountStatus;
use recoup_core::memory::judge::{
    JudgeCandidate, JudgeVerdict, JudgedStatement, MemoryJudge as _, UndecidedReason,
};
use recoup_core::{Error, ErrorKind};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, human, input, ui};
use crate::config::{FlagOverrides, JudgeSettings, JudgeUnreadyReason, env};

#[derive(Debug, Args)]
pub(in crate::cli) struct JudgeArgs {
    #[command(subcommand)]
    action: JudgeCommand,
}

#[derive(Debug, Subcommand)]
enum JudgeCommand {
    /// Show whether a model is asked, which one, the tokens used today, and the last failure
    Status(JudgeStatusArgs),
    /// Ask the model about a text, and show its answer; nothing is remembered
    Test(JudgeTestArgs),
}

impl JudgeArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = App::load(&FlagOverrides::default())?;
        match self.action {
            JudgeCommand::Status(args) => args.run(app),
            JudgeCommand::Test(args) => args.run(app),
        }
    }
}

#[derive(Debug, Args)]
struct JudgeStatusArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Status of the judge. Of the key only the name of its variable is shown.
#[derive(Debug, Serialize)]
struct JudgeStatusReport {
    /// True if the user has agreed (judge.enabled).
    agreed: bool,
    /// Reason why no model is asked, if so.
    why_not: Option<String>,
    provider: &'static str,
    model: String,
    url: String,
    key_variable: String,
    key_is_set: bool,
    /// The day of the counters, in UTC.
    day: String,
    tokens: u64,
    daily_tokens: u64,
    questions: u64,
    paused_until: Option<String>,
    last_failure: Option<LastFailure>,
}

#[derive(Debug, Serialize)]
struct LastFailure {
    at: String,
    what: String,
}

impl JudgeStatusArgs {
    fn run(self, app: &App) -> CommandResult {
        let (judge, why_not) = match app.judge()? {
            Ok(judge) => (judge, None),
            Err(why) => (app.judge_without_key(), Some(why.to_string())),
        };
        let report = JudgeStatusReport::new(&app.settings.judge, judge.standing()?, why_not);
        if self.json {
            ui::json(&report)?;
        } else {
            ui::fields(&report.fields())?;
        }
        Ok(CommandAnswer::Yes)
    }
}

impl JudgeStatusReport {
    fn new(settings: &JudgeSettings, standing: AccountStatus, why_not: Option<String>) -> Self {
        let JudgeSettings { enabled, provider, model, url, key_env, daily_tokens, deadline: _ } =
            settings;
        let AccountStatus { day, tokens, questions, paused_until, last_failure } = standing;
        Self {
            agreed: *enabled,
            why_not,
            provider: provider.as_str(),
            model: model.clone(),
            url: url.to_string(),
            key_variable: key_env.clone(),
            key_is_set: env::verbatim(key_env).is_some_and(|value| !value.is_empty()),
            day,
            tokens,
            daily_tokens: *daily_tokens,
            questions,
            paused_until: paused_until.map(Timestamp::to_second_string),
            last_failure: last_failure
                .map(|(at, what)| LastFailure { at: at.to_second_string(), what }),
        }
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let (spent, limit) = (human::count(self.tokens), human::count(self.daily_tokens));
        let questions = human::count(self.questions);
        let noun = if self.questions == 1 { "question" } else { "questions" };
        let key = if self.key_is_set { "from" } else { "not set:" };
        let mut fields = vec![
            ("agreed", if self.agreed { "yes" } else { "no" }.to_owned()),
            ("model", format!("{} ({}, {})", self.model, self.provider, self.url)),
            ("key", format!("{key} {}", self.key_variable)),
            ("today", format!("{spent} of {limit} tokens, {questions} {noun} ({})", self.day)),
        ];
        let failed = |failure: &LastFailure| format!("{}: {}", failure.at, failure.what);
        let more = [
            ("why not", self.why_not.clone()),
            ("paused until", self.paused_until.clone()),
            ("last failure", self.last_failure.as_ref().map(failed)),
        ];
        fields.extend(more.into_iter().filter_map(|(name, value)| Some((name, value?))));
        fields
    }
}

/// Default texts: one to remember, and one not to.
const SAMPLES: [&str; 2] =
    ["from now on use tabs, never spaces, in this project", "thanks, that works. What is next?"];

#[derive(Debug, Args)]
struct JudgeTestArgs {
    /// Text to ask about, @FILE, or - for stdin [default: two sample sentences]
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
    fn run(self, app: &App) -> CommandResult {
        let judge = match app.judge_for_asking()? {
            Ok(judge) => judge.ignoring_pause(),
            Err(why) => {
                ui::error(&why);
                ui::hint(match why {
                    JudgeUnreadyReason::NotAgreed => {
                        "to agree, set `judge.enabled = true` in your configuration file \
                         (`recoup config path`)"
                            .to_owned()
                    }
                    JudgeUnreadyReason::NoKey(variable) => {
                        format!("set {variable}, or name another variable with judge.key_env")
                    }
                });
                return Ok(CommandAnswer::No);
            }
        };
        let candidates = self.candidates()?;
        let verdicts = match judge.classify(&candidates) {
            Ok(verdicts) => verdicts,
            Err(error) => {
                ui::error(&error);
                ui::hint("`recoup judge status` shows the details");
                return Ok(CommandAnswer::No);
            }
        };
        let said: Vec<JudgeTestReport> =
            candidates.iter().zip(verdicts).map(JudgeTestReport::new).collect();
        if self.json {
            ui::json(&said)?;
        } else {
            let row = |it: &JudgeTestReport| {
                let sure = it.confidence.map_or_else(String::new, |number| format!("{number:.2}"));
                let label = it.label.unwrap_or("(undecided)").to_owned();
                let statement = it.statement.as_ref().or(it.undecided.as_ref()).cloned();
                vec![label, sure, statement.unwrap_or_default(), it.text.clone()]
            };
            let rows: Vec<_> = said.iter().map(row).collect();
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
            let message = "TEXT is empty, or has only private parts";
            CommandError::from(Error::new(ErrorKind::Usage, message))
        };
        JudgeCandidate::new(&text, &hidden).map(|it| vec![it]).ok_or_else(nothing)
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
                said.confidence = Some(confidence);
                said.statement = Some(statement);
            }
            JudgeVerdict::Nothing => said.label = Some("none"),
            JudgeVerdict::Undecided(why) => {
                let why = match why {
                    UndecidedReason::Unsaid => "the model gave no answer about it",
                    UndecidedReason::Malformed => "the model's answer has the wrong format",
                    UndecidedReason::UnknownLabel => "the model gave an unknown label",
                    UndecidedReason::NoConfidence => "the model gave no confidence from 0 to 1",
                    UndecidedReason::Unsure => "the model is not sure enough",
                    UndecidedReason::NotItsWords => "the model's statement does not match the text",
                    UndecidedReason::Twice => "the model gave two answers about it",
                    UndecidedReason::Refused(refusal) => {
                        &format!("the model's statement was refused: {refusal}")
                    }
                };
                said.undecided = Some(why.to_owned());
            }
        }
        said
    }
}
