//! `pytest --json-report` (the plugin pytest-json-report): failures, with their places in the
//! test's own file.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{ToolReport, verdict};
use crate::condense::finding::ReportFinding;
use crate::condense::json::{self, FieldValue};

pub(super) fn read(root: &RawValue) -> Option<ToolReport<'_>> {
    let [exitcode, summary, tests, collectors] =
        json::pick(root, ["exitcode", "summary", "tests", "collectors"]);
    let summary = summary.filter(|raw| json::is_object(raw))?;
    let exitcode = exitcode.filter(|raw| json::is_number(raw))?;
    if ![tests, collectors].iter().flatten().any(|raw| json::is_list(raw)) {
        return None;
    }
    let mut findings = Vec::new();
    if let Some(collectors) = collectors {
        json::visit_elements(collectors, |collector| {
            let [id, outcome, longrepr] = json::pick(collector, ["nodeid", "outcome", "longrepr"]);
            // A file that could not even be imported.
            if json::string(outcome).is_some_and(|outcome| outcome == "failed") {
                let said = json::string(longrepr);
                findings.push(ReportFinding {
                    file: id.map(FieldValue::Json),
                    id: id.map(FieldValue::Json),
                    severity: Some(FieldValue::from("error")),
                    line: None,
                    message: said.map(|said| Cow::Owned(first_error_line(&said).to_owned())),
                });
            }
        });
    }
    if let Some(tests) = tests {
        json::visit_elements(tests, |test| findings.extend(failed_test(test)));
    }
    // `2 failed, 1 error, 5 passed`, as pytest prints it.
    let names = ["failed", "error", "passed", "skipped", "xfailed", "xpassed", "deselected"];
    let counts = json::pick(summary, names).into_iter().zip(names);
    let counts = counts.filter_map(|(count, name)| Some(format!("{} {name}", count?.get())));
    let description = counts.collect::<Vec<_>>().join(", ");
    Some(ToolReport { verdict: verdict(exitcode.get() != "0"), description, findings })
}

/// The error line: tracebacks end with lines that begin with `E`, of which the first has the
/// message.
fn first_error_line(traceback: &str) -> &str {
    let complaint = traceback.lines().find_map(|line| line.strip_prefix("E "));
    complaint.unwrap_or(traceback.lines().next().unwrap_or_default()).trim_start()
}

fn failed_test(test: &RawValue) -> Option<ReportFinding<'_>> {
    let [id, outcome, lineno, setup, call, teardown] =
        json::pick(test, ["nodeid", "outcome", "lineno", "setup", "call", "teardown"]);
    let id = json::string(id)?;
    if !matches!(&*json::string(outcome)?, "failed" | "error") {
        return None;
    }
    let stages = [call, setup, teardown].into_iter().flatten();
    let broken = stages.clone().find(|stage| {
        json::string(json::field(stage, "outcome")).is_some_and(|outcome| outcome == "failed")
    });
    let [crash, traceback, longrepr] =
        broken.map_or([None; 3], |stage| json::pick(stage, ["crash", "traceback", "longrepr"]));
    let [path, line, message] =
        crash.map_or([None; 3], |it| json::pick(it, ["path", "lineno", "message"]));
    let file = id.split_once("::").map_or(&*id, |(file, _)| file).to_owned();
    let here = json::string(path).is_some_and(|path| path.ends_with(&file));
    let line = (if here { json::number(line) } else { None })
        .or_else(|| {
            // The first frame in the test's own file.
            let mut found = None;
            json::visit_elements(traceback?, |step| {
                let [path, line] = json::pick(step, ["path", "lineno"]);
                if found.is_none() && json::string(path).is_some_and(|path| path.ends_with(&file)) {
                    found = json::number(line);
                }
            });
            found
        })
        // Where the test begins, counted from 0.
        .or_else(|| json::number(lineno).map(|line| line + 1));
    let said = json::string(longrepr).map(|said| Cow::Owned(first_error_line(&said).to_owned()));
    Some(ReportFinding {
        id: Some(FieldValue::Text(id)),
        severity: Some(FieldValue::from("error")),
        file: Some(FieldValue::from(file)),
        line: line.map(FieldValue::Number),
        message: json::string(message).or(said),
    })
}
