//! JUnit XML converted to JSON. Converters agree on the tree and differ in how they mark attributes
//! and text: junit2json (`name`, `inner`), xmltodict (`@name`, `#text`), fast-xml-parser (`@_name`,
//! `#text`), xml2js (`$`, `_`) and xml-js (`_attributes`, `_text`) are supported; a single child
//! may stand without a list.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{ToolReport, pluralize, verdict};
use crate::condense::finding::ReportFinding;
use crate::condense::json::{self, FieldValue};

/// Maximum nesting of suites.
const DEEPEST: usize = 16;

pub(super) fn read(root: &RawValue) -> Option<ToolReport<'_>> {
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
    let mut tests = JunitTests::default();
    let TestCounts { failed, all } = tests.add_suite(top, None, DEEPEST)?;
    let description = format!("{failed} failed of {}", pluralize(all.max(failed), "test"));
    Some(ToolReport { verdict: verdict(failed > 0), description, findings: tests.findings })
}

/// Number of tests, as declared by a suite or counted from its cases. Some reports contain only
/// declared sums, and some omit failures.
#[derive(Default)]
struct TestCounts {
    failed: usize,
    all: usize,
}

impl TestCounts {
    fn add(&mut self, other: &Self) {
        self.failed = self.failed.saturating_add(other.failed);
        self.all = self.all.saturating_add(other.all);
    }
}

#[derive(Default)]
struct JunitTests<'a> {
    findings: Vec<ReportFinding<'a>>,
}

impl<'a> JunitTests<'a> {
    /// `None` if there are neither cases nor sums, so that it is not a suite.
    fn add_suite(
        &mut self,
        suite: &'a RawValue,
        file: Option<Cow<'a, str>>,
        depth: usize,
    ) -> Option<TestCounts> {
        let depth = depth.checked_sub(1)?;
        let own = attribute(suite, "file").or_else(|| attribute(suite, "filepath"));
        let file = own.or(file);
        let [suites, cases] = json::pick(suite, ["testsuite", "testcase"]);
        let mut seen = None;
        visit_children(suites, |inner| {
            if let Some(inner) = self.add_suite(inner, file.clone(), depth) {
                seen.get_or_insert_with(TestCounts::default).add(&inner);
            }
        });
        visit_children(cases, |case| {
            let failed = usize::from(self.add_case(case, file.as_ref()));
            seen.get_or_insert_with(TestCounts::default).add(&TestCounts { failed, all: 1 });
        });
        let count = |name| attribute(suite, name).and_then(|count| count.trim().parse().ok());
        let (failures, errors, all) = (count("failures"), count("errors"), count("tests"));
        let said = failures.or(errors).or(all).map(|_| TestCounts {
            failed: failures.unwrap_or(0usize).saturating_add(errors.unwrap_or(0)),
            all: all.unwrap_or(0),
        });
        match (seen, said) {
            (Some(seen), Some(said)) => {
                let (failed, all) = (seen.failed.max(said.failed), seen.all.max(said.all));
                Some(TestCounts { failed, all })
            }
            (seen, said) => seen.or(said),
        }
    }

    /// Adds a test case. Returns true if it failed.
    fn add_case(&mut self, case: &'a RawValue, file: Option<&Cow<'a, str>>) -> bool {
        let [failure, error, marked] = json::pick(case, ["failure", "error", "@name"]);
        let mut first = None;
        for complaint in [failure, error] {
            visit_children(complaint, |complaint| first = first.or(Some(complaint)));
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
        self.findings.push(ReportFinding {
            id: Some(FieldValue::Text(id)),
            severity: Some(FieldValue::from("error")),
            file: file.map(FieldValue::Text),
            line: attribute(case, "line")
                .and_then(|line| line.parse().ok())
                .map(FieldValue::Number),
            message: if json::is_string(complaint) {
                Some(first_line(&json::text(complaint)))
            } else {
                let texts = json::pick(complaint, ["inner", "#text", "_", "_text", "_cdata"]);
                let text = json::first_meaningful(&texts);
                attribute(complaint, "message")
                    .filter(|message| !message.is_empty())
                    .or_else(|| text.map(|text| first_line(&json::text(text))))
            },
        });
        true
    }
}

/// Visits the elements of one name: a list of them, or a single one.
fn visit_children<'a>(raw: Option<&'a RawValue>, mut visit: impl FnMut(&'a RawValue)) {
    match raw {
        Some(list) if json::is_list(list) => json::visit_elements(list, visit),
        Some(one) if json::is_meaningful(one) => visit(one),
        _ => {}
    }
}

fn attribute<'a>(element: &'a RawValue, name: &str) -> Option<Cow<'a, str>> {
    let (at, at_underscore) = (format!("@{name}"), format!("@_{name}"));
    let [plain, at, at_underscore, dollar, attributes] =
        json::pick(element, [name, &at, &at_underscore, "$", "_attributes"]);
    let within = |group: Option<&'a RawValue>| json::field(group?, name);
    let all = [plain, at, at_underscore, within(dollar), within(attributes)];
    json::first_meaningful(&all).map(json::text)
}

fn first_line<'a>(text: &str) -> Cow<'a, str> {
    Cow::Owned(text.trim_start().lines().next().unwrap_or_default().to_owned())
}
