//! Input of the strategies: an agent's result, which is an object with a verdict, lists or other known
//! fields, or the report of a known tool. Its structure decides which, never its name.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::finding::{FindingPlace, ReportFinding, truncate_chars};
use super::json::{self, FieldValue};
use super::reports::{self, ToolReport};
use super::strategy::has_line;
use crate::error::{Error, ErrorKind, Result};

/// Maximum length of a verdict, in characters.
const PHRASE_MOST: usize = 80;

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
                (None, None) => {
                    return Err(Error::new(
                        ErrorKind::Invalid,
                        "the input is JSON, but neither an object nor a known report (SARIF, \
                         ESLint, cargo, pytest, JUnit, ripgrep)",
                    ));
                }
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
                report.findings.iter().for_each(|found| visit(found.clone()));
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

/// The known fields of an object.
#[derive(Debug)]
pub(super) struct ResultObject<'a> {
    verdicts: [Option<&'a RawValue>; 3],
    counts: [Option<&'a RawValue>; 2],
    /// Known lists, those that may hold findings first.
    lists: ResultLists<'a>,
    query: Option<&'a RawValue>,
    confidences: [Option<&'a RawValue>; 2],
    top_matches: [Option<&'a RawValue>; 2],
    descriptions: [Option<&'a RawValue>; 3],
}

#[derive(Debug)]
struct ResultLists<'a> {
    findings: Option<&'a RawValue>,
    issues: Option<&'a RawValue>,
    results: Option<&'a RawValue>,
    vulnerabilities: Option<&'a RawValue>,
    files: Option<&'a RawValue>,
    matches: Option<&'a RawValue>,
    items: Option<&'a RawValue>,
}

impl<'a> ResultObject<'a> {
    pub(super) fn read(root: &'a RawValue) -> Self {
        #[rustfmt::skip]
        let names = [
            "verdict", "status", "result", "severity_counts", "severities", "findings", "issues",
            "results", "vulnerabilities", "files", "matches", "items", "query", "confidence",
            "score", "top_match", "best_match", "description", "summary", "message",
        ];
        let [verdict, status, result, counts, severities, rest @ ..] = json::pick(root, names);
        let [findings, issues, results, vulnerabilities, files, matches, items, rest @ ..] = rest;
        let [query, confidence, score, top_match, best_match, rest @ ..] = rest;
        Self {
            verdicts: [verdict, status, result],
            counts: [counts, severities],
            lists: ResultLists {
                findings,
                issues,
                results,
                vulnerabilities,
                files,
                matches,
                items,
            },
            query,
            confidences: [confidence, score],
            top_matches: [top_match, best_match],
            descriptions: rest,
        }
    }

    /// True if it is certainly a result: no tool's report has a verdict, or a status beside a list
    /// or counts.
    pub(super) fn is_agent_result(&self) -> bool {
        let [verdict, status, result] = self.verdicts;
        let ResultLists { findings, issues, results, vulnerabilities, files, matches, items } =
            self.lists;
        let lists = [findings, issues, results, vulnerabilities, files, matches, items];
        let has_more = || first_list(&lists).is_some() || self.severity_counts().is_some();
        json::first_meaningful(&[verdict]).is_some()
            || json::first_meaningful(&[status, result]).is_some_and(|_| has_more())
    }

    /// The verdict, a word or a phrase. A long `result` is the text of an answer and not a verdict;
    /// `false` counts if there is nothing better.
    pub(super) fn verdict(&self) -> Cow<'a, str> {
        let [verdict, status, result] = self.verdicts;
        let scalar = |raw: &&RawValue| !json::is_object(raw) && !json::is_list(raw);
        let said = |raw| json::first_meaningful(&[raw]).filter(scalar).map(json::text);
        let phrase = |raw| said(raw).map(first_phrase).filter(|text| !text.is_empty());
        let word = |raw| said(raw).filter(|text| is_phrase(text));
        let is_false = |raw: &&RawValue| raw.get() == "false";
        phrase(verdict)
            .or_else(|| phrase(status))
            .or_else(|| word(result))
            .or_else(|| self.verdicts.iter().flatten().copied().find(is_false).map(json::text))
            .unwrap_or(Cow::Borrowed("UNKNOWN"))
    }

    pub(super) fn severity_counts(&self) -> Option<&'a RawValue> {
        json::first_meaningful(&self.counts)
    }

    pub(super) fn findings(&self, mut visit: impl FnMut(ReportFinding<'a>)) {
        let ResultLists { findings, issues, results, vulnerabilities, .. } = self.lists;
        if let Some(list) = first_list(&[findings, issues, results, vulnerabilities]) {
            json::visit_elements(list, |item| visit(ReportFinding::of(item)));
        }
    }

    pub(super) fn identifiers(&self) -> Vec<Cow<'a, str>> {
        let ResultLists { files, matches, results, findings, items, .. } = self.lists;
        let mut all = Vec::new();
        if let Some(list) = first_list(&[files, matches, results, findings, items]) {
            json::visit_elements(list, |item| all.extend(identifier(item)));
        }
        all
    }

    pub(super) fn search_fields(&self) -> Vec<(&'static str, FieldValue<'a>)> {
        let said = |raws: &[Option<&'a RawValue>]| {
            json::first_meaningful(raws).filter(|raw| raw.get() != "\"\"")
        };
        let query = said(&[self.query]).map(|raw| FieldValue::Text(json::text(raw)));
        // A number may be written as a string.
        let confidence = said(&self.confidences).map(|raw| {
            let number = serde_json::from_str::<&RawValue>(raw.get().trim_matches('"'));
            FieldValue::Json(number.ok().filter(|number| json::is_number(number)).unwrap_or(raw))
        });
        let top_match = said(&self.top_matches)
            .map(|raw| identifier(raw).map_or(FieldValue::Json(raw), FieldValue::Text));
        let named = [("query", query), ("confidence", confidence), ("top_match", top_match)];
        named.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// The description; text only, because `summary` is an object of counts in many results. A text
    /// too long for a verdict is used as description.
    pub(super) fn description(&self) -> Cow<'a, str> {
        let texts = self.descriptions.map(|raw| raw.filter(|raw| json::is_string(raw)));
        let long = || {
            let texts = self.verdicts.into_iter().filter_map(json::string);
            texts.into_iter().find(|text| !text.is_empty() && !is_phrase(text))
        };
        json::first_meaningful(&texts).map(json::text).or_else(long).unwrap_or_default()
    }

    pub(super) fn item_count(&self) -> usize {
        let ResultLists { findings, issues, results, vulnerabilities, files, matches, items } =
            self.lists;
        let lists = [findings, issues, results, vulnerabilities, items, files, matches];
        let mut count = 0;
        if let Some(list) = first_list(&lists) {
            json::visit_elements(list, |_| count += 1);
        }
        count
    }
}

fn is_phrase(text: &str) -> bool {
    !text.is_empty() && first_phrase(Cow::Borrowed(text)) == text
}

/// The beginning of a text, at most as long as a phrase.
fn first_phrase(text: Cow<'_, str>) -> Cow<'_, str> {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let phrase = truncate_chars(line, PHRASE_MOST);
    if phrase.len() == text.len() { text } else { Cow::Owned(phrase.trim_end().to_owned()) }
}

fn first_list<'a>(candidates: &[Option<&'a RawValue>]) -> Option<&'a RawValue> {
    candidates.iter().copied().flatten().find(|raw| json::is_list(raw))
}

/// A string as it is, or `path:line` of an object with a place.
fn identifier(raw: &RawValue) -> Option<Cow<'_, str>> {
    if json::is_string(raw) {
        return Some(json::text(raw)).filter(|text| !text.is_empty());
    }
    let [file, path, location, line, line_number] =
        json::pick(raw, ["file", "path", "location", "line", "line_number"]);
    let place = FindingPlace::of(&[file, path, location], &[line, line_number]);
    let file = json::text(place.file?);
    match place.line {
        Some(line) => Some(Cow::Owned(format!("{file}:{}", json::text(line)))),
        None if has_line(&file) => Some(file),
        None => Some(Cow::Owned(format!("{file}:0"))),
    }
}
