//! Settings of tool calls, agents and their commands: `mcpServers.NAME`, `restTools.NAME`,
//! `openapi.NAME`, `providers.NAME` and `commands.PATTERN`, with the same names in our files and in `.ai-agent.json` (there `openapiSpecs`). That file is another program's: names that
//! we do not know are left to it, and a faulty definition only hinders the agent that names it.

use std::fmt;
use std::path::Path;

use recoup_core::Result;
use recoup_core::cache::Ttl;

use super::commands::{COMMANDS, CommandRule};
use super::configured_value::ValueStanding;
use super::definitions::{
    self, AgentDefinition, AgentSettings, OPENAPI_DEFINITION_KEYS, REST_DEFINITION_KEYS,
    SERVER_DEFINITION_KEYS, UnusableDefinition, VariableSource,
};
use super::document::{ConfigNode, ConfigValue};
use super::files::{self, SectionReader};
use super::node_reader::NodeReader;
use super::origin::{ConfigFile, ValueOrigin};
use super::problem::ConfigProblem;
use super::providers::{self, PROVIDERS};
use super::value::is_variable_name;
use super::{ResolvedSettings, problem};
use crate::toolbox::{NamePattern, READ_ONLY_TTL, ToolCacheRule, ToolCacheSettings};

/// Names of the tables.
pub(super) const SERVERS: &str = "mcpServers";
pub(super) const REST_TOOLS: &str = "restTools";
pub(super) const OPENAPI: &str = "openapi";
/// Name of that table in `.ai-agent.json`.
pub(super) const OPENAPI_SPECS: &str = "openapiSpecs";

/// Names below a server, in our own files.
const SERVER_KEYS: [&str; 5] =
    ["cache", "toolsCache", "readOnlyTools", "neverCache", "credentials"];
const RULE_KEYS: [&str; 3] = ["ttl", "sources", "invalidates"];

/// A setting of tool calls or agents from one place.
#[derive(Debug, Clone)]
pub(super) struct ToolSetting {
    /// Name of the server, or of the REST tool.
    owner: String,
    value: ToolSettingValue,
    pub(super) origin: ValueOrigin,
    pub(super) standing: ValueStanding,
}

#[derive(Debug, Clone)]
enum ToolSettingValue {
    DefaultTtl(Ttl),
    Rule(NamePattern, ToolCacheRule),
    ReadOnly(Ttl),
    Never(Vec<String>),
    Credentials(Vec<String>),
    RestTtl(Ttl),
    Definition(Box<AgentDefinition>),
    Command(Box<CommandRule>),
}

impl ToolSetting {
    /// Full name of the key.
    pub(super) fn key(&self) -> &str {
        match &self.origin {
            ValueOrigin::File { key, .. } => key,
            _ => &self.owner,
        }
    }

    /// The names of a list, to which every layer adds.
    fn listed_names(&self) -> Option<&[String]> {
        match &self.value {
            ToolSettingValue::Never(names) | ToolSettingValue::Credentials(names) => Some(names),
            ToolSettingValue::Definition(definition) => match &**definition {
                AgentDefinition::Variables(names) => Some(names),
                _ => None,
            },
            _ => None,
        }
    }

    /// The definition, if it is one: nothing but `recoup run` uses it.
    pub(super) fn definition(&self) -> Option<&AgentDefinition> {
        match &self.value {
            ToolSettingValue::Definition(definition) => Some(definition),
            _ => None,
        }
    }

    /// True if another value that counts takes the place of this one.
    pub(super) fn is_overridden_by(&self, other: &Self) -> bool {
        other.standing == ValueStanding::Counts
            && self.listed_names().is_none()
            && other.key() == self.key()
            && other.origin.layer() > self.origin.layer()
    }

    /// True if a repository may set this only with the user's consent. What narrows the use of the
    /// cache needs none.
    pub(super) fn needs_trust(&self) -> bool {
        use ToolSettingValue::{
            Command, Credentials, DefaultTtl, Definition, Never, ReadOnly, RestTtl, Rule,
        };
        let narrows = match &self.value {
            DefaultTtl(ttl) | ReadOnly(ttl) | RestTtl(ttl) => *ttl == Ttl::Off,
            Rule(_, ToolCacheRule { ttl, sources, invalidates }) => {
                *ttl == Some(Ttl::Off) && sources.is_none() && invalidates.is_empty()
            }
            Command(rule) => rule.ttl == Ttl::Off,
            Never(_) => true,
            Credentials(_) | Definition(_) => false,
        };
        self.origin.is_from_repository() && !narrows
    }

    /// Applies it on top of weaker settings.
    fn apply_to(&self, settings: &mut ToolCacheSettings) {
        let owner = self.owner.clone();
        match self.value {
            ToolSettingValue::RestTtl(ttl) => {
                settings.rest_tools.insert(owner, ttl);
                return;
            }
            ToolSettingValue::Definition(_) | ToolSettingValue::Command(_) => return,
            _ => {}
        }
        let policy = settings.servers.entry(owner).or_default();
        match &self.value {
            ToolSettingValue::DefaultTtl(ttl) => policy.default_ttl = Some(*ttl),
            ToolSettingValue::ReadOnly(ttl) => policy.read_only = Some(*ttl),
            ToolSettingValue::Rule(pattern, rule) => {
                let weaker = policy.tools.remove(pattern).unwrap_or_default();
                policy.tools.insert(pattern.clone(), rule.completed_by(&weaker));
            }
            // Lists add up: an empty one of a repository must not undo the user's.
            ToolSettingValue::Never(names) => {
                policy.never.extend(names.iter().map(NamePattern::new));
            }
            ToolSettingValue::Credentials(names) => {
                policy.credentials.extend(names.iter().cloned());
            }
            ToolSettingValue::RestTtl(_)
            | ToolSettingValue::Definition(_)
            | ToolSettingValue::Command(_) => {}
        }
    }
}

/// Formats the value as it would be written in TOML.
impl fmt::Display for ToolSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| {
            format!("[{}]", names.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>().join(", "))
        };
        match &self.value {
            ToolSettingValue::Definition(definition) => definition.fmt(f),
            ToolSettingValue::Command(rule) => rule.fmt(f),
            ToolSettingValue::DefaultTtl(ttl)
            | ToolSettingValue::ReadOnly(ttl)
            | ToolSettingValue::RestTtl(ttl) => ttl.fmt(f),
            ToolSettingValue::Never(names) | ToolSettingValue::Credentials(names) => {
                f.write_str(&list(names))
            }
            ToolSettingValue::Rule(_, ToolCacheRule { ttl, sources, invalidates }) => {
                if let (Some(ttl), None, []) = (ttl, sources, &invalidates[..]) {
                    return ttl.fmt(f);
                }
                let mut parts: Vec<String> = Vec::new();
                parts.extend(ttl.map(|ttl| format!("ttl = \"{ttl}\"")));
                parts.extend(sources.as_ref().map(|it| format!("sources = {}", list(it))));
                if !invalidates.is_empty() {
                    let names: Vec<_> =
                        invalidates.iter().map(|it| it.as_str().to_owned()).collect();
                    parts.push(format!("invalidates = {}", list(&names)));
                }
                write!(f, "{{ {} }}", parts.join(", "))
            }
        }
    }
}

/// The settings that count, strongest last, as one.
pub(super) fn merge<'a>(settings: impl Iterator<Item = &'a ToolSetting>) -> ToolCacheSettings {
    let mut merged = ToolCacheSettings::default();
    for setting in settings.filter(|setting| setting.standing == ValueStanding::Counts) {
        setting.apply_to(&mut merged);
    }
    merged
}

/// The rules for commands that count, the strongest last.
pub(super) fn command_rules<'a>(
    settings: impl Iterator<Item = &'a ToolSetting>,
) -> Vec<CommandRule> {
    let counts = settings.filter(|setting| setting.standing == ValueStanding::Counts);
    let rule = |setting: &ToolSetting| match &setting.value {
        ToolSettingValue::Command(rule) => Some((**rule).clone()),
        _ => None,
    };
    counts.filter_map(rule).collect()
}

/// Reads `commands`: a duration or a table for each pattern.
pub(super) fn read_commands(node: &ConfigNode, reader: &mut SectionReader) {
    let ConfigValue::Table(entries) = &node.value else {
        return reader.add_type_problem(COMMANDS, node, "a table with an entry for each command");
    };
    for (pattern, node) in entries {
        let full = format!("{COMMANDS}.{}", quoted(pattern));
        let mut values = NodeReader::default();
        let rule = CommandRule::read(pattern, &full, node, &mut values);
        reader.add_node_problems(values);
        if let Some(rule) = rule {
            add(pattern, &full, node, reader, ToolSettingValue::Command(Box::new(rule)));
        }
    }
}

/// Definitions that count, strongest last, as one; what is not trusted is listed as unusable.
pub(super) fn merge_definitions<'a>(
    settings: impl Iterator<Item = &'a ToolSetting>,
    root: &Path,
    user_home: Option<&Path>,
) -> AgentSettings {
    let mut merged = AgentSettings::built_in();
    let (with_file, without) =
        (VariableSource::new(Some(root), user_home), VariableSource::new(None, user_home));
    let mut untrusted = Vec::new();
    for setting in settings {
        let Some(definition) = setting.definition() else { continue };
        let (key, place) = (setting.key(), setting.origin.place());
        if setting.standing != ValueStanding::Counts {
            let reason = format!("{place} counts only after `recoup trust`");
            untrusted.push(UnusableDefinition { key: key.to_owned(), reason });
            continue;
        }
        let is_ai_agent =
            matches!(setting.origin, ValueOrigin::File { file: ConfigFile::AiAgent, .. });
        if is_ai_agent {
            merged.env_dir = Some(root.to_owned());
        }
        let variables = if is_ai_agent { &with_file } else { &without };
        merged.apply(key, &place, definition, variables);
    }
    merged.unusable.extend(untrusted);
    merged
}

impl ResolvedSettings {
    /// Tool settings with those of the file that `--config` names on top: TOML like our own files, or
    /// JSON like `.ai-agent.json`. The user names it, so that it needs no trust.
    pub(crate) fn tools_with_file(&self, path: &Path) -> Result<ToolCacheSettings> {
        read_on_top(self.tools.clone(), &self.cwd.join(path))
    }
}

const ONLY_TOOLS: &str = "only mcpServers and restTools belong into the file of --config";

fn read_on_top(mut settings: ToolCacheSettings, path: &Path) -> Result<ToolCacheSettings> {
    let is_json = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    let file = if is_json { ConfigFile::AiAgent } else { ConfigFile::User };
    let shown = path.display().to_string();
    let Some(contents) = files::read(file, path, &shown) else {
        let message = "there is no such file";
        return Err(problem::as_error(&[ConfigProblem::of_file(file, &shown, message)]));
    };
    let mut problems = contents.problems;
    if !is_json {
        let others = contents.givens.iter().map(|given| &given.origin);
        problems.extend(others.map(|origin| ConfigProblem::at(origin, ONLY_TOOLS)));
    }
    let is_other = |setting: &&ToolSetting| !is_json && setting.key().starts_with(PROVIDERS);
    let others = contents.tools.iter().filter(is_other).map(|setting| &setting.origin);
    problems.extend(others.map(|origin| ConfigProblem::at(origin, ONLY_TOOLS)));
    if !problems.is_empty() {
        return Err(problem::as_error(&problems));
    }
    for setting in &contents.tools {
        setting.apply_to(&mut settings);
    }
    Ok(settings)
}

/// Reads `mcpServers`, `restTools`, `openapi` or `providers`.
pub(super) fn read_tools(table: &str, node: &ConfigNode, reader: &mut SectionReader) {
    let is_ours = reader.is_our_file();
    let ConfigValue::Table(owners) = &node.value else {
        // In another program's file it is that program's concern.
        if is_ours {
            reader.add_type_problem(table, node, "a table");
        }
        return;
    };
    for (owner, node) in owners {
        let name = format!("{table}.{}", quoted(owner));
        let ConfigValue::Table(entries) = &node.value else {
            if is_ours {
                reader.add_type_problem(&name, node, "a table");
            }
            continue;
        };
        read_definition(table, owner, &name, node, reader);
        for (entry, node) in entries {
            let full = format!("{name}.{}", quoted(entry));
            match (table, entry.as_str()) {
                (PROVIDERS, _) => {}
                (SERVERS, entry) if SERVER_DEFINITION_KEYS.contains(&entry) => {}
                (REST_TOOLS, entry) if REST_DEFINITION_KEYS.contains(&entry) => {}
                (OPENAPI | OPENAPI_SPECS, entry) if OPENAPI_DEFINITION_KEYS.contains(&entry) => {}
                (OPENAPI | OPENAPI_SPECS, "cache") => {
                    let owner = format!("openapi:{owner}");
                    read_ttl(&owner, &full, node, reader, ToolSettingValue::RestTtl);
                }
                (REST_TOOLS, "cache") => {
                    read_ttl(owner, &full, node, reader, ToolSettingValue::RestTtl);
                }
                (SERVERS, "cache") => {
                    read_ttl(owner, &full, node, reader, ToolSettingValue::DefaultTtl);
                }
                (SERVERS, "toolsCache") => read_rules(owner, &full, node, reader),
                _ if !is_ours => {}
                (SERVERS, "readOnlyTools") => match node.value {
                    ConfigValue::Bool(on) => {
                        let ttl = if on { READ_ONLY_TTL } else { Ttl::Off };
                        add(owner, &full, node, reader, ToolSettingValue::ReadOnly(ttl));
                    }
                    _ => read_ttl(owner, &full, node, reader, ToolSettingValue::ReadOnly),
                },
                (SERVERS, "neverCache") => {
                    let names = read_names(&full, node, reader, "a list of tool names", is_name);
                    if let Some(names) = names {
                        add(owner, &full, node, reader, ToolSettingValue::Never(names));
                    }
                }
                (SERVERS, "credentials") => {
                    let expected = "a list of variable names, and never a key itself";
                    let names = read_names(&full, node, reader, expected, is_variable_name);
                    if let Some(names) = names {
                        add(owner, &full, node, reader, ToolSettingValue::Credentials(names));
                    }
                }
                _ => {
                    let (cache, more): (&[&str], &[&str]) = match table {
                        SERVERS => (&SERVER_KEYS, &SERVER_DEFINITION_KEYS),
                        REST_TOOLS => (&["cache"], &REST_DEFINITION_KEYS),
                        _ => (&["cache"], &OPENAPI_DEFINITION_KEYS),
                    };
                    let known = cache.iter().chain(more);
                    let known: Vec<_> = known.map(|key| format!("{name}.{key}")).collect();
                    reader.add_unknown_name(&full, node, known.iter().map(String::as_str));
                }
            }
        }
    }
}

/// Reads a definition. In another program's file a faulty one is kept, for the agent that names it.
fn read_definition(
    table: &str,
    owner: &str,
    name: &str,
    node: &ConfigNode,
    reader: &mut SectionReader,
) {
    let is_ours = reader.is_our_file();
    let mut values = NodeReader::default();
    let read =
        match table {
            SERVERS => definitions::read_server(owner, name, node, &mut values)
                .map(AgentDefinition::Server),
            REST_TOOLS => definitions::read_rest_tool(owner, name, node, &mut values)
                .map(AgentDefinition::RestTool),
            OPENAPI | OPENAPI_SPECS => definitions::read_openapi(owner, name, node, &mut values)
                .map(AgentDefinition::OpenApi),
            _ => providers::read_provider(owner, name, node, is_ours, &mut values)
                .map(AgentDefinition::Provider),
        };
    let read = match values.problems.first() {
        Some(problem) if !is_ours => {
            let below = problem.key.strip_prefix(name).unwrap_or(&problem.key);
            let below = below.trim_start_matches('.');
            let below = if below.is_empty() { String::new() } else { format!("{below}: ") };
            Some(AgentDefinition::Faulty(format!("{below}{}", problem.message)))
        }
        _ => read,
    };
    if is_ours {
        reader.add_node_problems(values);
    }
    if let Some(definition) = read {
        let value = ToolSettingValue::Definition(Box::new(definition));
        add(owner, name, node, reader, value);
    }
}

/// Reads `agents`: the list of environment variables that agent files may use.
pub(super) fn read_agents(node: &ConfigNode, reader: &mut SectionReader) {
    for (_, full, node) in reader.table("agents", node, &["variables"]) {
        let expected = "a list of names of environment variables";
        if let Some(names) = read_names(&full, node, reader, expected, is_variable_name) {
            let definition = Box::new(AgentDefinition::Variables(names));
            add("agents", &full, node, reader, ToolSettingValue::Definition(definition));
        }
    }
}

/// Reads `toolsCache`: a TTL or a table for each tool.
fn read_rules(owner: &str, name: &str, node: &ConfigNode, reader: &mut SectionReader) {
    let ConfigValue::Table(tools) = &node.value else {
        return reader.add_type_problem(name, node, "a table with a duration for each tool");
    };
    for (tool, node) in tools {
        let full = format!("{name}.{}", quoted(tool));
        if !is_name(tool) {
            reader.add_problem(&full, node, "expected the name of a tool, or a pattern");
            continue;
        }
        let rule = match &node.value {
            ConfigValue::Table(entries) => read_rule(&full, entries, reader),
            _ => parse_ttl(&full, node, reader)
                .map(|ttl| ToolCacheRule { ttl: Some(ttl), ..ToolCacheRule::default() }),
        };
        if let Some(rule) = rule {
            let value = ToolSettingValue::Rule(NamePattern::new(tool), rule);
            add(owner, &full, node, reader, value);
        }
    }
}

fn read_rule(
    name: &str,
    entries: &[(String, ConfigNode)],
    reader: &mut SectionReader,
) -> Option<ToolCacheRule> {
    let mut rule = ToolCacheRule::default();
    let mut is_valid = true;
    for (entry, node) in entries {
        let full = format!("{name}.{}", quoted(entry));
        is_valid &= match entry.as_str() {
            "ttl" => {
                rule.ttl = parse_ttl(&full, node, reader);
                rule.ttl.is_some()
            }
            "sources" => {
                let expected = "a list of paths, globs, {argument} or git:HEAD, without ~ and ${…}";
                rule.sources = read_names(&full, node, reader, expected, is_source);
                rule.sources.is_some()
            }
            "invalidates" => {
                let names = read_names(&full, node, reader, "a list of tool names", is_name);
                rule.invalidates = names.iter().flatten().map(NamePattern::new).collect();
                names.is_some()
            }
            _ => {
                let known: Vec<_> = RULE_KEYS.iter().map(|key| format!("{name}.{key}")).collect();
                reader.add_unknown_name(&full, node, known.iter().map(String::as_str));
                false
            }
        };
    }
    is_valid.then_some(rule)
}

fn read_ttl(
    owner: &str,
    full: &str,
    node: &ConfigNode,
    reader: &mut SectionReader,
    value: fn(Ttl) -> ToolSettingValue,
) {
    if let Some(ttl) = parse_ttl(full, node, reader) {
        add(owner, full, node, reader, value(ttl));
    }
}

/// The grammar of contract 2, whatever the file: a bare number is milliseconds.
fn parse_ttl(full: &str, node: &ConfigNode, reader: &mut SectionReader) -> Option<Ttl> {
    let mut values = NodeReader::default();
    let ttl = values.ttl(full, node);
    reader.add_node_problems(values);
    ttl
}

fn read_names(
    full: &str,
    node: &ConfigNode,
    reader: &mut SectionReader,
    expected: &str,
    is_valid: fn(&str) -> bool,
) -> Option<Vec<String>> {
    let ConfigValue::List(items) = &node.value else {
        reader.add_type_problem(full, node, expected);
        return None;
    };
    let name = |item: &ConfigNode| match &item.value {
        ConfigValue::Text(text) if is_valid(text) => Some(text.clone()),
        _ => None,
    };
    let names: Option<Vec<String>> = items.iter().map(name).collect();
    if names.is_none() {
        // The wrong item is not repeated: it may be a credential.
        reader.add_problem(full, node, format!("expected {expected}"));
    }
    names
}

fn add(
    owner: &str,
    full: &str,
    node: &ConfigNode,
    reader: &mut SectionReader,
    value: ToolSettingValue,
) {
    let origin = reader.origin(full, node);
    let (owner, standing) = (owner.to_owned(), ValueStanding::Counts);
    reader.tools.push(ToolSetting { owner, value, origin, standing });
}

fn is_name(text: &str) -> bool {
    NamePattern::is_valid(text)
}

fn is_source(text: &str) -> bool {
    let is_expanded = text.starts_with('~') || text.contains("${");
    !text.is_empty() && !text.contains(char::is_control) && !is_expanded
}

/// A name as it stands in a dotted key.
fn quoted(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_plain = !name.is_empty() && name.chars().all(is_bare);
    if is_plain { name.to_owned() } else { format!("{name:?}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail as tests do")]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_is_put_on_top() {
        let dir = tempfile::tempdir().unwrap();
        let read = |before: &ToolCacheSettings, name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            read_on_top(before.clone(), &path).map_err(|error| error.to_string())
        };
        let none = ToolCacheSettings::default();
        let text = "[mcpServers.s]\ncache = '1m'\n[mcpServers.s.toolsCache]\nw = { invalidates = ['r'] }\n";
        let first = read(&none, "a.toml", text).unwrap();
        let json =
            r#"{"mcpServers": {"s": {"command": "x", "toolsCache": {"w": "off", "r": "2m"}}}}"#;
        let policy = read(&first, "b.json", json).unwrap().policy_for("s");
        assert_eq!(policy.default_ttl, Some(Ttl::seconds(60)), "what is not said stays");
        let rule = &policy.tools[&NamePattern::new("w")];
        assert_eq!(
            (rule.ttl, rule.invalidates.len()),
            (Some(Ttl::Off), 1),
            "as does what it drops"
        );
        let error = read(&none, "c.toml", "store = 'sqlite:x'\n").unwrap_err();
        assert!(
            error.ends_with(
                "c.toml:1: store: only mcpServers and restTools belong into the file of --config"
            ),
            "{error}"
        );
        let error = read(&none, "d.toml", "[mcpServers.s]\ncache = 'soon'\n").unwrap_err();
        assert!(error.contains("d.toml:2: mcpServers.s.cache: cache duration must be"), "{error}");
        let error = read_on_top(none, &dir.path().join("missing.toml")).unwrap_err().to_string();
        assert!(error.ends_with("missing.toml: there is no such file"), "{error}");
    }
}
