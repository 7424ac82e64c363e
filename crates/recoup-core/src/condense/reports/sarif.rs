//! SARIF 2.1.0, which most scanners write. Suppressed, absent or passed results are not findings; a
//! failure of the tool itself is. The rules that results refer to belong to the tool itself or to its
//! extensions (`CodeQL` has one per query pack).

use std::borrow::Cow;
use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::value::RawValue;

use super::{ToolReport, UNKNOWN, pluralize, verdict};
use crate::condense::finding::{FindingSeverity, ReportFinding};
use crate::condense::json::{self, FieldValue};

pub(super) fn read(root: &RawValue) -> Option<ToolReport<'_>> {
    let [version, schema, runs] = json::pick(root, ["version", "$schema", "runs"]);
    let runs = runs.filter(|raw| json::is_list(raw))?;
    let known = json::string(version).is_some_and(|version| version == "2.1.0")
        || json::string(schema).is_some_and(|schema| schema.contains("sarif"));
    let mut all_name_tools = true;
    json::visit_elements(runs, |run| {
        all_name_tools &= json::at(run, &["tool", "driver"]).is_some_and(json::is_object);
    });
    if !known || !all_name_tools {
        return None;
    }
    let (mut findings, mut tools) = (Vec::new(), Vec::new());
    let mut count = 0;
    json::visit_elements(runs, |run| {
        let run = SarifRun::read(run);
        tools.extend(run.rules.tool());
        run.findings(&mut findings);
        count += 1;
    });
    if count == 0 {
        let description = "SARIF without runs: no tool ran".to_owned();
        return Some(ToolReport { verdict: UNKNOWN, description, findings });
    }
    let failed =
        findings.iter().any(|found| found.severity().rank() < FindingSeverity::Medium.rank());
    let description = format!("{}: {}", tools.join(", "), pluralize(findings.len(), "result"));
    Some(ToolReport { verdict: verdict(failed), description, findings })
}

/// One run of one tool, with what its results refer to.
struct SarifRun<'a> {
    rules: SarifRules<'a>,
    artifacts: Vec<Option<Cow<'a, str>>>,
    results: Option<&'a RawValue>,
    invocations: Option<&'a RawValue>,
}

impl<'a> SarifRun<'a> {
    fn read(run: &'a RawValue) -> Self {
        let [tool, artifacts, results, invocations] =
            json::pick(run, ["tool", "artifacts", "results", "invocations"]);
        Self {
            rules: SarifRules::read(tool),
            artifacts: map_list(artifacts, |it| path_from_uri(json::at(it, &["location", "uri"]))),
            results,
            invocations,
        }
    }

    fn findings(&self, findings: &mut Vec<ReportFinding<'a>>) {
        if let Some(results) = self.results {
            json::visit_elements(results, |result| findings.extend(self.finding(result)));
        }
        let Some(invocations) = self.invocations else { return };
        json::visit_elements(invocations, |invocation| {
            let before = findings.len();
            let kinds = ["toolConfigurationNotifications", "toolExecutionNotifications"];
            for notifications in json::pick(invocation, kinds).into_iter().flatten() {
                json::visit_elements(notifications, |notification| {
                    findings.extend(self.failure_of_tool(notification));
                });
            }
            let names =
                ["executionSuccessful", "processStartFailureMessage", "exitCodeDescription"];
            let [successful, not_started, exit] = json::pick(invocation, names);
            let failed = successful.is_some_and(|raw| raw.get() == "false");
            // No notification explains the failure.
            if failed && findings.len() == before {
                let said = json::string(not_started).or_else(|| json::string(exit));
                findings.push(ReportFinding {
                    id: Some(FieldValue::from("executionSuccessful")),
                    severity: Some(FieldValue::from("error")),
                    message: Some(said.unwrap_or(Cow::Borrowed("the tool did not finish"))),
                    ..ReportFinding::default()
                });
            }
        });
    }

    fn finding(&self, result: &'a RawValue) -> Option<ReportFinding<'a>> {
        #[rustfmt::skip]
        let names = [
            "ruleId", "rule", "ruleIndex", "level", "kind", "message", "locations",
            "suppressions", "baselineState", "properties",
        ];
        let [id, rule, index, level, kind, message, locations, rest @ ..] =
            json::pick(result, names);
        let [suppressions, baseline, properties] = rest;
        let kind = json::string(kind).unwrap_or(Cow::Borrowed("fail"));
        if matches!(&*kind, "pass" | "notApplicable")
            || is_suppressed(suppressions)
            || json::string(baseline).is_some_and(|state| state == "absent")
        {
            return None;
        }
        let reference = RuleReference::read(id, index, rule);
        let rule = self.rules.find(&reference);
        let score = properties.and_then(security_severity).or(rule.and_then(|rule| rule.score));
        let level = json::string(level)
            .or_else(|| (kind != "fail").then_some(Cow::Borrowed("none")))
            .or_else(|| rule.and_then(|rule| rule.level.clone()))
            .unwrap_or(Cow::Borrowed("warning"));
        let severity = score.map_or(level, |score| FindingSeverity::of_score(score).name().into());
        let (file, line) = self.first_location(locations);
        Some(ReportFinding {
            id: reference
                .id
                .or_else(|| rule.and_then(|rule| rule.id.clone()))
                .map(FieldValue::Text),
            severity: Some(FieldValue::Text(severity)),
            file: file.map(FieldValue::Text),
            line: line.map(FieldValue::Json),
            message: message.and_then(|message| message_text(message, rule)),
        })
    }

    fn failure_of_tool(&self, notification: &'a RawValue) -> Option<ReportFinding<'a>> {
        let [level, descriptor, message, locations] =
            json::pick(notification, ["level", "descriptor", "message", "locations"]);
        let level = json::string(level).filter(|level| level == "error")?;
        let id = descriptor.and_then(|it| json::string(json::field(it, "id")));
        let (file, line) = self.first_location(locations);
        Some(ReportFinding {
            id: id.map(FieldValue::Text),
            severity: Some(FieldValue::Text(level)),
            file: file.map(FieldValue::Text),
            line: line.map(FieldValue::Json),
            message: message.and_then(|message| message_text(message, None)),
        })
    }

    fn first_location(
        &self,
        locations: Option<&'a RawValue>,
    ) -> (Option<Cow<'a, str>>, Option<&'a RawValue>) {
        let first = locations.and_then(|list| json::element(list, 0));
        let Some(place) = first.and_then(|first| json::field(first, "physicalLocation")) else {
            return (None, None);
        };
        let [artifact, region] = json::pick(place, ["artifactLocation", "region"]);
        let [uri, index] = artifact.map_or([None; 2], |it| json::pick(it, ["uri", "index"]));
        let listed = || {
            let index = usize::try_from(json::number(index)?).ok()?;
            self.artifacts.get(index).cloned().flatten()
        };
        let line = region.and_then(|region| json::field(region, "startLine"));
        (path_from_uri(uri).or_else(listed), line)
    }
}

fn map_list<'a, T>(list: Option<&'a RawValue>, read: impl Fn(&'a RawValue) -> T) -> Vec<T> {
    let mut all = Vec::new();
    if let Some(list) = list {
        json::visit_elements(list, |item| all.push(read(item)));
    }
    all
}

/// The score that GitHub ranks by.
fn security_severity(properties: &RawValue) -> Option<f64> {
    json::field(properties, "security-severity").and_then(|raw| json::text(raw).parse().ok())
}

/// True if any suppression is accepted: those under review or rejected do not count.
fn is_suppressed(suppressions: Option<&RawValue>) -> bool {
    let mut suppressed = false;
    if let Some(list) = suppressions {
        json::visit_elements(list, |item| {
            let status = json::string(json::field(item, "status"));
            suppressed |= status.is_none_or(|status| status == "accepted");
        });
    }
    suppressed
}

/// The message text, or the rule's text of that id, with its arguments substituted.
fn message_text<'a>(message: &'a RawValue, rule: Option<&SarifRule<'a>>) -> Option<Cow<'a, str>> {
    let [text, id, arguments] = json::pick(message, ["text", "id", "arguments"]);
    let by_name = || {
        let entry = json::field(rule?.messages?, &json::string(id)?)?;
        json::string(json::field(entry, "text"))
    };
    let text = json::string(text).or_else(by_name)?;
    let arguments = map_list(arguments, json::text);
    if arguments.is_empty() {
        return Some(text);
    }
    // `{0}`, `{1}` and so on are substituted once: arguments are not expanded again.
    let (mut out, mut rest) = (String::with_capacity(text.len()), &*text);
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let named = after.split_once('}').and_then(|(number, after)| {
            Some((arguments.get(number.parse::<usize>().ok()?)?, after))
        });
        rest = if let Some((argument, after)) = named {
            out.push_str(argument);
            after
        } else {
            out.push('{');
            after
        };
    }
    Some(Cow::Owned(out + rest))
}

/// A plain path: without `file://`, percent-decoded, and starting with the drive letter if it has
/// one.
fn path_from_uri(uri: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let uri = json::string(uri)?;
    let plain = uri.strip_prefix("file://").unwrap_or(&uri);
    let decoded = percent_decode_str(plain).decode_utf8_lossy();
    let drive = decoded.strip_prefix('/').filter(|path| {
        let bytes = path.as_bytes();
        bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':')
    });
    Some(Cow::Owned(drive.unwrap_or(&decoded).to_owned()))
}

#[derive(Default)]
struct SarifRule<'a> {
    id: Option<Cow<'a, str>>,
    level: Option<Cow<'a, str>>,
    score: Option<f64>,
    messages: Option<&'a RawValue>,
}

/// The rules of a run.
#[derive(Default)]
struct SarifRules<'a> {
    driver: ToolComponent<'a>,
    extensions: Vec<ToolComponent<'a>>,
}

/// The tool itself, or an extension.
#[derive(Default)]
struct ToolComponent<'a> {
    name: Option<Cow<'a, str>>,
    guid: Option<Cow<'a, str>>,
    rules: Vec<SarifRule<'a>>,
    by_id: HashMap<Cow<'a, str>, usize>,
}

/// A result's reference to its rule.
struct RuleReference<'a> {
    id: Option<Cow<'a, str>>,
    index: Option<usize>,
    component: Option<&'a RawValue>,
}

impl<'a> RuleReference<'a> {
    /// Reads `ruleId`, `ruleIndex` and `rule`, which has the same data and more.
    fn read(
        id: Option<&'a RawValue>,
        index: Option<&'a RawValue>,
        rule: Option<&'a RawValue>,
    ) -> Self {
        let [inner_id, inner_index, component] =
            rule.map_or([None; 3], |rule| json::pick(rule, ["id", "index", "toolComponent"]));
        Self {
            id: json::string(id).or_else(|| json::string(inner_id)),
            index: as_index(inner_index).or_else(|| as_index(index)),
            component,
        }
    }

    /// True if the id is that of the rule: `a/b` is a sub-rule of `a`.
    fn matches(&self, rule: &SarifRule<'_>) -> bool {
        let (Some(id), Some(known)) = (&self.id, &rule.id) else { return true };
        id.strip_prefix(&**known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl<'a> SarifRules<'a> {
    fn read(tool: Option<&'a RawValue>) -> Self {
        let [driver, extensions] =
            tool.map_or([None; 2], |tool| json::pick(tool, ["driver", "extensions"]));
        Self {
            driver: driver.map(ToolComponent::read).unwrap_or_default(),
            extensions: map_list(extensions, ToolComponent::read),
        }
    }

    fn tool(&self) -> Option<Cow<'a, str>> {
        self.driver.name.clone()
    }

    /// Finds a rule by index if the id there matches, otherwise by id in any component.
    fn find(&self, wanted: &RuleReference<'_>) -> Option<&SarifRule<'a>> {
        let component = self.component(wanted.component);
        let by_index = component.and_then(|it| it.rules.get(wanted.index?));
        let by_id = || {
            let all = component.into_iter().chain([&self.driver]).chain(&self.extensions);
            let id = wanted.id.as_deref()?;
            let parent = || id.rsplit_once('/').map(|(parent, _)| parent);
            let named = |id: &str| all.clone().find_map(|component| component.rule(id));
            named(id).or_else(|| named(parent()?))
        };
        by_index.filter(|rule| wanted.matches(rule)).or_else(by_id)
    }

    /// The driver, unless an extension is named.
    fn component(&self, named: Option<&RawValue>) -> Option<&ToolComponent<'a>> {
        let Some(named) = named else { return Some(&self.driver) };
        let [index, guid, name] = json::pick(named, ["index", "guid", "name"]);
        if let Some(index) = as_index(index) {
            return self.extensions.get(index);
        }
        let all = || std::iter::once(&self.driver).chain(&self.extensions);
        let (guid, name) = (json::string(guid), json::string(name));
        match (guid, name) {
            (Some(guid), _) => all().find(|it| it.guid.as_ref() == Some(&guid)),
            (None, Some(name)) => all().find(|it| it.name.as_ref() == Some(&name)),
            (None, None) => Some(&self.driver),
        }
    }
}

impl<'a> ToolComponent<'a> {
    fn read(component: &'a RawValue) -> Self {
        let [name, guid, rules] = json::pick(component, ["name", "guid", "rules"]);
        let rules = map_list(rules, SarifRule::read);
        let named = |(n, rule): (usize, &SarifRule<'a>)| Some((rule.id.clone()?, n));
        Self {
            name: json::string(name),
            guid: json::string(guid),
            by_id: rules.iter().enumerate().filter_map(named).collect(),
            rules,
        }
    }

    fn rule(&self, id: &str) -> Option<&SarifRule<'a>> {
        self.by_id.get(id).and_then(|index| self.rules.get(*index))
    }
}

impl<'a> SarifRule<'a> {
    fn read(rule: &'a RawValue) -> Self {
        let [id, configuration, messages, properties] =
            json::pick(rule, ["id", "defaultConfiguration", "messageStrings", "properties"]);
        Self {
            id: json::string(id),
            level: configuration.and_then(|it| json::string(json::field(it, "level"))),
            score: properties.and_then(security_severity),
            messages,
        }
    }
}

/// `None` for -1, which SARIF writes for a missing index.
fn as_index(raw: Option<&RawValue>) -> Option<usize> {
    json::number(raw).and_then(|index| usize::try_from(index).ok())
}
