//! Input of the strategies: an agent's result, or the report of a known tool. Its structure decides
//! which, never its name.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::finding::Finding;
use super::json::{self, Field};
use super::object::Object;
use super::reports::{self, Report};
use crate::error::{Error, ErrorKind, Result};

/// A valid input.
#[derive(Debug)]
pub struct Document<'a> {
    /// The whole input; `None` for several values (JSON lines).
    root: Option<&'a RawValue>,
    shape: Shape<'a>,
}

#[derive(Debug)]
enum Shape<'a> {
    Object(Box<Object<'a>>),
    Report(Report<'a>),
}

impl<'a> Document<'a> {
    /// Reads an input.
    pub fn read(input: &'a [u8]) -> Result<Self> {
        let text = std::str::from_utf8(input).map_err(|error| invalid().with_source(error))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = match serde_json::from_str::<&RawValue>(text) {
            Ok(root) => root,
            Err(error) => {
                let lines = reports::of_lines(text).ok_or_else(|| invalid().with_source(error))?;
                return Ok(Self { root: None, shape: Shape::Report(lines) });
            }
        };
        let object = json::is_object(root).then(|| Box::new(Object::read(root)));
        let shape = match object {
            // Whatever else the agent has put into it.
            Some(object) if object.is_clearly_ours() => Shape::Object(object),
            object => match (reports::of_whole(root), object) {
                (Some(report), _) => Shape::Report(report),
                (None, Some(object)) => Shape::Object(object),
                (None, None) => return Err(no_result()),
            },
        };
        Ok(Self { root: Some(root), shape })
    }

    /// The whole input, if it is an agent's result and not a tool's report.
    pub(super) fn own_result(&self) -> Option<&'a str> {
        match &self.shape {
            Shape::Object(_) => self.root.map(RawValue::get),
            Shape::Report(_) => None,
        }
    }

    /// The value at a dotted path. Plain names take precedence over names with dots; a number
    /// indexes a list from 0.
    pub(super) fn at(&self, path: &str) -> Option<&'a RawValue> {
        self.root.and_then(|root| descend(root, path))
    }

    pub(super) fn verdict(&self) -> Cow<'a, str> {
        match &self.shape {
            Shape::Object(object) => object.verdict(),
            Shape::Report(report) => Cow::Borrowed(report.verdict),
        }
    }

    /// The severity counts that the input itself declares.
    pub(super) fn severity_counts(&self) -> Option<&'a RawValue> {
        match &self.shape {
            Shape::Object(object) => object.severity_counts(),
            Shape::Report(_) => None,
        }
    }

    pub(super) fn findings(&self, mut visit: impl FnMut(Finding<'a>)) {
        match &self.shape {
            Shape::Object(object) => object.findings(visit),
            Shape::Report(report) => report.findings.iter().for_each(|found| visit(found.clone())),
        }
    }

    /// Every `path:line`, in any order, possibly repeated.
    pub(super) fn identifiers(&self) -> Vec<Cow<'a, str>> {
        match &self.shape {
            Shape::Object(object) => object.identifiers(),
            Shape::Report(report) => {
                report.findings.iter().filter_map(Finding::identifier).map(Cow::Owned).collect()
            }
        }
    }

    /// Search-related fields of the input, by name.
    pub(super) fn search(&self) -> Vec<(&'static str, Field<'a>)> {
        match &self.shape {
            Shape::Object(object) => object.search(),
            Shape::Report(_) => Vec::new(),
        }
    }

    pub(super) fn description(&self) -> Cow<'_, str> {
        match &self.shape {
            Shape::Object(object) => object.description(),
            Shape::Report(report) => Cow::Borrowed(&report.description),
        }
    }

    pub(super) fn item_count(&self) -> usize {
        match &self.shape {
            Shape::Object(object) => object.item_count(),
            Shape::Report(report) => report.findings.len(),
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
fn invalid() -> Error {
    Error::new(ErrorKind::Invalid, "Invalid JSON input")
}

fn no_result() -> Error {
    Error::new(
        ErrorKind::Invalid,
        "the input is JSON, but neither an object nor a report that is known (SARIF, ESLint, cargo, \
         pytest, JUnit, ripgrep)",
    )
}
