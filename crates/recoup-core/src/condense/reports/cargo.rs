//! `cargo build`, `check`, `clippy` or `test` with `--message-format=json`: one message per line,
//! mixed with the output of tests and, with `2>&1`, of cargo itself.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::{FAIL, ToolReport, UNKNOWN, parse_object_line, pluralize, verdict};
use crate::condense::finding::{FindingSeverity, ReportFinding};
use crate::condense::json::{self, FieldValue};

const REASONS: [&str; 4] =
    ["compiler-message", "compiler-artifact", "build-script-executed", "build-finished"];

/// True if the value is a message of cargo.
pub(super) fn is_message(raw: &RawValue) -> bool {
    json::string(json::field(raw, "reason")).is_some_and(|reason| REASONS.contains(&&*reason))
}

pub(super) fn read<'a>(lines: impl Iterator<Item = &'a str>) -> ToolReport<'a> {
    let (mut findings, mut seen, mut success) = (Vec::new(), HashSet::new(), None);
    let mut tests = CargoTests::default();
    for text in lines {
        // Test output may look like JSON, and a truncated message is a line like any other.
        let Some(message) = parse_object_line(text).filter(|raw| is_message(raw)) else {
            tests.add_line(text);
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
    let errors = findings.iter().filter(|found| found.severity() == FindingSeverity::High).count();
    let others = findings.len() - errors;
    let mut description =
        format!("{}, {}", pluralize(errors, "error"), pluralize(others, "warning"));
    findings.extend(tests.findings());
    if findings.len() > errors + others {
        let failed = pluralize(findings.len() - errors - others, "failed test");
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
    ToolReport { verdict, description, findings }
}

/// A diagnostic; `None` for the closing sums, which have no place.
fn finding(message: &RawValue) -> Option<ReportFinding<'_>> {
    let [level, code, text, spans] = json::pick(message, ["level", "code", "message", "spans"]);
    let level = json::string(level).filter(|level| level != "failure-note")?;
    let text = json::string(text)?;
    let (mut first, mut primary) = (None, None);
    if let Some(spans) = spans {
        json::visit_elements(spans, |span| {
            first = first.or(Some(span));
            let is_primary = json::field(span, "is_primary").is_some_and(|raw| raw.get() == "true");
            primary = primary.or(is_primary.then_some(span));
        });
    }
    let span = primary.or(first);
    let is_sum = text.starts_with("aborting due to") || text.ends_with(" emitted");
    if span.is_none() && is_sum {
        return None;
    }
    let code = code.and_then(|code| json::field(code, "code"));
    let [file, line] = span.map_or([None; 2], |span| json::pick(span, ["file_name", "line_start"]));
    // "error: internal compiler error"
    let severity = if level.starts_with("error") { "error".into() } else { level.clone() };
    Some(ReportFinding {
        id: Some(code.map_or(FieldValue::Text(level), FieldValue::Json)),
        severity: Some(FieldValue::Text(severity)),
        file: file.map(FieldValue::Json),
        line: line.map(FieldValue::Json),
        message: Some(text),
    })
}

/// Failed tests found so far in the output between cargo's messages: a successful build says nothing
/// about failing tests.
#[derive(Debug, Default)]
struct CargoTests<'a> {
    failed: Vec<&'a str>,
    panics: HashMap<&'a str, TestPanic<'a>>,
    /// Name of the test whose panic message is on the next line.
    speaking: Option<&'a str>,
    any_failed: bool,
}

#[derive(Debug)]
struct TestPanic<'a> {
    file: &'a str,
    line: u64,
    message: &'a str,
}

impl<'a> CargoTests<'a> {
    /// Processes a line that is not a cargo message.
    fn add_line(&mut self, line: &'a str) {
        if let Some(name) = self.speaking.take()
            && let Some(panic) = self.panics.get_mut(name)
        {
            panic.message = line;
        } else if let Some(rest) = line.strip_prefix("thread '")
            && let Some((name, rest)) = rest.split_once('\'')
            && let Some((_, place)) = rest.split_once("panicked at ")
            && let Some((place, _column)) = place.trim_end_matches(':').rsplit_once(':')
            && let Some((file, line)) = place.rsplit_once(':')
            && let Ok(line) = line.parse()
        {
            // `thread 'NAME' (1234) panicked at FILE:LINE:COLUMN:`, the number only since Rust 1.91.
            self.speaking = Some(name);
            self.panics.insert(name, TestPanic { file, line, message: "" });
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failed.push(name);
        }
        // The second if a test took its whole process with it.
        let failures = ["test result: FAILED", "error: test failed"];
        self.any_failed |= failures.iter().any(|failure| line.starts_with(failure));
    }

    /// True if a test failed, even an unnamed one.
    fn any_failed(&self) -> bool {
        self.any_failed || !self.failed.is_empty()
    }

    fn findings(&self) -> impl Iterator<Item = ReportFinding<'a>> {
        self.failed.iter().map(|name| {
            let panic = self.panics.get(name);
            ReportFinding {
                id: Some(FieldValue::from(*name)),
                severity: Some(FieldValue::from("error")),
                file: panic.map(|panic| FieldValue::from(panic.file)),
                line: panic.map(|panic| FieldValue::Number(panic.line)),
                message: Some(panic.map_or("test failed", |panic| panic.message).into()),
            }
        })
    }
}
