//! Checks the judge: consent, API key and today's token budget.

use std::sync::Arc;

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::judge::account::AccountStatus;

use crate::app::AppContext;
use crate::config::{JudgeSettings, JudgeUnreadyReason};
use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::human;

const CHECK: &str = "judge";

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    vec![check_judge(context)]
}

fn check_judge(context: &DoctorContext) -> DoctorFinding {
    let Some(settings) = context.settings() else {
        let what = "whether a model may be asked can't be told: the configuration is wrong";
        return DoctorFinding::skipped(CHECK, "unknown", what);
    };
    let app = AppContext { settings: settings.clone(), faults: Arc::clone(&context.faults) };
    let judge = match app.judge() {
        Ok(Ok(judge)) => judge,
        Ok(Err(unready)) => return unready_finding(&unready),
        Err(error) => {
            return DoctorFinding::warn(CHECK, "wrong-key", error.to_string())
                .remedy("mend the variable's value")
                .fact("agreed", true);
        }
    };
    match judge.standing() {
        Ok(standing) => ready_finding(&settings.judge, standing),
        Err(error) => {
            let what = format!("what it cost can't be read: {error}");
            DoctorFinding::warn(CHECK, "unusable", what)
                .remedy("nothing is asked while nothing can be counted: move the file away")
        }
    }
}

fn unready_finding(unready: &JudgeUnreadyReason) -> DoctorFinding {
    match unready {
        JudgeUnreadyReason::NotAgreed => {
            let what = "no model is asked: you have not agreed to one";
            DoctorFinding::ok(CHECK, what).fact("agreed", false)
        }
        JudgeUnreadyReason::NoKey(variable) => {
            let what = format!("you have agreed to a model, and there is no key in {variable}");
            let remedy = format!(
                "set {variable} where your agents are started, or name another variable with judge.key_env"
            );
            let found = DoctorFinding::warn(CHECK, "no-key", what).remedy(remedy);
            found.fact("agreed", true).fact("key", false)
        }
    }
}

/// Finding for a judge that has consent and a key: paused, out of budget, or ready.
fn ready_finding(settings: &JudgeSettings, standing: AccountStatus) -> DoctorFinding {
    let (tokens, limit) = (standing.tokens, settings.daily_tokens);
    let spent = format!("{} of {} tokens", human::count(tokens), human::count(limit));
    let model = format!("{} ({})", settings.model, settings.provider.as_str());
    let last = standing.last_failure.map(|(_, what)| format!("; the last fault: {what}"));
    let found = if let Some(until) = standing.paused_until {
        let until = Timestamp::to_second_string(until);
        let what = format!("{model} is not asked until {until}{}", last.unwrap_or_default());
        DoctorFinding::warn(CHECK, "paused", what).remedy("`recoup judge test` tries it now")
    } else if tokens >= limit {
        let what = format!("{model} has used {spent} today, and rests until tomorrow (UTC)");
        DoctorFinding::warn(CHECK, "spent", what)
            .remedy("judge.daily_tokens is the limit, if you want more")
    } else {
        DoctorFinding::ok(CHECK, format!("{model}, {spent} today"))
    };
    let found = found.fact("agreed", true).fact("key", true);
    found.fact("tokens", tokens).fact("daily_tokens", limit)
}
