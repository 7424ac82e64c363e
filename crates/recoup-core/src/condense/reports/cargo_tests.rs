//! Test output between cargo's messages: a successful build says nothing about failing tests.

use std::collections::HashMap;

use crate::condense::finding::ReportFinding;
use crate::condense::json::FieldValue;

/// Failed tests found so far.
#[derive(Debug, Default)]
pub(super) struct CargoTests<'a> {
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
    pub(super) fn add_line(&mut self, line: &'a str) {
        if let Some(name) = self.speaking.take()
            && let Some(panic) = self.panics.get_mut(name)
        {
            panic.message = line;
        } else if let Some((name, panic)) = parse_panic(line) {
            self.speaking = Some(name);
            self.panics.insert(name, panic);
        } else if let Some(name) = failed_test(line) {
            self.failed.push(name);
        }
        // The second if a test took its whole process with it.
        let failures = ["test result: FAILED", "error: test failed"];
        self.any_failed |= failures.iter().any(|failure| line.starts_with(failure));
    }

    /// True if a test failed, even an unnamed one.
    pub(super) fn any_failed(&self) -> bool {
        self.any_failed || !self.failed.is_empty()
    }

    pub(super) fn findings(&self) -> impl Iterator<Item = ReportFinding<'a>> {
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

/// `test NAME ... FAILED`
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// `thread 'NAME' (1234) panicked at FILE:LINE:COLUMN:`, the number only since Rust 1.91.
fn parse_panic(line: &str) -> Option<(&str, TestPanic<'_>)> {
    let (name, rest) = line.strip_prefix("thread '")?.split_once('\'')?;
    let (_, place) = rest.split_once("panicked at ")?;
    let mut parts = place.trim_end_matches(':').rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((name, TestPanic { file, line: line.parse().ok()?, message: "" }))
}
