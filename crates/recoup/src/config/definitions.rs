//! Definitions for agents: providers of models, MCP servers, REST tools and OpenAPI documents, and
//! the environment variables that agent files may use.
//!
//! Nothing here is started or reached. `${VAR}` is expanded only in definitions that count, and one
//! that cannot be expanded hinders nobody but the agent that names it.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::secrets::SecretValues;
use recoup_core::store::without_credentials;
use serde_json::Value;

use super::configured_value::expand_text;
use super::document::ConfigNode;
use super::env;
use super::node_reader::NodeReader;
use super::providers::{BUILT_IN_PROVIDERS, PROVIDERS, ProviderDefinition, built_in_provider};
use crate::llm::ApiKey;
use crate::toolbox::{
    NamePattern, OpenApiDefinition, RestToolDefinition, ServerAddress, ServerDefinition,
};

/// The file beside `.ai-agent.json` that has values of variables.
const ENV_FILE: &str = ".ai-agent.env";
/// Larger than any real one.
const MAX_ENV_FILE: u64 = 1 << 16;

/// Names below a server that define it.
pub(crate) const SERVER_DEFINITION_KEYS: [&str; 15] = [
    "type", "command", "args", "env", "cwd", "url", "headers", "toolsAllowed", "toolsDenied",
    "toolSchemas", "requestTimeoutMs", "enabled", "shared", "queue", "healthProbe",
];

/// Names below a REST tool that define it.
pub(super) const REST_DEFINITION_KEYS: [&str; 8] = [
    "description", "method", "url", "headers", "parametersSchema", "bodyTemplate", "timeout",
    "queue",
];

/// Names below an OpenAPI document that define its tools.
pub(super) const OPENAPI_DEFINITION_KEYS: [&str; 6] =
    ["spec", "baseUrl", "base_url", "headers", "includeMethods", "tagFilter"];

/// Settings of agents, ready to use.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentSettings {
    /// The built-in providers, and the user's.
    pub(crate) providers: Vec<ProviderDefinition>,
    pub(crate) servers: Vec<ServerDefinition>,
    pub(crate) rest_tools: Vec<RestToolDefinition>,
    pub(crate) openapi: Vec<OpenApiDefinition>,
    /// Environment variables that agent files may use.
    pub(crate) variables: Vec<String>,
    /// Definitions that are there and cannot be used.
    pub(crate) unusable: Vec<UnusableDefinition>,
    /// Directory of a trusted `.ai-agent.json`, whose `.ai-agent.env` may have keys.
    pub(super) env_dir: Option<PathBuf>,
}

/// A definition that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnusableDefinition {
    /// Full name of the key: `mcpServers.github`.
    pub(crate) key: String,
    /// The place and the reason.
    pub(crate) reason: String,
}

/// A definition as it was written, with its variables.
#[derive(Debug, Clone)]
pub(super) enum AgentDefinition {
    Server(ServerDefinition),
    RestTool(RestToolDefinition),
    OpenApi(OpenApiDefinition),
    Provider(ProviderDefinition),
    /// Environment variables that agent files may use.
    Variables(Vec<String>),
    /// Faulty, in a file of another program: reported to the agent that names it.
    Faulty(String),
}

impl AgentSettings {
    /// The reason why a definition that is there cannot be used.
    pub(crate) fn unusable_reason(&self, table: &str, name: &str) -> Option<&str> {
        let key = format!("{table}.{name}");
        self.unusable.iter().find(|it| it.key == key).map(|it| it.reason.as_str())
    }

    /// The provider's API key, from the environment or from a trusted project's `.ai-agent.env`.
    pub(crate) fn api_key(&self, provider: &ProviderDefinition) -> Result<Option<ApiKey>> {
        let Some(name) = &provider.key_env else { return Ok(None) };
        if let Some(key) = env::api_key(name)? {
            return Ok(Some(key));
        }
        let values = self.env_dir.as_deref().map(read_env_file).unwrap_or_default();
        Ok(values.get(name).and_then(|value| ApiKey::new(value)))
    }

    /// Values that must not be stored: credentials in the environment and in a trusted project's
    /// `.ai-agent.env`.
    pub(crate) fn credentials(&self) -> SecretValues {
        let values = self.env_dir.as_deref().map(read_env_file).unwrap_or_default();
        let values =
            values.into_iter().map(|(name, value)| (name.into_bytes(), value.into_bytes()));
        env::credentials().and(SecretValues::of_credentials(values))
    }

    /// Values of the environment variables that agent files may use, as far as they are set.
    pub(crate) fn variable_values(&self) -> BTreeMap<String, String> {
        let value = |name: &String| Some((name.clone(), env::named_variable(name)?));
        self.variables.iter().filter_map(value).collect()
    }

    /// Settings without the user's: the built-in providers.
    pub(super) fn built_in() -> Self {
        let mut settings = Self::default();
        for name in BUILT_IN_PROVIDERS {
            match built_in_provider(name) {
                Some(Ok(provider)) => settings.providers.push(provider),
                Some(Err(reason)) => {
                    let key = format!("{PROVIDERS}.{name}");
                    settings.unusable.push(UnusableDefinition { key, reason });
                }
                None => {}
            }
        }
        settings
    }

    /// Adds a definition, or replaces the weaker one of that name.
    pub(super) fn apply(
        &mut self,
        key: &str,
        place: &str,
        definition: &AgentDefinition,
        variables: &VariableSource<'_>,
    ) {
        let done = match definition.clone() {
            AgentDefinition::Variables(names) => {
                self.variables.extend(names);
                return;
            }
            AgentDefinition::Provider(provider) => {
                self.providers.retain(|it| it.name != provider.name);
                self.providers.push(provider);
                Ok(())
            }
            AgentDefinition::Server(mut server) => {
                self.servers.retain(|it| it.name != server.name);
                expand_server(&mut server, variables).map(|()| self.servers.push(server))
            }
            AgentDefinition::RestTool(mut tool) => {
                self.rest_tools.retain(|it| it.name != tool.name);
                expand_rest_tool(&mut tool, variables).map(|()| self.rest_tools.push(tool))
            }
            AgentDefinition::OpenApi(mut document) => {
                self.openapi.retain(|it| it.name != document.name);
                expand_openapi(&mut document, variables).map(|()| self.openapi.push(document))
            }
            AgentDefinition::Faulty(reason) => Err(reason),
        };
        self.unusable.retain(|it| it.key != key);
        if let Err(reason) = done {
            let (key, reason) = (key.to_owned(), format!("{place}: {reason}"));
            self.unusable.push(UnusableDefinition { key, reason });
        }
    }
}

/// The address of a server, without values of variables and headers.
pub(crate) fn describe_server(server: &ServerDefinition) -> String {
    AgentDefinition::Server(server.clone()).to_string()
}

/// Shows everything but values of variables and headers.
impl fmt::Display for AgentDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |map: &BTreeMap<String, String>, what: &str| {
            let names: Vec<_> = map.keys().map(String::as_str).collect();
            let list = names.join(", ");
            if list.is_empty() { list } else { format!(" ({what} {list})") }
        };
        match self {
            Self::Server(ServerDefinition { address, .. }) => match address {
                ServerAddress::Command { words, env, .. } => {
                    write!(f, "{}{}", words.join(" "), names(env, "variables"))
                }
                ServerAddress::Http { url, headers, .. } => {
                    write!(f, "{}{}", without_credentials(url), names(headers, "headers"))
                }
            },
            Self::RestTool(RestToolDefinition { method, url, headers, .. }) => {
                write!(f, "{method} {}{}", without_credentials(url), names(headers, "headers"))
            }
            Self::OpenApi(OpenApiDefinition { spec, base_url, headers, .. }) => {
                let at = base_url.iter().map(|url| format!(" at {}", without_credentials(url)));
                let at = at.collect::<String>();
                write!(f, "{}{at}{}", spec.display(), names(headers, "headers"))
            }
            Self::Provider(ProviderDefinition { provider, url, key_env, .. }) => {
                write!(f, "{} at {url}", provider.as_str())?;
                key_env.as_ref().map_or(Ok(()), |name| write!(f, " (key in {name})"))
            }
            Self::Variables(names) => {
                let quoted: Vec<_> = names.iter().map(|it| format!("{it:?}")).collect();
                write!(f, "[{}]", quoted.join(", "))
            }
            Self::Faulty(reason) => write!(f, "cannot be used: {reason}"),
        }
    }
}

/// Values of variables: the environment, then the file beside `.ai-agent.json`, read when needed.
#[derive(Debug)]
pub(super) struct VariableSource<'a> {
    pub(super) env_dir: Option<&'a Path>,
    pub(super) user_home: Option<&'a Path>,
    file: OnceCell<BTreeMap<String, String>>,
}

impl<'a> VariableSource<'a> {
    pub(super) fn new(env_dir: Option<&'a Path>, user_home: Option<&'a Path>) -> Self {
        Self { env_dir, user_home, file: OnceCell::new() }
    }

    /// A value for a header or a variable. The file is not trusted to change more than these.
    fn value(&self, name: &str) -> Option<String> {
        env::named_variable(name).or_else(|| {
            let read = || self.env_dir.map(read_env_file).unwrap_or_default();
            self.file.get_or_init(read).get(name).cloned()
        })
    }
}

/// Variables of `.ai-agent.env` in `dir`: `NAME=VALUE`, with or without quotes.
fn read_env_file(dir: &Path) -> BTreeMap<String, String> {
    // Best effort: what is missing is reported as an unset variable.
    let bytes = fsx::read_regular(&dir.join(ENV_FILE), MAX_ENV_FILE).ok().flatten();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let pair = |line: &str| {
        let line = line.trim().strip_prefix("export ").unwrap_or(line.trim());
        let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        let value = value.trim();
        let bare = ['"', '\''].iter().find_map(|quote| {
            value.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote))
        });
        Some((name.trim().to_owned(), bare.unwrap_or(value).to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

fn expand_values(
    map: &mut BTreeMap<String, String>,
    what: &str,
    variables: &VariableSource<'_>,
) -> Result<(), String> {
    for (name, value) in map {
        *value = expand_text(value, |name| variables.value(name))
            .map_err(|why| format!("{what}.{name}: {why}"))?;
    }
    Ok(())
}

/// Expands variables in a server that an agent file defines, from the environment.
pub(crate) fn expand_own_server(server: &mut ServerDefinition) -> Result<(), String> {
    let user_home = env::user_home();
    expand_server(server, &VariableSource::new(None, user_home.as_deref()))
}

/// Expands variables and `~` in a path.
fn expand_path(path: &mut PathBuf, variables: &VariableSource<'_>) -> Result<(), String> {
    let text = expand_text(&path.to_string_lossy(), env::named_variable)?;
    *path = match (Path::new(&text).strip_prefix("~"), variables.user_home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => text.into(),
    };
    Ok(())
}

fn expand_openapi(
    document: &mut OpenApiDefinition,
    variables: &VariableSource<'_>,
) -> Result<(), String> {
    expand_path(&mut document.spec, variables).map_err(|why| format!("spec: {why}"))?;
    if let Some(url) = &mut document.base_url {
        *url = expand_text(url, env::named_variable).map_err(|why| format!("baseUrl: {why}"))?;
    }
    expand_values(&mut document.headers, "headers", variables)
}

fn expand_server(
    server: &mut ServerDefinition,
    variables: &VariableSource<'_>,
) -> Result<(), String> {
    let plain = |text: &str| expand_text(text, env::named_variable);
    match &mut server.address {
        ServerAddress::Command { words, env, cwd } => {
            for word in words {
                *word = plain(word).map_err(|why| format!("command: {why}"))?;
            }
            if let Some(cwd) = cwd {
                expand_path(cwd, variables).map_err(|why| format!("cwd: {why}"))?;
            }
            expand_values(env, "env", variables)
        }
        ServerAddress::Http { url, headers, .. } => {
            *url = plain(url).map_err(|why| format!("url: {why}"))?;
            expand_values(headers, "headers", variables)
        }
    }
}

/// Expands all but `${parameters.NAME}`, which stands for an argument of a call.
fn expand_rest_tool(
    tool: &mut RestToolDefinition,
    variables: &VariableSource<'_>,
) -> Result<(), String> {
    const ARGUMENT: &str = "${parameters.";
    let mut url = String::new();
    for (at, part) in tool.url.split(ARGUMENT).enumerate() {
        // Behind an argument's name there may be variables again.
        let (name, rest) = match part.split_once('}') {
            Some((name, rest)) if at > 0 => (format!("{ARGUMENT}{name}}}"), rest),
            _ => (String::new(), part),
        };
        let rest = expand_text(rest, env::named_variable).map_err(|why| format!("url: {why}"))?;
        url.push_str(&name);
        url.push_str(&rest);
    }
    tool.url = url;
    expand_values(&mut tool.headers, "headers", variables)
}

/// Reads what defines a server; none if nothing does, or after a problem. Of the names only those
/// of definitions are looked at, in camel case or in snake case.
pub(crate) fn read_server(
    name: &str,
    full: &str,
    node: &ConfigNode,
    reader: &mut NodeReader,
) -> Option<ServerDefinition> {
    let entries = reader.table(full, node)?;
    let before = reader.problems.len();
    let (mut command, mut url, mut kind) = (None::<Vec<String>>, None, None);
    let (mut args, mut env, mut headers) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let (mut allowed, mut denied, mut schemas) = (Vec::new(), Vec::new(), BTreeMap::new());
    let (mut cwd, mut request_timeout, mut is_enabled) = (None, None, true);
    let plain = |texts: Option<Vec<(String, Option<u64>)>>| -> Vec<String> {
        texts.into_iter().flatten().map(|(text, _)| text).collect()
    };
    for (entry, node) in entries {
        let key = format!("{full}.{entry}");
        let is_meant = |known: &&&str| entry == **known || *entry == snake_case(known);
        let Some(known) = SERVER_DEFINITION_KEYS.iter().find(is_meant) else { continue };
        match *known {
            "type" => kind = reader.text(&key, node, "stdio, http or sse"),
            "command" => {
                command = Some(plain(reader.texts(&key, node, "a command, as text or a list")));
            }
            "args" => args = plain(reader.texts(&key, node, "a list of arguments")),
            "env" => env = reader.text_map(&key, node).unwrap_or_default(),
            "headers" => headers = reader.text_map(&key, node).unwrap_or_default(),
            "cwd" => cwd = reader.text(&key, node, "a directory").map(PathBuf::from),
            "url" => url = reader.text(&key, node, "a URL"),
            "toolsAllowed" | "toolsDenied" => {
                let names = plain(reader.texts(&key, node, "a list of tool names"));
                // The other program writes * for all.
                let patterns = names.into_iter().map(NamePattern::new).collect();
                *(if *known == "toolsAllowed" { &mut allowed } else { &mut denied }) = patterns;
            }
            "toolSchemas" => {
                for (tool, node) in reader.table(&key, node).into_iter().flatten() {
                    match node.to_json() {
                        Some(schema @ Value::Object(_)) => {
                            schemas.insert(tool.clone(), schema);
                        }
                        _ => reader.add_type(&format!("{key}.{tool}"), node, "a JSON schema"),
                    }
                }
            }
            "requestTimeoutMs" => request_timeout = reader.time_limit(&key, node),
            "enabled" => is_enabled = reader.boolean(&key, node).unwrap_or(true),
            // Accepted, and without effect here: one run has one connection.
            _ => {}
        }
    }
    let kind = kind.as_deref();
    let address = match (command, url) {
        (None, None) if kind.is_none() => return None,
        (Some(mut words), None) if matches!(kind, None | Some("stdio")) => {
            words.append(&mut args);
            ServerAddress::Command { words, env, cwd }
        }
        (None, Some(url)) if matches!(kind, None | Some("http" | "streamable-http" | "sse")) => {
            ServerAddress::Http { url, headers }
        }
        (Some(_), Some(_)) => {
            reader.add(full, node, "expected either command or url, not both");
            return None;
        }
        _ => {
            let expected = "expected type stdio with command, or http or sse with url; others are not supported";
            reader.add(full, node, expected);
            return None;
        }
    };
    let name = name.to_owned();
    (reader.problems.len() == before).then_some(ServerDefinition {
        name,
        address,
        allowed,
        denied,
        schemas,
        request_timeout,
        is_enabled,
    })
}

/// Reads what defines a REST tool; none if nothing does, or after a problem.
pub(super) fn read_rest_tool(
    name: &str,
    full: &str,
    node: &ConfigNode,
    reader: &mut NodeReader,
) -> Option<RestToolDefinition> {
    let entries = reader.table(full, node)?;
    let is_definition = |(name, _): &(String, _)| REST_DEFINITION_KEYS.contains(&name.as_str());
    if !entries.iter().any(is_definition) {
        return None;
    }
    let before = reader.problems.len();
    let mut tool = RestToolDefinition {
        name: name.to_owned(),
        description: String::new(),
        method: "GET".to_owned(),
        url: String::new(),
        query: BTreeMap::new(),
        headers: BTreeMap::new(),
        parameters: serde_json::json!({"type": "object", "properties": {}}),
        body: None,
        timeout: None,
    };
    for (entry, node) in entries {
        let key = format!("{full}.{entry}");
        match entry.as_str() {
            "description" => {
                tool.description = reader.text(&key, node, "text").unwrap_or_default();
            }
            "method" => {
                let expected = "GET, POST, PUT, PATCH or DELETE";
                let method = reader.text(&key, node, expected).unwrap_or_default().to_uppercase();
                if !["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(&method.as_str()) {
                    reader.add_type(&key, node, expected);
                }
                tool.method = method;
            }
            "url" => tool.url = reader.text(&key, node, "a URL").unwrap_or_default(),
            "headers" => tool.headers = reader.text_map(&key, node).unwrap_or_default(),
            "parametersSchema" => match node.to_json() {
                Some(schema @ Value::Object(_)) => tool.parameters = schema,
                _ => reader.add_type(&key, node, "a JSON schema"),
            },
            "bodyTemplate" => tool.body = node.to_json(),
            "timeout" => tool.timeout = reader.time_limit(&key, node),
            _ => {}
        }
    }
    if tool.url.is_empty() && reader.problems.len() == before {
        reader.add(full, node, "a REST tool needs a url");
    }
    (reader.problems.len() == before).then_some(tool)
}

/// Reads what defines the tools of an OpenAPI document; none after a problem.
pub(super) fn read_openapi(
    name: &str,
    full: &str,
    node: &ConfigNode,
    reader: &mut NodeReader,
) -> Option<OpenApiDefinition> {
    const METHODS: [&str; 6] = ["get", "put", "post", "delete", "patch", "head"];
    let entries = reader.table(full, node)?;
    let before = reader.problems.len();
    let (mut spec, mut base_url, mut headers) = (None, None, BTreeMap::new());
    let (mut methods, mut tags) = (Vec::new(), Vec::new());
    for (entry, node) in entries {
        let key = format!("{full}.{entry}");
        match entry.as_str() {
            "spec" => {
                spec = reader.text(&key, node, "the path of a JSON or YAML file");
                if spec.as_ref().is_some_and(|spec| spec.contains("://")) {
                    let message =
                        "expected the path of a file: save the document, and name the file";
                    reader.add(&key, node, message);
                }
            }
            "baseUrl" | "base_url" => base_url = reader.text(&key, node, "a URL"),
            "headers" => headers = reader.text_map(&key, node).unwrap_or_default(),
            "includeMethods" => {
                let expected = "a list of GET, POST, PUT, PATCH, DELETE and HEAD";
                let names = reader.texts(&key, node, expected).unwrap_or_default();
                methods = names.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
                if !methods.iter().all(|method| METHODS.contains(&method.as_str())) {
                    reader.add(&key, node, format!("expected {expected}"));
                }
            }
            "tagFilter" => {
                let names = reader.texts(&key, node, "a list of tags").unwrap_or_default();
                tags = names.into_iter().map(|(name, _)| name).collect();
            }
            _ => {}
        }
    }
    if reader.problems.len() == before {
        if spec.is_none() {
            reader.add(full, node, "an OpenAPI document needs a spec: the path of its file");
        } else if base_url.is_none() && !headers.is_empty() {
            // Trust is bound to the configuration, and not to the document.
            let message = "headers need a baseUrl: the document must not decide who receives them";
            reader.add(full, node, message);
        }
    }
    let (name, spec) = (format!("openapi:{name}"), PathBuf::from(spec?));
    let definition = OpenApiDefinition { name, spec, base_url, headers, methods, tags };
    (reader.problems.len() == before).then_some(definition)
}

/// `maxTurns` as `max_turns`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
