//! `eslint --format json`: a list of files, each with its messages.

use serde_json::value::RawValue;

use super::{ToolReport, pluralize, verdict};
use crate::condense::finding::{FindingSeverity, ReportFinding};
use crate::condense::json::{self, FieldValue};

pub(super) fn read(root: &RawValue) -> Option<ToolReport<'_>> {
    let [path, messages] = json::pick(json::element(root, 0)?, ["filePath", "messages"]);
    if !path.is_some_and(json::is_string) || !messages.is_some_and(json::is_list) {
        return None;
    }
    let (mut findings, mut files) = (Vec::new(), 0);
    json::visit_elements(root, |file| {
        let [path, messages] = json::pick(file, ["filePath", "messages"]);
        if let Some(messages) = messages {
            json::visit_elements(messages, |message| findings.push(finding(path, message)));
        }
        files += 1;
    });
    let errors = findings.iter().filter(|found| found.severity() == FindingSeverity::High).count();
    let description = format!(
        "{}, {} in {}",
        pluralize(errors, "error"),
        pluralize(findings.len() - errors, "warning"),
        pluralize(files, "file")
    );
    Some(ToolReport { verdict: verdict(errors > 0), description, findings })
}

fn finding<'a>(path: Option<&'a RawValue>, message: &'a RawValue) -> ReportFinding<'a> {
    let [rule, severity, line, text, fatal] =
        json::pick(message, ["ruleId", "severity", "line", "message", "fatal"]);
    let fatal = fatal.is_some_and(|raw| raw.get() == "true");
    let is_error = fatal || json::number(severity).is_some_and(|severity| severity > 1);
    ReportFinding {
        // A problem with the file itself has no rule.
        id: json::first_meaningful(&[rule])
            .map(FieldValue::Json)
            .or_else(|| fatal.then(|| FieldValue::from("fatal"))),
        severity: Some(FieldValue::from(if is_error { "error" } else { "warning" })),
        file: path.map(FieldValue::Json),
        line: json::first_meaningful(&[line]).map(FieldValue::Json),
        message: text.map(json::text),
    }
}
