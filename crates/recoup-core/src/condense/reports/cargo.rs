//! `cargo build`, `check`, `clippy` or `test` with `--message-format=json`: one message per line,
//! mixed with the output of tests and, with `2>&1`, of cargo itself.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::cargo_tests::Tests;
use super::{FAIL, Report, UNKNOWN, counted, one_line, verdict};
use crate::condense::finding::Finding;
use crate::condense::json::{self, Field};
use crate::condense::severity::Severity;

const REASONS: [&str; 4] =
    ["compiler-message", "compiler-artifact", "build-script-executed", "build-finished"];

/// True if the value is a message of cargo.
pub(super) fn is_message(raw: &RawValue) -> bool {
    json::string(json::field(raw, "reason")).is_some_and(|reason| REASONS.contains(&&*reason))
}

pub(super) fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Report<'a> {
    let (mut findings, mut seen, mut success) = (Vec::new(), HashSet::new(), None);
    let mut tests = Tests::default();
    for text in lines {
        // Test output may look like JSON, and a truncated message is a line like any other.
        let Some(message) = one_line(text).filter(|raw| is_message(raw)) else {
            tests.line(text);
            continue;
        };
        let [reason, message, finished] = json::pick(message, ["reason", "message", "success"]);
        match json::string(reason).as_deref() {
            Some("compiler-message") => {
                // A library and its tests are compiled separately, with the same diagnostics.
                let new = message.filter(|message| seen.insert(message.get()));
                findings.extend(new.and_then(finding));
            }
            Some("build-finished") => success = finished.map(|raw| raw.get() == "true"),
            _ => {}
        }
    }
    let errors = findings.iter().filter(|found| found.severity() == Severity::High).count();
    let others = findings.len() - errors;
    let mut description = format!("{}, {}", counted(errors, "error"), counted(others, "warning"));
    findings.extend(tests.findings());
    if findings.len() > errors + others {
        let failed = counted(findings.len() - errors - others, "failed test");
        description = format!("{description}, {failed}");
    }
    let verdict = match success {
        _ if tests.any_failed() => FAIL,
        Some(success) => verdict(!success),
        None if errors > 0 => FAIL,
        // Truncated output.
        None => UNKNOWN,
    };
    if success.is_none() {
        description.push_str(", cut off");
    }
    Report { verdict, description, findings }
}

/// A diagnostic; `None` for the closing sums, which have no place.
fn finding(message: &RawValue) -> Option<Finding<'_>> {
    let [level, code, text, spans] = json::pick(message, ["level", "code", "message", "spans"]);
    let level = json::string(level).filter(|level| level != "failure-note")?;
    let text = json::string(text)?;
    let span = spans.and_then(primary);
    let is_sum = text.starts_with("aborting due to") || text.ends_with(" emitted");
    if span.is_none() && is_sum {
        return None;
    }
    let code = code.and_then(|code| json::field(code, "code"));
    let [file, line] = span.map_or([None; 2], |span| json::pick(span, ["file_name", "line_start"]));
    // "error: internal compiler error"
    let severity = if level.starts_with("error") { "error".into() } else { level.clone() };
    Some(Finding {
        id: Some(code.map_or(Field::Text(level), Field::Json)),
        severity: Some(Field::Text(severity)),
        file: file.map(Field::Json),
        line: line.map(Field::Json),
        message: Some(text),
    })
}

fn primary(spans: &RawValue) -> Option<&RawValue> {
    let (mut first, mut primary) = (None, None);
    json::each(spans, |span| {
        first = first.or(Some(span));
        let is_primary = json::field(span, "is_primary").is_some_and(|raw| raw.get() == "true");
        primary = primary.or(is_primary.then_some(span));
    });
    primary.or(first)
}
