//! The rules that SARIF results refer to. They belong to the tool itself or to its extensions
//! (`CodeQL` has one per query pack).

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::sarif::{map_list, security_severity};
use crate::condense::json;

#[derive(Default)]
pub(super) struct SarifRule<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) level: Option<Cow<'a, str>>,
    pub(super) score: Option<f64>,
    pub(super) messages: Option<&'a RawValue>,
}

/// The rules of a run.
#[derive(Default)]
pub(super) struct SarifRules<'a> {
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
pub(super) struct RuleReference<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    index: Option<usize>,
    component: Option<&'a RawValue>,
}

impl<'a> RuleReference<'a> {
    /// Reads `ruleId`, `ruleIndex` and `rule`, which has the same data and more.
    pub(super) fn read(
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
    pub(super) fn read(tool: Option<&'a RawValue>) -> Self {
        let [driver, extensions] =
            tool.map_or([None; 2], |tool| json::pick(tool, ["driver", "extensions"]));
        Self {
            driver: driver.map(ToolComponent::read).unwrap_or_default(),
            extensions: map_list(extensions, ToolComponent::read),
        }
    }

    pub(super) fn tool(&self) -> Option<Cow<'a, str>> {
        self.driver.name.clone()
    }

    /// Finds a rule by index if the id there matches, otherwise by id in any component.
    pub(super) fn find(&self, wanted: &RuleReference<'_>) -> Option<&SarifRule<'a>> {
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
