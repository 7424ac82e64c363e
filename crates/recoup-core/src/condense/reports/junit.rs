//! JUnit XML converted to JSON. Converters agree on the tree and differ in how they mark attributes
//! and text: junit2json (`name`, `inner`), xmltodict (`@name`, `#text`), fast-xml-parser (`@_name`,
//! `#text`), xml2js (`$`, `_`) and xml-js (`_attributes`, `_text`) are supported; a single child
//! may stand without a list.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Report, counted, verdict};
use crate::condense::finding::Finding;
use crate::condense::json::{self, Field};

/// Maximum nesting of suites.
const DEEPEST: usize = 16;

pub(super) fn read(root: &RawValue) -> Option<Report<'_>> {
    let [suites, suite] = json::pick(root, ["testsuites", "testsuite"]);
    let top = match (suites, suite) {
        (Some(suites), _) => suites,
        (None, Some(_)) => root,
        (None, None) => return None,
    };
    let is_element = |raw: &RawValue| json::is_object(raw) || json::is_list(raw);
    if !is_element(top) || suite.is_some_and(|suite| !is_element(suite)) {
        return None;
    }
    let mut tests = Tests::default();
    let Counts { failed, all } = tests.suite(top, None, DEEPEST)?;
    let description = format!("{failed} failed of {}", counted(all.max(failed), "test"));
    Some(Report { verdict: verdict(failed > 0), description, findings: tests.findings })
}

/// Number of tests, as declared by a suite or counted from its cases. Some reports contain only
/// declared sums, and some omit failures.
#[derive(Default)]
struct Counts {
    failed: usize,
    all: usize,
}

impl Counts {
    fn said_by(suite: &RawValue) -> Option<Self> {
        let count = |name| attribute(suite, name).and_then(|count| count.trim().parse().ok());
        let (failures, errors, all) = (count("failures"), count("errors"), count("tests"));
        failures.or(errors).or(all)?;
        let failed = failures.unwrap_or(0usize).saturating_add(errors.unwrap_or(0));
        Some(Self { failed, all: all.unwrap_or(0) })
    }

    fn add(&mut self, other: &Self) {
        self.failed = self.failed.saturating_add(other.failed);
        self.all = self.all.saturating_add(other.all);
    }

    fn or_more(self, other: &Self) -> Self {
        Self { failed: self.failed.max(other.failed), all: self.all.max(other.all) }
    }
}

#[derive(Default)]
struct Tests<'a> {
    findings: Vec<Finding<'a>>,
}

impl<'a> Tests<'a> {
    /// `None` if there are neither cases nor sums, so that it is not a suite.
    fn suite(
        &mut self,
        suite: &'a RawValue,
        file: Option<Cow<'a, str>>,
        depth: usize,
    ) -> Option<Counts> {
        let depth = depth.checked_sub(1)?;
        let own = attribute(suite, "file").or_else(|| attribute(suite, "filepath"));
        let file = own.or(file);
        let [suites, cases] = json::pick(suite, ["testsuite", "testcase"]);
        let mut seen = None;
        children(suites, |inner| {
            if let Some(inner) = self.suite(inner, file.clone(), depth) {
                seen.get_or_insert_with(Counts::default).add(&inner);
            }
        });
        children(cases, |case| {
            let failed = usize::from(self.case(case, file.as_ref()));
            seen.get_or_insert_with(Counts::default).add(&Counts { failed, all: 1 });
        });
        match (seen, Counts::said_by(suite)) {
            (Some(seen), Some(said)) => Some(seen.or_more(&said)),
            (seen, said) => seen.or(said),
        }
    }

    /// Adds a test case. Returns true if it failed.
    fn case(&mut self, case: &'a RawValue, file: Option<&Cow<'a, str>>) -> bool {
        let [failure, error, marked] = json::pick(case, ["failure", "error", "@name"]);
        let mut first = None;
        for complaint in [failure, error] {
            children(complaint, |complaint| first = first.or(Some(complaint)));
        }
        // An empty element is null in xmltodict; in others null means absent.
        let empty = || failure.or(error).filter(|_| marked.is_some());
        let Some(complaint) = first.or_else(empty) else { return false };
        let name = attribute(case, "name").unwrap_or_default();
        let class = attribute(case, "classname").filter(|class| !class.is_empty());
        let file = attribute(case, "file").or_else(|| file.cloned()).or_else(|| class.clone());
        let id = match class {
            Some(class) => Cow::Owned(format!("{class}.{name}")),
            None => name,
        };
        self.findings.push(Finding {
            id: Some(Field::Text(id)),
            severity: Some(Field::from("error")),
            file: file.map(Field::Text),
            line: attribute(case, "line").and_then(|line| line.parse().ok()).map(Field::Number),
            message: said(complaint),
        });
        true
    }
}

/// Visits the elements of one name: a list of them, or a single one.
fn children<'a>(raw: Option<&'a RawValue>, mut visit: impl FnMut(&'a RawValue)) {
    match raw {
        Some(list) if json::is_list(list) => json::each(list, visit),
        Some(one) if json::says_something(one) => visit(one),
        _ => {}
    }
}

fn attribute<'a>(element: &'a RawValue, name: &str) -> Option<Cow<'a, str>> {
    let (at, at_underscore) = (format!("@{name}"), format!("@_{name}"));
    let [plain, at, at_underscore, dollar, attributes] =
        json::pick(element, [name, &at, &at_underscore, "$", "_attributes"]);
    let within = |group: Option<&'a RawValue>| json::field(group?, name);
    let all = [plain, at, at_underscore, within(dollar), within(attributes)];
    json::first(&all).map(json::text)
}

/// The message of a failure, or the first line of its text.
fn said(complaint: &RawValue) -> Option<Cow<'_, str>> {
    if json::is_string(complaint) {
        return Some(first_line(&json::text(complaint)));
    }
    let texts = json::pick(complaint, ["inner", "#text", "_", "_text", "_cdata"]);
    attribute(complaint, "message")
        .filter(|message| !message.is_empty())
        .or_else(|| json::first(&texts).map(|text| first_line(&json::text(text))))
}

fn first_line<'a>(text: &str) -> Cow<'a, str> {
    Cow::Owned(text.trim_start().lines().next().unwrap_or_default().to_owned())
}
