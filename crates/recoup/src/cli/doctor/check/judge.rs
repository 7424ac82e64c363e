//! The model that helps to remember: agreed to or not, and what it may still cost today.

use recoup_core::base::clock::Timestamp;

use crate::cli::app::App;
use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;
use crate::cli::human;
use crate::config::Unready;

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
        Ok(Err(Unready::NotAgreed)) => {
            return Finding::ok(CHECK, "no model is asked: you have not agreed to one")
                .fact("agreed", false);
        }
        Ok(Err(Unready::NoKey(variable))) => {
            let what = format!("you have agreed to a model, and there is no key in {variable}");
            let remedy = format!(
                "set {variable} where your agents are started, or name another variable with judge.key_env"
            );
            return Finding::warn(CHECK, "no-key", what)
                .remedy(remedy)
                .fact("agreed", true)
                .fact("key", false);
        }
        Err(error) => {
            return Finding::warn(CHECK, "wrong-key", error.to_string())
                .remedy("mend the variable's value")
                .fact("agreed", true);
        }
    };
    let standing = match judge.standing() {
        Ok(standing) => standing,
        Err(error) => {
            return Finding::warn(
                CHECK,
                "unusable",
                format!("what it cost can't be read: {error}"),
            )
            .remedy("nothing is asked while nothing can be counted: move the file away");
        }
    };
    let limit = settings.judge.daily_tokens;
    let spent = format!("{} of {} tokens", human::count(standing.tokens), human::count(limit));
    let model = format!("{} ({})", settings.judge.model, settings.judge.provider.as_str());
    let last = standing.last_failure.map(|(_, what)| format!("; the last fault: {what}"));
    let found = if let Some(until) = standing.paused_until {
        let until = Timestamp::to_second(until);
        let what = format!("{model} is not asked until {until}{}", last.unwrap_or_default());
        Finding::warn(CHECK, "paused", what).remedy("`recoup judge test` tries it now")
    } else if standing.tokens >= limit {
        Finding::warn(
            CHECK,
            "spent",
            format!("{model} has used {spent} today, and rests until tomorrow (UTC)"),
        )
        .remedy("judge.daily_tokens is the limit, if you want more")
    } else {
        Finding::ok(CHECK, format!("{model}, {spent} today"))
    };
    found
        .fact("agreed", true)
        .fact("key", true)
        .fact("tokens", standing.tokens)
        .fact("daily_tokens", limit)
}
