//! `eslint --format json`: a list of files, each with its messages.

use serde_json::value::RawValue;

use super::{Report, counted, verdict};
use crate::condense::finding::Finding;
use crate::condense::json::{self, Field};
use crate::condense::severity::Severity;

pub(super) fn read(root: &RawValue) -> Option<Report<'_>> {
    let [path, messages] = json::pick(json::element(root, 0)?, ["filePath", "messages"]);
    if !path.is_some_and(json::is_string) || !messages.is_some_and(json::is_list) {
        return None;
    }
    let (mut findings, mut files) = (Vec::new(), 0);
    json::each(root, |file| {
        let [path, messages] = json::pick(file, ["filePath", "messages"]);
        if let Some(messages) = messages {
            json::each(messages, |message| findings.push(finding(path, message)));
        }
        files += 1;
    });
    let errors = findings.iter().filter(|found| found.severity() == Severity::High).count();
    let description = format!(
        "{}, {} in {}",
        counted(errors, "error"),
        counted(findings.len() - errors, "warning"),
        counted(files, "file")
    );
    Some(Report { verdict: verdict(errors > 0), description, findings })
}

fn finding<'a>(path: Option<&'a RawValue>, message: &'a RawValue) -> Finding<'a> {
    let [rule, severity, line, text, fatal] =
        json::pick(message, ["ruleId", "severity", "line", "message", "fatal"]);
    let fatal = fatal.is_some_and(|raw| raw.get() == "true");
    let is_error = fatal || json::number(severity).is_some_and(|severity| severity > 1);
    Finding {
        // A problem with the file itself has no rule.
        id: json::first(&[rule]).map(Field::Json).or_else(|| fatal.then(|| Field::from("fatal"))),
        severity: Some(Field::from(if is_error { "error" } else { "warning" })),
        file: path.map(Field::Json),
        line: json::first(&[line]).map(Field::Json),
        message: text.map(json::text),
    }
}
