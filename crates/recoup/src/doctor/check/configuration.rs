//! Checks the configuration and what it switches on: the judge (consent, API key, token budget), and
//! the mirror (rules and skills in files that Claude Code reads).

use std::sync::Arc;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::project::ProjectRegistry;
use recoup_core::memory::judge::account::AccountStatus;

use crate::app::{App, remove_all_mirrors};
use crate::config::show::set_keys;
use crate::config::trust::{self, TrustVerdict};
use crate::config::{
    FlagOverrides, GatheredConfig, JudgeSettings, JudgeUnreadyReason, ResolvedSettings,
};
use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::human;
use crate::mirror::LeftReason;

/// Reports problems of the configuration, and what is ignored in it.
pub(super) fn check_configuration(context: &DoctorContext) -> Vec<DoctorFinding> {
    let with_remedy = |finding: DoctorFinding, effect: &str| {
        finding.remedy(format!("{effect}; `recoup config check` lists every problem"))
    };
    let stops = "most commands fail until this is corrected";
    let mut gathered = match GatheredConfig::new(&FlagOverrides::default()) {
        Ok(gathered) => gathered,
        Err(error) => {
            return vec![with_remedy(DoctorFinding::fail("wrong", error.to_string()), stops)];
        }
    };
    let settings = gathered.resolve_settings();
    let mut problems: Vec<String> = gathered.problems.iter().map(ToString::to_string).collect();
    let outside = settings.as_ref().map(ResolvedSettings::demand_within_project);
    problems.extend(outside.and_then(Result::err).map(|error| error.to_string()));
    let problems = problems.into_iter().map(|problem| DoctorFinding::fail("wrong", problem));
    // The same for all: once is enough.
    let mut found: Vec<DoctorFinding> = problems
        .enumerate()
        .map(|(at, finding)| if at == 0 { with_remedy(finding, stops) } else { finding })
        .collect();
    found.extend(gathered.left_out.iter().map(|problem| {
        let finding = DoctorFinding::fail("wrong", problem.to_string());
        with_remedy(finding, "this file is ignored until it is corrected")
    }));
    let problems = found.len();
    if let Some(first) = found.first_mut() {
        first.facts.insert("problems", problems.into());
    }
    let registry = ProjectRegistry::below(&gathered.places.home);
    found.extend(registry.apart_advice(&gathered.project).map(|advice| {
        DoctorFinding::warn("unconfirmed-checkout", advice)
            .remedy("run `recoup trust`: it explains the question and lets you decide")
    }));
    let untrusted = gathered.delicate.iter().filter(|it| it.verdict != TrustVerdict::Trusted);
    let warning = settings.as_ref().and_then(|_| gathered.untrusted_warning());
    found.extend(warning.map(|warning| {
        DoctorFinding::warn("untrusted", warning)
            .remedy("run `recoup trust` to review these files and decide")
            .fact("files", untrusted.count())
    }));
    let advice = trust::team_state(&context.home, &gathered.project).advice();
    found.extend(advice.map(|it| DoctorFinding::warn("team-rules", it)));
    if found.is_empty() {
        let keys = set_keys(&gathered).len();
        let what = match keys {
            0 => "no key is set: all defaults apply".to_owned(),
            1 => "1 key is set".to_owned(),
            keys => format!("{keys} keys are set"),
        };
        found.push(DoctorFinding::ok(what).fact("keys", keys));
    }
    found
}

/// Checks the judge.
pub(super) fn check_judge(context: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(settings) = &context.settings else {
        let what = "not checked: the configuration is invalid";
        return vec![DoctorFinding::skipped("unknown", what)];
    };
    let app = App { settings: settings.clone(), faults: Arc::clone(&context.faults) };
    let found = match app.judge() {
        Ok(Ok(judge)) => match judge.standing() {
            Ok(standing) => ready_finding(&settings.judge, standing),
            Err(error) => {
                let what = format!("can't read the record of used tokens: {error}");
                DoctorFinding::warn("unusable", what).remedy(
                    "no model is called while its tokens can't be counted: move the file away",
                )
            }
        },
        Ok(Err(JudgeUnreadyReason::NotAgreed)) => {
            let what = "no model is used: judge.enabled is false";
            DoctorFinding::ok(what).fact("agreed", false)
        }
        Ok(Err(JudgeUnreadyReason::NoKey(variable))) => {
            let what = format!("judge.enabled is true, but the variable {variable} has no API key");
            let remedy = format!(
                "set {variable} in the environment of your agents, or name another variable in \
                 judge.key_env"
            );
            let found = DoctorFinding::warn("no-key", what).remedy(remedy);
            found.fact("agreed", true).fact("key", false)
        }
        Err(error) => DoctorFinding::warn("wrong-key", error.to_string())
            .remedy("correct the variable's value")
            .fact("agreed", true),
    };
    vec![found]
}

/// Finding for a judge that has consent and a key: paused, out of budget, or ready.
fn ready_finding(settings: &JudgeSettings, standing: AccountStatus) -> DoctorFinding {
    let (tokens, limit) = (standing.tokens, settings.daily_tokens);
    let spent = format!("{} of {} tokens", human::count(tokens), human::count(limit));
    let model = format!("{} ({})", settings.model, settings.provider.as_str());
    let last = standing.last_failure.map(|(_, what)| format!("; last error: {what}"));
    let found = if let Some(until) = standing.paused_until {
        let until = Timestamp::to_second_string(until);
        let what = format!("{model} is paused until {until}{}", last.unwrap_or_default());
        DoctorFinding::warn("paused", what).remedy("`recoup judge test` tries it now")
    } else if tokens >= limit {
        let what =
            format!("{model} has used {spent} today, and is not called again until tomorrow (UTC)");
        DoctorFinding::warn("spent", what).remedy("raise judge.daily_tokens if you want more")
    } else {
        DoctorFinding::ok(format!("{model}, {spent} today"))
    };
    let found = found.fact("agreed", true).fact("key", true);
    found.fact("tokens", tokens).fact("daily_tokens", limit)
}

/// Checks the mirror.
pub(super) fn check_mirror(context: &DoctorContext) -> Vec<DoctorFinding> {
    // A dry run of the removal lists what is there.
    let report = remove_all_mirrors(&context.home, &context.cwd, true);
    let changed = report.left.iter().filter(|left| left.why != LeftReason::NotOurs).map(|left| {
        let what =
            format!("{} was changed after recoup wrote it", context.display_path(&left.path));
        DoctorFinding::warn("changed", what).remedy(
            "recoup does not overwrite it: delete it and run `recoup memory sync` to write it \
             again",
        )
    });
    let faults = report.faults.iter().map(|fault| {
        DoctorFinding::warn(
            "out-of-step",
            format!("{}: {}", context.display_path(&fault.dir), fault.why),
        )
        .remedy("correct that, then run `recoup memory sync`")
    });
    let files = report.count();
    let is_off = context.settings.as_ref().is_some_and(|settings| !settings.users_mirror.is_any());
    let all = match (files, is_off) {
        (0, true) => DoctorFinding::skipped("off", "rules sync and skills are off"),
        (n, true) => {
            let what = format!("rules sync and skills are off, but {n} of their files remain");
            DoctorFinding::warn("off", what).remedy("`recoup memory sync` removes them")
        }
        (0, _) => DoctorFinding::ok("nothing is synced yet"),
        (1, _) => DoctorFinding::ok("1 file for Claude Code"),
        (n, _) => DoctorFinding::ok(format!("{n} files for Claude Code")),
    };
    // Deleted on purpose, perhaps, but the next sync writes them again.
    let missed = report.missed.first().filter(|_| !is_off).map(|first| {
        let first = context.display_path(first);
        let what = match report.missed.len() - 1 {
            0 => format!("{first} is missing"),
            more => format!("{first} and {more} more are missing"),
        };
        DoctorFinding::warn("missing", what)
            .remedy(
                "`recoup memory sync` in that project writes them again, and so does the next \
                 session; to remove a rule for good, retire or forget it",
            )
            .fact("files", report.missed.len())
    });
    [all.fact("files", files)].into_iter().chain(changed).chain(missed).chain(faults).collect()
}
