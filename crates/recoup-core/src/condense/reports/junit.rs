//! JUnit's XML, made JSON. Converters agree on the tree and differ in how they
//! mark attributes and text: junit2json (`name`, `inner`), xmltodict (`@name`,
//! `#text`), fast-xml-parser (`@_name`, `#text`), xml2js (`$`, `_`) and xml-js
//! (`_attributes`, `_text`) are understood; one child may stand without a list.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Report, counted, verdict};
use crate::condense::finding::Finding;
use crate::condense::json::{self, Field};

/// Suites within suites; nobody nests more.
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
    tests.suite(top, None, DEEPEST);
    let Tests { count, findings } = tests;
    let description = format!("{} failed of {}", findings.len(), counted(count, "test"));
    Some(Report { verdict: verdict(!findings.is_empty()), description, findings })
}

#[derive(Default)]
struct Tests<'a> {
    count: usize,
    findings: Vec<Finding<'a>>,
}

impl<'a> Tests<'a> {
    fn suite(&mut self, suite: &'a RawValue, file: Option<Cow<'a, str>>, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let own = attribute(suite, "file").or_else(|| attribute(suite, "filepath"));
        let file = own.or(file);
        let [suites, cases] = json::pick(suite, ["testsuite", "testcase"]);
        children(suites, |inner| self.suite(inner, file.clone(), depth));
        children(cases, |case| self.case(case, file.as_ref()));
    }

    fn case(&mut self, case: &'a RawValue, file: Option<&Cow<'a, str>>) {
        self.count += 1;
        let [failure, error] = json::pick(case, ["failure", "error"]);
        let mut first = None;
        for complaint in [failure, error] {
            children(complaint, |complaint| first = first.or(Some(complaint)));
        }
        let Some(complaint) = first else { return };
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
    }
}

/// Elements of one name: a list of them, or one alone.
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

/// The message, or the first line of the text, of a failure.
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
