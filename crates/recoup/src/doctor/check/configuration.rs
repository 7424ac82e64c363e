//! Checks the configuration and what it switches on: the judge (consent, API key, token budget), and
//! the mirror (rules and skills in files that Claude Code reads).

use std::sync::Arc;

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::judge::account::AccountStatus;

use crate::app::{App, remove_all_mirrors};
use crate::config::{JudgeSettings, JudgeUnreadyReason, trust};
use crate::doctor::DoctorContext;
use crate::doctor::doctor_context::ConfigDiagnosis;
use crate::doctor::finding::DoctorFinding;
use crate::human;
use crate::mirror::LeftReason;

const CONFIGURATION: &str = "configuration";

/// Reports problems of the configuration, and what is ignored in it.
pub(super) fn check_configuration(context: &DoctorContext) -> Vec<DoctorFinding> {
    let ConfigDiagnosis { problems, ignored, unconfirmed, warnings, said, untrusted, .. } =
        &context.configuration;
    let stops = |problem: &String| {
        DoctorFinding::fail(CONFIGURATION, "wrong", problem).remedy(
            "commands refuse to work until this is corrected; `recoup config check` lists every \
             problem",
        )
    };
    let is_ignored = |problem: &String| {
        DoctorFinding::fail(CONFIGURATION, "wrong", problem).remedy(
            "this file is ignored until it is corrected; `recoup config check` lists every problem",
        )
    };
    let mut found: Vec<DoctorFinding> =
        problems.iter().map(stops).chain(ignored.iter().map(is_ignored)).collect();
    let problems = found.len();
    if let Some(first) = found.first_mut() {
        first.facts.push(("problems", problems.into()));
    }
    found.extend(unconfirmed.iter().map(|advice| {
        DoctorFinding::warn(CONFIGURATION, "unconfirmed-checkout", advice)
            .remedy("`recoup trust` explains what is asked, and lets you decide")
    }));
    found.extend(warnings.iter().map(|warning| {
        DoctorFinding::warn(CONFIGURATION, "untrusted", warning)
            .remedy("`recoup trust` shows what they say, and asks")
            .fact("files", *untrusted)
    }));
    let project = context.project.as_ref();
    let advice = project.and_then(|it| trust::team_state(&context.home, it).advice());
    found.extend(advice.map(|it| DoctorFinding::warn(CONFIGURATION, "team-rules", it)));
    if found.is_empty() {
        let what = match said.len() {
            0 => "nothing is set: all as it is built in".to_owned(),
            1 => "1 key is set".to_owned(),
            keys => format!("{keys} keys are set"),
        };
        found.push(DoctorFinding::ok(CONFIGURATION, what).fact("keys", said.len()));
    }
    found
}

const JUDGE: &str = "judge";

/// Checks the judge.
pub(super) fn check_judge(context: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(settings) = context.settings() else {
        let what = "whether a model may be asked can't be told: the configuration is wrong";
        return vec![DoctorFinding::skipped(JUDGE, "unknown", what)];
    };
    let app = App { settings: settings.clone(), faults: Arc::clone(&context.faults) };
    let found = match app.judge() {
        Ok(Ok(judge)) => match judge.standing() {
            Ok(standing) => ready_finding(&settings.judge, standing),
            Err(error) => {
                let what = format!("what it cost can't be read: {error}");
                DoctorFinding::warn(JUDGE, "unusable", what)
                    .remedy("nothing is asked while nothing can be counted: move the file away")
            }
        },
        Ok(Err(JudgeUnreadyReason::NotAgreed)) => {
            let what = "no model is asked: you have not agreed to one";
            DoctorFinding::ok(JUDGE, what).fact("agreed", false)
        }
        Ok(Err(JudgeUnreadyReason::NoKey(variable))) => {
            let what = format!("you have agreed to a model, and there is no key in {variable}");
            let remedy = format!(
                "set {variable} where your agents are started, or name another variable with \
                 judge.key_env"
            );
            let found = DoctorFinding::warn(JUDGE, "no-key", what).remedy(remedy);
            found.fact("agreed", true).fact("key", false)
        }
        Err(error) => DoctorFinding::warn(JUDGE, "wrong-key", error.to_string())
            .remedy("mend the variable's value")
            .fact("agreed", true),
    };
    vec![found]
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
        DoctorFinding::warn(JUDGE, "paused", what).remedy("`recoup judge test` tries it now")
    } else if tokens >= limit {
        let what = format!("{model} has used {spent} today, and rests until tomorrow (UTC)");
        DoctorFinding::warn(JUDGE, "spent", what)
            .remedy("judge.daily_tokens is the limit, if you want more")
    } else {
        DoctorFinding::ok(JUDGE, format!("{model}, {spent} today"))
    };
    let found = found.fact("agreed", true).fact("key", true);
    found.fact("tokens", tokens).fact("daily_tokens", limit)
}

const SYNCED: &str = "synced";

/// Checks the mirror.
pub(super) fn check_mirror(context: &DoctorContext) -> Vec<DoctorFinding> {
    // A dry run of the removal lists what is there.
    let report = remove_all_mirrors(&context.home, &context.cwd, true);
    let changed = report.left.iter().filter(|left| left.why != LeftReason::NotOurs).map(|left| {
        let what = format!("{} was changed since it was written", context.display_path(&left.path));
        DoctorFinding::warn(SYNCED, "changed", what)
            .remedy("it is left as it is: delete it, and `recoup memory sync` writes it anew")
    });
    let faults = report.faults.iter().map(|fault| {
        DoctorFinding::warn(
            SYNCED,
            "out-of-step",
            format!("{}: {}", context.display_path(&fault.dir), fault.why),
        )
        .remedy("mend that, then say `recoup memory sync`")
    });
    let files = report.count();
    let is_off = context.settings().is_some_and(|settings| !settings.users_mirror.is_any());
    let all = match (files, is_off) {
        (0, true) => DoctorFinding::skipped(SYNCED, "off", "rules sync and skills are off"),
        (n, true) => {
            let what = format!("rules sync and skills are off, but {n} of their files are there");
            DoctorFinding::warn(SYNCED, "off", what).remedy("`recoup memory sync` takes them out")
        }
        (0, _) => DoctorFinding::ok(SYNCED, "nothing is synced yet"),
        (1, _) => DoctorFinding::ok(SYNCED, "1 file for Claude Code"),
        (n, _) => DoctorFinding::ok(SYNCED, format!("{n} files for Claude Code")),
    };
    // Deleted on purpose, perhaps, but the next sync writes them again.
    let missed = report.missed.first().filter(|_| !is_off).map(|first| {
        let first = context.display_path(first);
        let what = match report.missed.len() - 1 {
            0 => format!("{first} is gone"),
            more => format!("{first} and {more} more are gone"),
        };
        DoctorFinding::warn(SYNCED, "missing", what)
            .remedy(
                "`recoup memory sync` in that project writes it again, as the next session does; \
                 what should stay away, retire or forget",
            )
            .fact("files", report.missed.len())
    });
    [all.fact("files", files)].into_iter().chain(changed).chain(missed).chain(faults).collect()
}
