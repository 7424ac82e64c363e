//! Checks the judge: consent, API key and today's token budget.

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::judge::account::Standing;

use crate::cli::app::App;
use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;
use crate::cli::human;
use crate::config::{JudgeSettings, Unready};

const CHECK: &str = "judge";

pub(super) fn find(around: &Around) -> Vec<Finding> {
    vec![look(around)]
}

fn look(around: &Around) -> Finding {
    let Some(settings) = around.settings() else {
        let what = "whether a model may be asked can't be told: the configuration is wrong";
        return Finding::skipped(CHECK, "unknown", what);
    };
    let app = App { settings: settings.clone() };
    let judge = match app.judge() {
        Ok(Ok(judge)) => judge,
        Ok(Err(unready)) => return not_asked(&unready),
        Err(error) => {
            return Finding::warn(CHECK, "wrong-key", error.to_string())
                .remedy("mend the variable's value")
                .fact("agreed", true);
        }
    };
    match judge.standing() {
        Ok(standing) => ready(&settings.judge, standing),
        Err(error) => {
            let what = format!("what it cost can't be read: {error}");
            Finding::warn(CHECK, "unusable", what)
                .remedy("nothing is asked while nothing can be counted: move the file away")
        }
    }
}

fn not_asked(unready: &Unready) -> Finding {
    match unready {
        Unready::NotAgreed => {
            let what = "no model is asked: you have not agreed to one";
            Finding::ok(CHECK, what).fact("agreed", false)
        }
        Unready::NoKey(variable) => {
            let what = format!("you have agreed to a model, and there is no key in {variable}");
            let remedy = format!(
                "set {variable} where your agents are started, or name another variable with judge.key_env"
            );
            let found = Finding::warn(CHECK, "no-key", what).remedy(remedy);
            found.fact("agreed", true).fact("key", false)
        }
    }
}

/// Finding for a judge that has consent and a key: paused, out of budget, or ready.
fn ready(settings: &JudgeSettings, standing: Standing) -> Finding {
    let (tokens, limit) = (standing.tokens, settings.daily_tokens);
    let spent = format!("{} of {} tokens", human::count(tokens), human::count(limit));
    let model = format!("{} ({})", settings.model, settings.provider.as_str());
    let last = standing.last_failure.map(|(_, what)| format!("; the last fault: {what}"));
    let found = if let Some(until) = standing.paused_until {
        let until = Timestamp::to_second(until);
        let what = format!("{model} is not asked until {until}{}", last.unwrap_or_default());
        Finding::warn(CHECK, "paused", what).remedy("`recoup judge test` tries it now")
    } else if tokens >= limit {
        let what = format!("{model} has used {spent} today, and rests until tomorrow (UTC)");
        Finding::warn(CHECK, "spent", what)
            .remedy("judge.daily_tokens is the limit, if you want more")
    } else {
        Finding::ok(CHECK, format!("{model}, {spent} today"))
    };
    let found = found.fact("agreed", true).fact("key", true);
    found.fact("tokens", tokens).fact("daily_tokens", limit)
}
