//! `recoup judge status`

use clap::Args;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::judge::account::AccountStatus;
use serde::Serialize;

use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::config::{JudgeSettings, env};

/// Tell whether a model is asked, which, and what it has cost today.
#[derive(Debug, Args)]
pub(super) struct JudgeStatusArgs {
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
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
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
