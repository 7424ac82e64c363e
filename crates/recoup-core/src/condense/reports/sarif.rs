//! SARIF 2.1.0, which most scanners write. What is suppressed, absent or passed
//! is no finding; a tool's own failure is.

use std::borrow::Cow;
use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::value::RawValue;

use super::{Report, counted, verdict};
use crate::condense::finding::Finding;
use crate::condense::json::{self, Field};
use crate::condense::severity::Severity;

pub(super) fn read(root: &RawValue) -> Option<Report<'_>> {
    let [version, schema, runs] = json::pick(root, ["version", "$schema", "runs"]);
    let runs = runs.filter(|raw| json::is_list(raw))?;
    let known = json::string(version).is_some_and(|version| version.starts_with("2."))
        || json::string(schema).is_some_and(|schema| schema.contains("sarif"));
    if !known {
        return None;
    }
    let (mut findings, mut tools) = (Vec::new(), Vec::new());
    json::each(runs, |run| {
        let run = Run::read(run);
        tools.extend(run.tool.clone());
        run.findings(&mut findings);
    });
    let failed = findings.iter().any(|found| found.severity().rank() < Severity::Medium.rank());
    let description = format!("{}: {}", tools.join(", "), counted(findings.len(), "result"));
    Some(Report { verdict: verdict(failed), description, findings })
}

/// One run of one tool, with what its results refer to.
struct Run<'a> {
    tool: Option<Cow<'a, str>>,
    rules: Vec<Rule<'a>>,
    by_id: HashMap<Cow<'a, str>, usize>,
    artifacts: Vec<Option<Cow<'a, str>>>,
    results: Option<&'a RawValue>,
    invocations: Option<&'a RawValue>,
}

#[derive(Default)]
struct Rule<'a> {
    id: Option<Cow<'a, str>>,
    level: Option<Cow<'a, str>>,
    score: Option<f64>,
    messages: Option<&'a RawValue>,
}

impl<'a> Run<'a> {
    fn read(run: &'a RawValue) -> Self {
        let [tool, artifacts, results, invocations] =
            json::pick(run, ["tool", "artifacts", "results", "invocations"]);
        let driver = tool.and_then(|tool| json::field(tool, "driver"));
        let [name, rules] = driver.map_or([None; 2], |it| json::pick(it, ["name", "rules"]));
        let rules = collected(rules, Rule::read);
        let named = |(n, rule): (usize, &Rule<'a>)| Some((rule.id.clone()?, n));
        Self {
            tool: json::string(name),
            by_id: rules.iter().enumerate().filter_map(named).collect(),
            rules,
            artifacts: collected(artifacts, |it| path(json::at(it, &["location", "uri"]))),
            results,
            invocations,
        }
    }

    fn findings(&self, findings: &mut Vec<Finding<'a>>) {
        if let Some(results) = self.results {
            json::each(results, |result| findings.extend(self.finding(result)));
        }
        let Some(invocations) = self.invocations else { return };
        json::each(invocations, |invocation| {
            let kinds = ["toolConfigurationNotifications", "toolExecutionNotifications"];
            for notifications in json::pick(invocation, kinds).into_iter().flatten() {
                json::each(notifications, |notification| {
                    findings.extend(self.failure_of_tool(notification));
                });
            }
        });
    }

    fn finding(&self, result: &'a RawValue) -> Option<Finding<'a>> {
        let [id, rule, index, level, kind, message, locations, rest @ ..] = json::pick(
            result,
            [
                "ruleId",
                "rule",
                "ruleIndex",
                "level",
                "kind",
                "message",
                "locations",
                "suppressions",
                "baselineState",
                "properties",
            ],
        );
        let [suppressions, baseline, properties] = rest;
        let kind = json::string(kind).unwrap_or(Cow::Borrowed("fail"));
        if matches!(&*kind, "pass" | "notApplicable")
            || is_suppressed(suppressions)
            || json::string(baseline).is_some_and(|state| state == "absent")
        {
            return None;
        }
        let [inner_id, inner_index] =
            rule.map_or([None; 2], |rule| json::pick(rule, ["id", "index"]));
        let id = json::string(id).or_else(|| json::string(inner_id));
        let rule = self.rule(id.as_deref(), json::number(index.or(inner_index)));
        let score = properties.and_then(security_severity).or(rule.and_then(|rule| rule.score));
        let level = json::string(level)
            .or_else(|| (kind != "fail").then_some(Cow::Borrowed("none")))
            .or_else(|| rule.and_then(|rule| rule.level.clone()))
            .unwrap_or(Cow::Borrowed("warning"));
        let severity = score.map_or(level, |score| Severity::of_score(score).name().into());
        let (file, line) = self.place(locations);
        Some(Finding {
            id: id.or_else(|| rule.and_then(|rule| rule.id.clone())).map(Field::Text),
            severity: Some(Field::Text(severity)),
            file: file.map(Field::Text),
            line: line.map(Field::Json),
            message: message.and_then(|message| message_text(message, rule)),
        })
    }

    fn failure_of_tool(&self, notification: &'a RawValue) -> Option<Finding<'a>> {
        let [level, descriptor, message, locations] =
            json::pick(notification, ["level", "descriptor", "message", "locations"]);
        let level = json::string(level).filter(|level| level == "error")?;
        let id = descriptor.and_then(|it| json::string(json::field(it, "id")));
        let (file, line) = self.place(locations);
        Some(Finding {
            id: id.map(Field::Text),
            severity: Some(Field::Text(level)),
            file: file.map(Field::Text),
            line: line.map(Field::Json),
            message: message.and_then(|message| message_text(message, None)),
        })
    }

    /// `a/b` names a rule `a` if there is none of the whole name.
    fn rule(&self, id: Option<&str>, index: Option<u64>) -> Option<&Rule<'a>> {
        let by_index = index.and_then(|index| usize::try_from(index).ok());
        let by_id = || {
            let id = id?;
            let parent = || id.rsplit_once('/').and_then(|(parent, _)| self.by_id.get(parent));
            self.by_id.get(id).or_else(parent).copied()
        };
        self.rules.get(by_index.or_else(by_id)?)
    }

    fn place(
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
        (path(uri).or_else(listed), line)
    }
}

impl<'a> Rule<'a> {
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

fn collected<'a, T>(list: Option<&'a RawValue>, read: impl Fn(&'a RawValue) -> T) -> Vec<T> {
    let mut all = Vec::new();
    if let Some(list) = list {
        json::each(list, |item| all.push(read(item)));
    }
    all
}

/// What GitHub ranks by.
fn security_severity(properties: &RawValue) -> Option<f64> {
    json::field(properties, "security-severity").and_then(|raw| json::text(raw).parse().ok())
}

/// Suppressed, unless each suppression is still asked for or was turned down.
fn is_suppressed(suppressions: Option<&RawValue>) -> bool {
    let mut suppressed = false;
    if let Some(list) = suppressions {
        json::each(list, |item| {
            let status = json::string(json::field(item, "status"));
            suppressed |= status.is_none_or(|status| status == "accepted");
        });
    }
    suppressed
}

/// The text, or the rule's text of that name, with its arguments put in.
fn message_text<'a>(message: &'a RawValue, rule: Option<&Rule<'a>>) -> Option<Cow<'a, str>> {
    let [text, id, arguments] = json::pick(message, ["text", "id", "arguments"]);
    let by_name = || {
        let entry = json::field(rule?.messages?, &json::string(id)?)?;
        json::string(json::field(entry, "text"))
    };
    let text = json::string(text).or_else(by_name)?;
    let arguments = collected(arguments, json::text);
    let filled = |text: Cow<'a, str>, (n, argument): (usize, &Cow<'_, str>)| {
        Cow::Owned(text.replace(&format!("{{{n}}}"), argument))
    };
    Some(arguments.iter().enumerate().fold(text, filled))
}

/// A path as other tools write it: without `file://` and percent signs.
fn path(uri: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let uri = json::string(uri)?;
    let plain = uri.strip_prefix("file://").unwrap_or(&uri);
    Some(Cow::Owned(percent_decode_str(plain).decode_utf8_lossy().into_owned()))
}
