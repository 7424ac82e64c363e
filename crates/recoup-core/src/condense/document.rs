//! Input of the strategies: an agent's result, or the report of a known tool. Its structure decides
//! which, never its name.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::finding::ReportFinding;
use super::json::{self, FieldValue};
use super::object::ResultObject;
use super::reports::{self, ToolReport};
use crate::error::{Error, ErrorKind, Result};

/// A valid input.
#[derive(Debug)]
pub struct InputDocument<'a> {
    /// The whole input; `None` for several values (JSON lines).
    root: Option<&'a RawValue>,
    shape: DocumentShape<'a>,
}

#[derive(Debug)]
enum DocumentShape<'a> {
    Object(Box<ResultObject<'a>>),
    Report(ToolReport<'a>),
}

impl<'a> InputDocument<'a> {
    /// Reads an input.
    pub fn read(input: &'a [u8]) -> Result<Self> {
        let text =
            std::str::from_utf8(input).map_err(|error| invalid_json_error().with_source(error))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = match serde_json::from_str::<&RawValue>(text) {
            Ok(root) => root,
            Err(error) => {
                let lines = reports::from_lines(text)
                    .ok_or_else(|| invalid_json_error().with_source(error))?;
                return Ok(Self { root: None, shape: DocumentShape::Report(lines) });
            }
        };
        let object = json::is_object(root).then(|| Box::new(ResultObject::read(root)));
        let shape = match object {
            // Whatever else the agent has put into it.
            Some(object) if object.is_agent_result() => DocumentShape::Object(object),
            object => match (reports::from_json(root), object) {
                (Some(report), _) => DocumentShape::Report(report),
                (None, Some(object)) => DocumentShape::Object(object),
                (None, None) => return Err(unknown_input_error()),
            },
        };
        Ok(Self { root: Some(root), shape })
    }

    /// The whole input, if it is an agent's result and not a tool's report.
    pub(super) fn own_result(&self) -> Option<&'a str> {
        match &self.shape {
            DocumentShape::Object(_) => self.root.map(RawValue::get),
            DocumentShape::Report(_) => None,
        }
    }

    /// The value at a dotted path. Plain names take precedence over names with dots; a number
    /// indexes a list from 0.
    pub(super) fn value_at(&self, path: &str) -> Option<&'a RawValue> {
        self.root.and_then(|root| descend(root, path))
    }

    pub(super) fn verdict(&self) -> Cow<'a, str> {
        match &self.shape {
            DocumentShape::Object(object) => object.verdict(),
            DocumentShape::Report(report) => Cow::Borrowed(report.verdict),
        }
    }

    /// The severity counts that the input itself declares.
    pub(super) fn severity_counts(&self) -> Option<&'a RawValue> {
        match &self.shape {
            DocumentShape::Object(object) => object.severity_counts(),
            DocumentShape::Report(_) => None,
        }
    }

    pub(super) fn findings(&self, mut visit: impl FnMut(ReportFinding<'a>)) {
        match &self.shape {
            DocumentShape::Object(object) => object.findings(visit),
            DocumentShape::Report(report) => {
                report.findings.iter().for_each(|found| visit(found.clone()))
            }
        }
    }

    /// Every `path:line`, in any order, possibly repeated.
    pub(super) fn identifiers(&self) -> Vec<Cow<'a, str>> {
        match &self.shape {
            DocumentShape::Object(object) => object.identifiers(),
            DocumentShape::Report(report) => report
                .findings
                .iter()
                .filter_map(ReportFinding::identifier)
                .map(Cow::Owned)
                .collect(),
        }
    }

    /// Search-related fields of the input, by name.
    pub(super) fn search_fields(&self) -> Vec<(&'static str, FieldValue<'a>)> {
        match &self.shape {
            DocumentShape::Object(object) => object.search_fields(),
            DocumentShape::Report(_) => Vec::new(),
        }
    }

    pub(super) fn description(&self) -> Cow<'_, str> {
        match &self.shape {
            DocumentShape::Object(object) => object.description(),
            DocumentShape::Report(report) => Cow::Borrowed(&report.description),
        }
    }

    pub(super) fn item_count(&self) -> usize {
        match &self.shape {
            DocumentShape::Object(object) => object.item_count(),
            DocumentShape::Report(report) => report.findings.len(),
        }
    }
}

fn descend<'a>(raw: &'a RawValue, path: &str) -> Option<&'a RawValue> {
    let step = |name: &str| match name.parse() {
        Ok(index) if json::is_list(raw) => json::element(raw, index),
        _ => json::field(raw, name),
    };
    let nested = path
        .match_indices('.')
        .find_map(|(dot, _)| step(&path[..dot]).and_then(|inner| descend(inner, &path[dot + 1..])));
    nested.or_else(|| step(path))
}

/// A well-known message; the cause says where.
fn invalid_json_error() -> Error {
    Error::new(ErrorKind::Invalid, "Invalid JSON input")
}

fn unknown_input_error() -> Error {
    Error::new(
        ErrorKind::Invalid,
        "the input is JSON, but neither an object nor a report that is known (SARIF, ESLint, cargo, \
         pytest, JUnit, ripgrep)",
    )
}
