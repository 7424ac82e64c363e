//! An agent's result: an object with a verdict, lists or other known fields. An object with none of
//! them is valid, and empty.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::finding::{FindingPlace, ReportFinding, truncate_chars};
use super::identifiers::has_line;
use super::json::{self, FieldValue};

/// Maximum length of a verdict, in characters.
const PHRASE_MOST: usize = 80;

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
        let names = [
            "verdict",
            "status",
            "result",
            "severity_counts",
            "severities",
            "findings",
            "issues",
            "results",
            "vulnerabilities",
            "files",
            "matches",
            "items",
            "query",
            "confidence",
            "score",
            "top_match",
            "best_match",
            "description",
            "summary",
            "message",
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
        let said = |raw| json::first_meaningful(&[raw]).and_then(scalar);
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
        let confidence = said(&self.confidences).map(as_number);
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

/// The text of a value that is neither an object nor a list.
fn scalar(raw: &RawValue) -> Option<Cow<'_, str>> {
    (!json::is_object(raw) && !json::is_list(raw)).then(|| json::text(raw))
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

/// Converts a number that is written as a string.
fn as_number(raw: &RawValue) -> FieldValue<'_> {
    let inner = raw.get().trim_matches('"');
    match serde_json::from_str::<&RawValue>(inner) {
        Ok(number) if json::is_number(number) => FieldValue::Json(number),
        _ => FieldValue::Json(raw),
    }
}
