//! An agent's result: an object with a verdict, lists, or what else of the
//! known fields it has. An object with none of them is sound, and says nothing.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::finding::{Finding, Place};
use super::json::{self, Field};

/// The known fields of an object.
#[derive(Debug)]
pub(super) struct Object<'a> {
    verdicts: [Option<&'a RawValue>; 3],
    counts: [Option<&'a RawValue>; 2],
    /// In the order in which they are looked for as findings, then the rest.
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

    /// `false` is a verdict if there is no better one.
    pub(super) fn verdict(&self) -> Cow<'a, str> {
        let is_false = |raw: &&RawValue| raw.get() == "false";
        json::first(&self.verdicts)
            .or_else(|| self.verdicts.iter().copied().flatten().find(is_false))
            .map_or(Cow::Borrowed("UNKNOWN"), json::text)
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

    /// Text only: `summary` is an object of counts in many results.
    pub(super) fn description(&self) -> Cow<'a, str> {
        let texts = self.descriptions.map(|raw| raw.filter(|raw| json::is_string(raw)));
        json::first(&texts).map_or(Cow::Borrowed(""), json::text)
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

fn first_list<'a>(candidates: &[Option<&'a RawValue>]) -> Option<&'a RawValue> {
    candidates.iter().copied().flatten().find(|raw| json::is_list(raw))
}

/// A string as it is, or `path:line` of an object that says where it is.
fn identifier(raw: &RawValue) -> Option<Cow<'_, str>> {
    if json::is_string(raw) {
        return Some(json::text(raw)).filter(|text| !text.is_empty());
    }
    let [file, path, location, line, line_number] =
        json::pick(raw, ["file", "path", "location", "line", "line_number"]);
    let place = Place::of(&[file, path, location], &[line, line_number]);
    let line = place.line.map_or(Cow::Borrowed("0"), json::text);
    Some(Cow::Owned(format!("{}:{line}", json::text(place.file?))))
}

/// A number that was written as a string is one all the same.
fn as_number(raw: &RawValue) -> Field<'_> {
    let inner = raw.get().trim_matches('"');
    match serde_json::from_str::<&RawValue>(inner) {
        Ok(number) if json::is_number(number) => Field::Json(number),
        _ => Field::Json(raw),
    }
}
