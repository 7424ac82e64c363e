//! Readers for the reports of tools. Each reader recognizes its tool by the structure of the input.

mod cargo;
mod eslint;
mod junit;
mod pytest;
mod ripgrep;
mod sarif;

use serde_json::value::RawValue;

use super::finding::ReportFinding;

/// A report, in a common form.
#[derive(Debug)]
pub(super) struct ToolReport<'a> {
    pub(super) verdict: &'static str,
    /// One line for people.
    pub(super) description: String,
    pub(super) findings: Vec<ReportFinding<'a>>,
}

const PASS: &str = "PASS";
const FAIL: &str = "FAIL";
/// Truncated, or nothing was done.
const UNKNOWN: &str = "UNKNOWN";

fn verdict(failed: bool) -> &'static str {
    if failed { FAIL } else { PASS }
}

/// Reads a report that is one JSON value.
pub(super) fn from_json(root: &RawValue) -> Option<ToolReport<'_>> {
    let readers = [sarif::read, eslint::read, pytest::read, junit::read];
    let report = readers.into_iter().find_map(|read| read(root));
    report.or_else(|| Some(JsonLinesTool::of(root)?.read(std::iter::once(root.get()))))
}

/// Reads a report of JSON lines, at least one of which is clearly a tool's message. Other lines are
/// allowed, as with `2>&1`.
pub(super) fn from_lines(text: &str) -> Option<ToolReport<'_>> {
    let lines = || text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let tool = lines().filter_map(parse_object_line).find_map(JsonLinesTool::of)?;
    Some(tool.read(lines()))
}

/// Tools that write JSON lines.
enum JsonLinesTool {
    Cargo,
    Ripgrep,
}

impl JsonLinesTool {
    fn of(message: &RawValue) -> Option<Self> {
        let cargo = || cargo::is_message(message).then_some(Self::Cargo);
        let ripgrep = || ripgrep::is_event(message).then_some(Self::Ripgrep);
        cargo().or_else(ripgrep)
    }

    fn read<'a>(self, lines: impl Iterator<Item = &'a str>) -> ToolReport<'a> {
        match self {
            Self::Cargo => cargo::read(lines),
            Self::Ripgrep => ripgrep::read(lines),
        }
    }
}

/// A line that is a JSON object.
fn parse_object_line(line: &str) -> Option<&RawValue> {
    if line.starts_with('{') { serde_json::from_str(line).ok() } else { None }
}

/// `1 error`, `2 errors`.
fn pluralize(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
