//! An agent's result: an object with a verdict, lists or other known fields. An object with none of
//! them is valid, and empty.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::finding::{Finding, Place, cut};
use super::identifiers::has_line;
use super::json::{self, Field};

/// Maximum length of a verdict, in characters.
const PHRASE_MOST: usize = 80;

/// The known fields of an object.
#[derive(Debug)]
pub(super) struct Object<'a> {
    verdicts: [Option<&'a RawValue>; 3],
    counts: [Option<&'a RawValue>; 2],
    /// Known lists, those that may hold findings first.
    lists: Lists<'a>,
    query: Option<&'a RawValue>,
    confidences: [Option<&'a RawValue>; 2],
    top_matches: [Option<&'a RawValue>; 2],
    descriptions: [Option<&'a RawValue>; 3],
}

#[derive(Debug)]
struct Lists<'a> {
    findings: Option<&'a RawValue>,
    issues: Option<&'a RawValue>,
    results: Option<&'a RawValue>,
    vulnerabilities: Option<&'a RawValue>,
    files: Option<&'a RawValue>,
    matches: Option<&'a RawValue>,
    items: Option<&'a RawValue>,
}

impl<'a> Object<'a> {
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
            lists: Lists { findings, issues, results, vulnerabilities, files, matches, items },
            query,
            confidences: [confidence, score],
            top_matches: [top_match, best_match],
            descriptions: rest,
        }
    }

    /// True if it is certainly a result: no tool's report has a verdict, or a status beside a list
    /// or counts.
    pub(super) fn is_clearly_ours(&self) -> bool {
        let [verdict, status, result] = self.verdicts;
        let Lists { findings, issues, results, vulnerabilities, files, matches, items } =
            self.lists;
        let lists = [findings, issues, results, vulnerabilities, files, matches, items];
        let has_more = || first_list(&lists).is_some() || self.severity_counts().is_some();
        json::first(&[verdict]).is_some()
            || json::first(&[status, result]).is_some_and(|_| has_more())
    }

    /// The verdict, a word or a phrase. A long `result` is the text of an answer and not a verdict;
    /// `false` counts if there is nothing better.
    pub(super) fn verdict(&self) -> Cow<'a, str> {
        let [verdict, status, result] = self.verdicts;
        let said = |raw| json::first(&[raw]).and_then(scalar);
        let phrase = |raw| said(raw).map(begun).filter(|text| !text.is_empty());
        let word = |raw| said(raw).filter(|text| is_phrase(text));
        let is_false = |raw: &&RawValue| raw.get() == "false";
        phrase(verdict)
            .or_else(|| phrase(status))
            .or_else(|| word(result))
            .or_else(|| self.verdicts.iter().flatten().copied().find(is_false).map(json::text))
            .unwrap_or(Cow::Borrowed("UNKNOWN"))
    }

    pub(super) fn severity_counts(&self) -> Option<&'a RawValue> {
        json::first(&self.counts)
    }

    pub(super) fn findings(&self, mut visit: impl FnMut(Finding<'a>)) {
        let Lists { findings, issues, results, vulnerabilities, .. } = self.lists;
        if let Some(list) = first_list(&[findings, issues, results, vulnerabilities]) {
            json::each(list, |item| visit(Finding::of(item)));
        }
    }

    pub(super) fn identifiers(&self) -> Vec<Cow<'a, str>> {
        let Lists { files, matches, results, findings, items, .. } = self.lists;
        let mut all = Vec::new();
        if let Some(list) = first_list(&[files, matches, results, findings, items]) {
            json::each(list, |item| all.extend(identifier(item)));
        }
        all
    }

    pub(super) fn search(&self) -> Vec<(&'static str, Field<'a>)> {
        let said =
            |raws: &[Option<&'a RawValue>]| json::first(raws).filter(|raw| raw.get() != "\"\"");
        let query = said(&[self.query]).map(|raw| Field::Text(json::text(raw)));
        let confidence = said(&self.confidences).map(as_number);
        let top_match = said(&self.top_matches)
            .map(|raw| identifier(raw).map_or(Field::Json(raw), Field::Text));
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
        json::first(&texts).map(json::text).or_else(long).unwrap_or_default()
    }

    pub(super) fn item_count(&self) -> usize {
        let Lists { findings, issues, results, vulnerabilities, files, matches, items } =
            self.lists;
        let lists = [findings, issues, results, vulnerabilities, items, files, matches];
        let mut count = 0;
        if let Some(list) = first_list(&lists) {
            json::each(list, |_| count += 1);
        }
        count
    }
}

/// The text of a value that is neither an object nor a list.
fn scalar(raw: &RawValue) -> Option<Cow<'_, str>> {
    (!json::is_object(raw) && !json::is_list(raw)).then(|| json::text(raw))
}

fn is_phrase(text: &str) -> bool {
    !text.is_empty() && begun(Cow::Borrowed(text)) == text
}

/// The beginning of a text, at most as long as a phrase.
fn begun(text: Cow<'_, str>) -> Cow<'_, str> {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let phrase = cut(line, PHRASE_MOST);
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
    let place = Place::of(&[file, path, location], &[line, line_number]);
    let file = json::text(place.file?);
    match place.line {
        Some(line) => Some(Cow::Owned(format!("{file}:{}", json::text(line)))),
        None if has_line(&file) => Some(file),
        None => Some(Cow::Owned(format!("{file}:0"))),
    }
}

/// Converts a number that is written as a string.
fn as_number(raw: &RawValue) -> Field<'_> {
    let inner = raw.get().trim_matches('"');
    match serde_json::from_str::<&RawValue>(inner) {
        Ok(number) if json::is_number(number) => Field::Json(number),
        _ => Field::Json(raw),
    }
}
