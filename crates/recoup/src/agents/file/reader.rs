//! Reads one agent file by the table of keys of its dialect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ai_keys::AgentKey;
use super::prompt_includes::IncludeSite;
use super::prompt_sections::{PromptSection, split_sections};
use super::{
    ALL_KEYS, AgentContext, AgentProblem, FilePlace, agent_md_keys, dialect_of, keys_of,
    variable_names,
};
use crate::agents::agent_file::{
    AgentDialect, AgentFile, FormatKind, MessageFormat, NamedTool, RunHooks, RunLimits, UserTurn,
    VariableSyntax,
};
use crate::agents::output::AnswerCheck;
use crate::config::trust::TrustVerdict;
use crate::config::{
    ConfigNode, ConfigValue, DocumentError, NodeProblem, NodeReader, YamlSource, nearest_name,
    read_yaml, unknown_key_message,
};
use crate::llm::Sampling;
use crate::toolbox::ServerDefinition;

/// Role of another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceRole {
    Agent,
    Advisor,
    Handoff,
    Destination,
}

/// Another agent that a file names.
#[derive(Debug)]
pub(super) struct AgentReference {
    pub(super) role: ReferenceRole,
    pub(super) path: String,
    pub(super) line: Option<u64>,
    pub(super) key: String,
}

/// A file while it is read: the agent so far, and what has to be done for it.
#[derive(Debug)]
pub(super) struct AgentFileReader<'a> {
    pub(super) context: AgentContext<'a>,
    path: &'a Path,
    pub(super) place: &'a FilePlace,
    text: &'a str,
    pub(super) agent: AgentFile,
    pub(super) values: NodeReader,
    pub(super) problems: Vec<AgentProblem>,
    pub(super) references: Vec<AgentReference>,
    /// Keys and values that need trust in a repository.
    pub(super) demands: Vec<(String, String)>,
    /// Its name as a tool, if the file gives one.
    pub(super) tool_name: Option<String>,
    /// Provider of all models that are named without one.
    pub(super) provider: Option<String>,
    /// Models and their lines, before their providers are known.
    pub(super) models: Vec<(String, Option<u64>, String)>,
    /// True if another file has the rest of the agent.
    has_base: bool,
    /// Line of the front matter.
    front_line: u64,
    /// False if its keys cannot be read.
    is_readable: bool,
    /// Size of the prompt with what it includes.
    pub(super) prompt_bytes: usize,
}

impl<'a> AgentFileReader<'a> {
    pub(super) fn new(
        context: AgentContext<'a>,
        path: &'a Path,
        place: &'a FilePlace,
        text: &'a str,
        base: Option<&AgentFile>,
    ) -> Self {
        let dialect = dialect_of(path);
        let agent = match base {
            Some(base) => AgentFile { path: path.to_owned(), dialect, ..base.clone() },
            None => empty_agent(path, dialect),
        };
        Self {
            context,
            path,
            place,
            text,
            agent,
            values: NodeReader::default(),
            problems: Vec::new(),
            references: Vec::new(),
            demands: Vec::new(),
            tool_name: None,
            provider: None,
            models: Vec::new(),
            has_base: base.is_some(),
            front_line: 1,
            is_readable: true,
            prompt_bytes: text.len(),
        }
    }

    /// Reads the whole file; problems are in `problems` afterwards.
    pub(super) fn read(&mut self) {
        if self.agent.dialect == AgentDialect::Lifecycle {
            self.read_front_matter(&PromptSection { line: 1, text: self.text.to_owned() });
        } else {
            match split_sections(self.text, self.agent.dialect) {
                Ok((front, sections)) => {
                    if let Some(front) = &front {
                        self.front_line = front.line;
                        self.read_front_matter(front);
                    }
                    self.read_prompt(&sections);
                }
                Err(line) => {
                    let message = "the front matter has no end: expected a line with ---";
                    self.add_problem(Some(line), None, message);
                    return;
                }
            }
        }
        if let Some(name) = self.tool_name.take() {
            self.agent.tool_name = name;
        }
        self.resolve_models();
        self.check_tools();
        self.note_variables();
        let file = self.path.display().to_string();
        let located = std::mem::take(&mut self.values.problems).into_iter();
        let located = located.map(|NodeProblem { key, line, message }| AgentProblem {
            file: file.clone(),
            line,
            key: Some(key),
            message,
        });
        self.problems.extend(located);
        // Of one file, in the order of its lines.
        self.problems.sort_by_key(|problem| (problem.file != file, problem.line));
    }

    pub(super) fn add_problem(&mut self, line: Option<u64>, key: Option<&str>, message: &str) {
        let (file, key) = (self.path.display().to_string(), key.map(str::to_owned));
        self.problems.push(AgentProblem { file, line, key, message: message.to_owned() });
    }

    /// Adds a notice about a key.
    pub(super) fn add_notice(&mut self, key: &str, node: &ConfigNode, message: &str) {
        let line = node.line.map(|line| format!(":{line}")).unwrap_or_default();
        self.agent.notices.push(format!("{}{line}: {key}: {message}", self.path.display()));
    }

    fn read_front_matter(&mut self, section: &PromptSection) {
        let node = match read_yaml(&section.padded_text(), YamlSource::AgentFile) {
            Ok(node) => node,
            Err(DocumentError { position, message }) => {
                let line = position.map(|at| at.line);
                self.is_readable = false;
                return self.add_problem(line, None, &format!("not valid YAML: {message}"));
            }
        };
        let entries = match &node.value {
            ConfigValue::Table(entries) => entries.as_slice(),
            ConfigValue::Null => &[],
            _ => {
                let message = "expected keys and values in the front matter";
                self.is_readable = false;
                return self.add_problem(Some(section.line), None, message);
            }
        };
        let keys = keys_of(self.agent.dialect);
        let is_strict = matches!(self.agent.dialect, AgentDialect::Ai | AgentDialect::Own);
        let required = match self.agent.dialect {
            AgentDialect::AgentMd => Some(("name", "missing; expected a name for the agent")),
            AgentDialect::Lifecycle => {
                Some(("agent", "missing; expected the path of an .agent.md file"))
            }
            AgentDialect::Ai | AgentDialect::Own => None,
        };
        if let Some((name, message)) = required
            && !entries.iter().any(|(entry, _)| entry == name)
        {
            self.add_problem(Some(section.line), Some(name), message);
        }
        for (name, node) in entries {
            let key: Option<&AgentKey> =
                keys.iter().find(|(known, _)| known == name).map(|(_, key)| *key);
            if let Some(key) = key {
                (key.read)(self, name, node);
                continue;
            }
            let known = keys.iter().map(|(known, _)| known.as_str());
            let message = unknown_key_message(name, known, ALL_KEYS);
            if is_strict {
                self.values.add(name, node, message);
            } else {
                self.add_notice(name, node, &message);
            }
        }
    }

    fn read_prompt(&mut self, sections: &[PromptSection]) {
        let chain = [self.place.real.clone()];
        let (path, mut clear) = (self.path, false);
        for (at, section) in sections.iter().enumerate() {
            if at > 0
                && self.agent.dialect == AgentDialect::AgentMd
                && let Some(header) = agent_md_keys::read_turn_header(section)
                && sections.get(at + 1).is_some()
            {
                clear = header.clear;
                if header.narrows_tools {
                    let line = section.line;
                    self.agent.notices.push(format!(
                        "{}:{line}: tools of a single turn are not supported: all turns have those \
                         of the agent",
                        path.display()
                    ));
                }
                continue;
            }
            let site = IncludeSite { file: path, line: section.line, chain: &chain };
            let text = self.expand_includes(&section.text, &site);
            let text = text.trim().to_owned();
            if at == 0 {
                self.agent.system = text;
            } else if !text.is_empty() {
                self.agent.turns.push(UserTurn { text, clear });
                clear = false;
            }
        }
        if sections.iter().all(|section| section.text.trim().is_empty()) {
            let line = sections.first().map(|section| section.line);
            self.add_problem(line, None, "expected a prompt after the front matter");
        }
    }

    /// Reads a file that this one names: canonical path and text. Outside of the project it is read
    /// only for a key of the agent file itself, if that is trusted.
    pub(super) fn read_beside(
        &mut self,
        path: &Path,
        demanded_by: Option<&str>,
    ) -> Result<(PathBuf, String), String> {
        let full = self.context.cwd.join(path);
        let real = full.canonicalize();
        // By the name that is written, and by the one that a link leads to.
        let may_have_secrets = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            name.starts_with(".env.") || name.rsplit('.').next() == Some("env")
        };
        if may_have_secrets(path) || real.as_deref().is_ok_and(may_have_secrets) {
            return Err(format!("{} may have secrets: .env files are refused", path.display()));
        }
        let Ok(real) = real else { return Err(format!("there is no file {}", path.display())) };
        if !real.starts_with(&self.place.root) && self.place.name_in_repository.is_some() {
            if let Some(key) = demanded_by {
                self.demands.push((key.to_owned(), path.display().to_string()));
            }
            // A trust store that cannot be read is told as that.
            let verdict = self.place.verdict(self.context.home, self.text);
            let verdict = verdict.map_err(|error| error.to_string())?;
            if demanded_by.is_none() || verdict != TrustVerdict::Trusted {
                return Err(format!(
                    "{} is outside of the project {}; only an agent file that you have trusted may \
                     name such files",
                    path.display(),
                    self.place.root.display()
                ));
            }
        }
        let text = super::read_text(&real)?;
        Ok((real, text))
    }

    /// Demands trust for another agent outside of the project.
    pub(super) fn note_agent_path(&mut self, key: &str, name: &str) {
        let path = match self.agent.dialect {
            AgentDialect::Lifecycle => self.context.base_path(self.path, name),
            _ => super::relative_path(self.path, name),
        };
        let path = self.context.cwd.join(path);
        let is_outside = path.canonicalize().is_ok_and(|real| !real.starts_with(&self.place.root));
        if is_outside && self.place.name_in_repository.is_some() {
            self.demands.push((key.to_owned(), name.to_owned()));
        }
    }

    fn resolve_models(&mut self) {
        let models = std::mem::take(&mut self.models);
        let is_given = !models.is_empty();
        let mut resolved = Vec::new();
        for (text, line, key) in models {
            let provider = self.provider.as_deref();
            let (dialect, settings) = (self.agent.dialect, self.context.settings);
            match super::model_names::parse_model(&text, dialect, provider, settings) {
                Ok(model) => resolved.push(model),
                Err(message) => self.add_problem(line, Some(&key), &message),
            }
        }
        if is_given {
            self.agent.models = resolved;
        } else if self.agent.models.is_empty() && self.agent.dialect != AgentDialect::AgentMd {
            let is_lifecycle = self.agent.dialect == AgentDialect::Lifecycle;
            if (is_lifecycle && !self.has_base) || !self.is_readable {
                // That they cannot be read is a problem already.
                return;
            }
            let key = if is_lifecycle { "model" } else { "models" };
            let has_head = is_lifecycle || self.text.lines().any(|line| line.trim_end() == "---");
            let message = if has_head {
                "missing; expected provider/model, such as anthropic/claude-sonnet-4-5"
            } else {
                "missing; expected `models: provider/model` between two lines of --- at the top"
            };
            self.add_problem(Some(self.front_line), Some(key), message);
        }
    }

    /// Checks that every named tool is defined.
    fn check_tools(&mut self) {
        let settings = self.context.settings;
        let names = || {
            let own = self.agent.servers.iter().chain(&settings.servers);
            let rest = settings.rest_tools.iter().map(|tool| tool.name.as_str());
            let documents = settings.openapi.iter().map(|document| document.name.as_str());
            own.map(|server| server.name.as_str()).chain(rest).chain(documents)
        };
        let mut wrong = Vec::new();
        for NamedTool { name, line } in &self.agent.tools {
            if self.agent.servers.iter().any(|own| own.name == *name) {
                continue;
            }
            let is_off = |it: &&ServerDefinition| it.name == *name && !it.is_enabled;
            if settings.servers.iter().any(|it| is_off(&it)) {
                wrong.push((
                    *line,
                    format!("{name} cannot be used: mcpServers.{name}.enabled is false"),
                ));
                continue;
            }
            if names().any(|known| known == name) {
                continue;
            }
            let faulty = settings.unusable.iter().filter_map(|it| it.key.split_once('.'));
            let faulty = faulty.filter(|(table, _)| *table != "providers").map(|(_, name)| name);
            let document = name.strip_prefix("openapi:");
            let (tables, bare): (&[&str], &str) = match document {
                Some(document) => (&["openapi", "openapiSpecs"], document),
                None => (&["mcpServers", "restTools"], name),
            };
            let reason = tables.iter().find_map(|table| settings.unusable_reason(table, bare));
            let message = match (reason, nearest_name(name, names().chain(faulty))) {
                (Some(reason), _) => format!("{name} cannot be used: {reason}"),
                (None, Some(meant)) => format!("unknown tool {name:?}; did you mean {meant}?"),
                (None, None) if document.is_some() => {
                    format!("unknown tool {name:?}: define it in [openapi.{bare}]")
                }
                (None, None) => format!(
                    "unknown tool {name:?}: define it in [mcpServers.{name}] or [restTools.{name}]"
                ),
            };
            wrong.push((*line, message));
        }
        for (line, message) in wrong {
            self.add_problem(line, Some("tools"), &message);
        }
    }

    /// Notes which variables of the environment the file uses, and `{{now}}` in the prompt.
    fn note_variables(&mut self) {
        let turns = self.agent.turns.iter().map(|turn| turn.text.as_str());
        let texts: Vec<&str> = turns.chain([self.agent.system.as_str()]).collect();
        let syntax = self.agent.variables;
        let names: Vec<String> =
            texts.iter().flat_map(|text| variable_names(text, syntax)).map(str::to_owned).collect();
        let file = self.path.display().to_string();
        if syntax == VariableSyntax::Braces && names.iter().any(|name| name == "now") {
            let notice = format!(
                "{file}: {{{{now}}}} in a prompt changes all the time: no answer would ever be a hit"
            );
            let is_told = self.agent.notices.iter().any(|it| it.contains("{{now}} in a prompt"));
            if !is_told {
                self.agent.notices.push(notice);
            }
        }
        if syntax == VariableSyntax::Dollar {
            // Trust is bound to this text, and not to that of included files.
            let own = variable_names(self.text, syntax);
            let known = self.context.settings.variables.iter();
            for variable in known.filter(|it| own.contains(&it.as_str())) {
                self.demands.push((format!("${{{variable}}}"), "from the environment".to_owned()));
                self.agent.environment.push(variable.clone());
            }
        }
    }

    /// Reads a schema from a file.
    pub(super) fn read_schema_file(
        &mut self,
        key: &str,
        node: &ConfigNode,
        name: &str,
    ) -> Option<serde_json::Value> {
        let path = super::relative_path(self.path, name);
        let text = match self.read_beside(&path, Some(key)) {
            Ok((_, text)) => text,
            Err(message) => {
                self.values.add(key, node, message);
                return None;
            }
        };
        self.agent.included.push(path.clone());
        match serde_json::from_str(&text) {
            Ok(schema @ serde_json::Value::Object(_)) => Some(schema),
            Ok(_) => {
                self.values.add(key, node, format!("{} is not a JSON object", path.display()));
                None
            }
            Err(error) => {
                self.values.add(key, node, format!("{} is not JSON: {error}", path.display()));
                None
            }
        }
    }

    /// Reads `{format, schema, schemaRef}`.
    pub(super) fn read_format(&mut self, key: &str, node: &ConfigNode) -> MessageFormat {
        let mut format = MessageFormat::default();
        let Some(entries) = self.values.table(key, node) else { return format };
        let mut has_schema = false;
        for (name, node) in entries {
            let full = format!("{key}.{name}");
            match name.as_str() {
                "format" => {
                    let kind = match &node.value {
                        ConfigValue::Text(text) => FormatKind::parse(text),
                        _ => None,
                    };
                    match kind {
                        Some(kind) => format.kind = kind,
                        None => self.values.add_type(&full, node, "text, json or markdown"),
                    }
                }
                "schema" => match node.to_json() {
                    Some(schema @ serde_json::Value::Object(_)) => {
                        (format.schema, has_schema) = (Some(schema), true);
                    }
                    _ => self.values.add_type(&full, node, "a JSON schema, which is an object"),
                },
                "schemaRef" | "schema_ref" => {
                    if let Some(name) = self.values.text(&full, node, "the path of a JSON schema") {
                        has_schema = true;
                        format.schema = self.read_schema_file(&full, node, &name);
                    }
                }
                _ => {
                    let known = ["format", "schema", "schemaRef"].map(|it| format!("{key}.{it}"));
                    let message =
                        unknown_key_message(&full, known.iter().map(String::as_str), ALL_KEYS);
                    self.values.add(&full, node, message);
                }
            }
        }
        if let Err(error) = AnswerCheck::new(format.kind, format.schema.as_ref()) {
            self.values.add(key, node, error.to_string());
        }
        if has_schema && format.kind != FormatKind::Json {
            self.values.add(key, node, "a schema needs format: json");
        }
        format
    }
}

/// An agent with the defaults of its dialect.
fn empty_agent(path: &Path, dialect: AgentDialect) -> AgentFile {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = [".agent.md", ".lifecycle.yaml", ".lifecycle.yml", ".ai", ".md"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(&name)
        .to_owned();
    let is_foreign = matches!(dialect, AgentDialect::AgentMd | AgentDialect::Lifecycle);
    AgentFile {
        path: path.to_owned(),
        dialect,
        tool_name: tool_name_of(&stem),
        name: stem,
        description: None,
        usage: None,
        models: Vec::new(),
        system: String::new(),
        turns: Vec::new(),
        tools: Vec::new(),
        servers: Vec::new(),
        agents: Vec::new(),
        advisors: Vec::new(),
        handoff: None,
        router: Vec::new(),
        input: MessageFormat::default(),
        output: MessageFormat::default(),
        limits: RunLimits {
            max_turns: 10,
            max_tool_calls_per_turn: 10,
            max_retries: 5,
            max_output_tokens: 4096,
            tool_response_max_bytes: 12288,
            llm_timeout: Duration::from_mins(10),
            tool_timeout: Duration::from_mins(5),
            max_time: None,
            max_tokens: None,
            max_cost: None,
        },
        sampling: Sampling {
            temperature: if is_foreign { None } else { Some(0.0) },
            ..Sampling::default()
        },
        reasoning: None,
        prompt_cache: true,
        cache: None,
        cache_key: None,
        sources: Vec::new(),
        tags: Vec::new(),
        memory: false,
        ignores_history: false,
        variables: match dialect {
            AgentDialect::Ai => VariableSyntax::None,
            AgentDialect::Own => VariableSyntax::Dollar,
            AgentDialect::AgentMd | AgentDialect::Lifecycle => VariableSyntax::Braces,
        },
        environment: Vec::new(),
        parameters: Vec::new(),
        max_repeats: if is_foreign { 3 } else { 0 },
        outputs: Vec::new(),
        hooks: RunHooks::default(),
        keeps_large_outputs: false,
        included: Vec::new(),
        notices: Vec::new(),
    }
}

/// A name for tools: letters, digits, `_` and `-`.
pub(super) fn tool_name_of(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    name.chars().map(letter).take(64).collect()
}
