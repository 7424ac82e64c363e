//! Checks that the configuration can be read, and reports what is ignored in it.

use crate::config::trust;
use crate::doctor::DoctorContext;
use crate::doctor::doctor_context::ConfigDiagnosis;
use crate::doctor::finding::DoctorFinding;

const CHECK: &str = "configuration";

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let ConfigDiagnosis { problems, ignored, unconfirmed, warnings, said, untrusted, .. } =
        &context.configuration;
    let stops = |problem: &String| {
        DoctorFinding::fail(CHECK, "wrong", problem).remedy(
            "commands refuse to work until this is corrected; `recoup config check` lists every \
             problem",
        )
    };
    let is_ignored = |problem: &String| {
        DoctorFinding::fail(CHECK, "wrong", problem).remedy(
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
        DoctorFinding::warn(CHECK, "unconfirmed-checkout", advice)
            .remedy("`recoup trust` explains what is asked, and lets you decide")
    }));
    found.extend(warnings.iter().map(|warning| {
        DoctorFinding::warn(CHECK, "untrusted", warning)
            .remedy("`recoup trust` shows what they say, and asks")
            .fact("files", *untrusted)
    }));
    found.extend(team_rules(context));
    if found.is_empty() {
        let what = match said.len() {
            0 => "nothing is set: all as it is built in".to_owned(),
            1 => "1 key is set".to_owned(),
            keys => format!("{keys} keys are set"),
        };
        found.push(DoctorFinding::ok(CHECK, what).fact("keys", said.len()));
    }
    found
}

/// Reports team rules that wait for approval.
fn team_rules(context: &DoctorContext) -> Option<DoctorFinding> {
    let project = context.project.as_ref()?;
    let advice = trust::team_state(&context.home, project).advice()?;
    Some(DoctorFinding::warn(CHECK, "team-rules", advice))
}
