//! The keys of `.ai` files, and those of our own files beside them. Our own have the same keys in
//! snake case.

use std::time::Duration;

use recoup_core::cache::Ttl;
use recoup_core::entry::to_micro_dollars;

use super::ALL_KEYS;
use super::reader::{AgentFileReader, AgentReference, ReferenceRole, tool_name_of};
use crate::agents::agent_file::NamedTool;
use crate::config::{
    ConfigNode, ConfigValue, SERVER_DEFINITION_KEYS, describe_server, expand_own_server,
    read_server, snake_case, unknown_key_message,
};
use crate::llm::Reasoning;

/// A key of a dialect.
#[derive(Debug)]
pub(crate) struct AgentKey {
    pub(crate) name: &'static str,
    /// Accepted values, for the documentation.
    pub(crate) takes: &'static str,
    /// Reads a value into the agent, or adds a problem.
    pub(super) read: fn(&mut AgentFileReader<'_>, &str, &ConfigNode),
}

pub(super) const fn key(
    name: &'static str,
    takes: &'static str,
    read: fn(&mut AgentFileReader<'_>, &str, &ConfigNode),
) -> AgentKey {
    AgentKey { name, takes, read }
}

pub(super) const COUNT: &str = "a whole number above 0";
const TOOL_NAME: &str = "letters, digits, _ and -, at most 64";
const PATHS: &str = "paths of agent files";
const TIME: &str = "milliseconds, or a duration such as 30s";
const NUMBER: &str = "a number, or none, off, unset, default or null: not sent";

pub(super) static AI_KEYS: [AgentKey; 28] = [
    key("description", "text", |reader, key, node| {
        reader.agent.description = reader.values.text(key, node, "text");
    }),
    key("usage", "text", |reader, key, node| {
        reader.agent.usage = reader.values.text(key, node, "text");
    }),
    key("toolName", TOOL_NAME, |reader, key, node| match &node.value {
        ConfigValue::Text(name) if !name.is_empty() && tool_name_of(name) == *name => {
            reader.tool_name = Some(name.clone());
        }
        _ => reader.values.add_type(key, node, TOOL_NAME),
    }),
    key("models", "provider/model, a list or separated by commas", read_models),
    key("tools", "names of MCP servers and REST tools", read_tools),
    key("agents", PATHS, |reader, key, node| {
        read_references(reader, key, node, ReferenceRole::Agent);
    }),
    key("advisors", PATHS, |reader, key, node| {
        read_references(reader, key, node, ReferenceRole::Advisor);
    }),
    key("plugins", "(not supported)", |reader, key, node| {
        let remedy = "plugins are not supported and do not run: offer what they do as an MCP \
                      server in tools, or as an agent in advisors or handoff";
        reader.add_notice(key, node, remedy);
    }),
    key("handoff", "the path of an agent file", |reader, key, node| {
        if let Some(path) = reader.values.text(key, node, "the path of an agent file") {
            reader.note_agent_path(key, &path);
            let (role, key) = (ReferenceRole::Handoff, key.to_owned());
            reader.references.push(AgentReference { role, path, line: node.line, key });
        }
    }),
    key("router", "{destinations: paths of agent files}", |reader, key, node| {
        for (name, node) in reader.values.table(key, node).into_iter().flatten() {
            let full = format!("{key}.{name}");
            if name == "destinations" {
                read_references(reader, &full, node, ReferenceRole::Destination);
            } else {
                reader.values.add_unknown(&full, node, &["router.destinations"]);
            }
        }
    }),
    key("input", "{format: text, json or markdown; schema; schemaRef}", |reader, key, node| {
        reader.agent.input = reader.read_format(key, node);
    }),
    key("output", "{format: text, json or markdown; schema; schemaRef}", |reader, key, node| {
        reader.agent.output = reader.read_format(key, node);
    }),
    key("maxTurns", COUNT, |reader, key, node| {
        let limit = &mut reader.agent.limits.max_turns;
        *limit = reader.values.count(key, node).unwrap_or(*limit);
    }),
    key("maxToolCallsPerTurn", COUNT, |reader, key, node| {
        let limit = &mut reader.agent.limits.max_tool_calls_per_turn;
        *limit = reader.values.count(key, node).unwrap_or(*limit);
    }),
    key("maxRetries", "a whole number", |reader, key, node| {
        let limit = &mut reader.agent.limits.max_retries;
        *limit = reader.values.count_or_zero(key, node).unwrap_or(*limit);
    }),
    key("maxOutputTokens", COUNT, |reader, key, node| {
        let limit = &mut reader.agent.limits.max_output_tokens;
        *limit = reader.values.count(key, node).unwrap_or(*limit);
    }),
    key("toolResponseMaxBytes", COUNT, |reader, key, node| {
        if let Some(bytes) = reader.values.count(key, node) {
            reader.agent.limits.tool_response_max_bytes = bytes as usize;
        }
    }),
    key("llmTimeout", TIME, |reader, key, node| {
        let limit = &mut reader.agent.limits.llm_timeout;
        *limit = reader.values.time_limit(key, node).unwrap_or(*limit);
    }),
    key("toolTimeout", TIME, |reader, key, node| {
        let limit = &mut reader.agent.limits.tool_timeout;
        *limit = reader.values.time_limit(key, node).unwrap_or(*limit);
    }),
    key("temperature", NUMBER, |reader, key, node| {
        reader.agent.sampling.temperature = read_sampling(reader, key, node);
    }),
    key("topP", NUMBER, |reader, key, node| {
        reader.agent.sampling.top_p = read_sampling(reader, key, node);
    }),
    key("topK", "a whole number, or none, off, unset, default or null", |reader, key, node| {
        let value = if is_unset(node) { None } else { reader.values.count(key, node) };
        reader.agent.sampling.top_k = value;
    }),
    key("repeatPenalty", NUMBER, |reader, key, node| {
        reader.agent.sampling.repeat_penalty = read_sampling(reader, key, node);
    }),
    key("reasoning", "none, minimal, low, medium, high, or a number of tokens", read_reasoning),
    key("reasoningTokens", "a number of tokens", read_reasoning),
    key("cache", "off, forever, milliseconds or a duration such as 1d", |reader, key, node| {
        reader.agent.cache = reader.values.ttl(key, node);
    }),
    key("caching", "full or none", |reader, key, node| match &node.value {
        ConfigValue::Text(text) if text == "full" => reader.agent.prompt_cache = true,
        ConfigValue::Text(text) if text == "none" => reader.agent.prompt_cache = false,
        _ => reader.values.add_type(key, node, "full or none: the provider's prompt cache"),
    }),
    key("toolOutput", "{enabled, storeDir, maxChunks, …}", |reader, key, node| {
        const KNOWN: [&str; 6] = [
            "enabled", "storeDir", "maxChunks", "overlapPercent", "avgLineBytesThreshold", "models",
        ];
        for (name, node) in reader.values.table(key, node).into_iter().flatten() {
            let full = format!("{key}.{name}");
            if name == "enabled" {
                let enabled = reader.values.boolean(&full, node);
                reader.agent.keeps_large_outputs = enabled.unwrap_or(false);
            } else if !KNOWN.iter().any(|known| name == known || *name == snake_case(known)) {
                let known = KNOWN.map(|it| format!("{key}.{it}"));
                let message =
                    unknown_key_message(&full, known.iter().map(String::as_str), ALL_KEYS);
                reader.values.add(&full, node, message);
            }
        }
    }),
];

/// Keys that only our own files have.
pub(super) static OWN_KEYS: [AgentKey; 14] = [
    key("name", "text", read_name),
    key("model", "provider/model", read_models),
    key(
        "provider",
        "a provider's name, for models that are named without one",
        |reader, key, node| {
            reader.provider = reader.values.text(key, node, "a provider's name");
        },
    ),
    key("mcp_servers", "a table for each server, as in the configuration", |reader, key, node| {
        for (name, node) in reader.values.table(key, node).into_iter().flatten() {
            let full = format!("{key}.{name}");
            let before = reader.values.problems.len();
            let server = read_server(name, &full, node, &mut reader.values);
            for (entry, node) in reader.values.table(&full, node).into_iter().flatten() {
                if !SERVER_DEFINITION_KEYS.iter().any(|it| entry == it || *entry == snake_case(it))
                {
                    let known =
                        SERVER_DEFINITION_KEYS.map(|it| format!("{full}.{}", snake_case(it)));
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    reader.values.add_unknown(&format!("{full}.{entry}"), node, &known);
                }
            }
            match server {
                Some(mut server) => {
                    reader.demands.push((full.clone(), describe_server(&server)));
                    if !server.is_enabled {
                        let message = format!("{name} cannot be used: {full}.enabled is false");
                        reader.values.add(&full, node, message);
                    }
                    if let Err(message) = expand_own_server(&mut server) {
                        reader.values.add(&full, node, message);
                    }
                    reader.agent.servers.push(server);
                }
                None if reader.values.problems.len() == before => {
                    reader.values.add(&full, node, "a server needs a command or a url");
                }
                None => {}
            }
        }
    }),
    key("memory", "true or false", |reader, key, node| {
        reader.agent.memory = reader.values.boolean(key, node).unwrap_or(false);
    }),
    key("sources", "paths and globs", |reader, key, node| {
        let texts = reader.values.texts(key, node, "a list of paths and globs");
        reader.agent.sources = texts.into_iter().flatten().map(|(text, _)| text).collect();
    }),
    key("key", "text, with variables", |reader, key, node| {
        reader.agent.cache_key = reader.values.text(key, node, "text");
    }),
    key("tags", "a list of texts", read_tags),
    key("history", "ignore", |reader, key, node| match &node.value {
        ConfigValue::Text(text) if text == "ignore" => reader.agent.ignores_history = true,
        _ => reader.values.add_type(key, node, "ignore"),
    }),
    key("max_time", "milliseconds, or a duration such as 10m", |reader, key, node| {
        reader.agent.limits.max_time = reader.values.time_limit(key, node);
    }),
    key("max_tokens", COUNT, |reader, key, node| {
        reader.agent.limits.max_tokens = reader.values.count(key, node).map(u64::from);
    }),
    key("max_cost", "dollars", |reader, key, node| {
        let dollars = reader.values.number(key, node);
        reader.agent.limits.max_cost = dollars.and_then(to_micro_dollars);
    }),
    key("max_repeats", "a whole number", |reader, key, node| {
        reader.agent.max_repeats = reader.values.count_or_zero(key, node).unwrap_or(0);
    }),
    key("schedule", "(not supported)", |reader, key, node| {
        reader.values.add(key, node, "schedules are not run here: call `recoup run` from cron");
    }),
];

pub(super) fn read_name(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    if let Some(name) = reader.values.text(key, node, "text") {
        reader.agent.tool_name = tool_name_of(&name);
        reader.agent.name = name;
    }
}

pub(super) fn read_models(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    let expected = "provider/model, a list of them, or several separated by commas";
    for (text, line) in reader.values.texts(key, node, expected).into_iter().flatten() {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        reader.models.extend(names.map(|name| (name.to_owned(), line, key.to_owned())));
    }
}

pub(super) fn read_tools(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    for (text, line) in reader.values.texts(key, node, "a list of names").into_iter().flatten() {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        reader.agent.tools.extend(names.map(|name| NamedTool { name: name.to_owned(), line }));
    }
}

pub(super) fn read_tags(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    let texts = reader.values.texts(key, node, "a list of texts");
    reader.agent.tags = texts.into_iter().flatten().map(|(text, _)| text).collect();
}

fn read_references(
    reader: &mut AgentFileReader<'_>,
    key: &str,
    node: &ConfigNode,
    role: ReferenceRole,
) {
    for (path, line) in reader.values.texts(key, node, "a list of paths").into_iter().flatten() {
        reader.note_agent_path(key, &path);
        reader.references.push(AgentReference { role, path, line, key: key.to_owned() });
    }
}

/// True for the words that mean: do not send it.
fn is_unset(node: &ConfigNode) -> bool {
    match &node.value {
        ConfigValue::Null => true,
        ConfigValue::Text(text) => {
            let word = text.to_ascii_lowercase();
            matches!(word.as_str(), "none" | "off" | "unset" | "default" | "null")
        }
        _ => false,
    }
}

pub(super) fn read_sampling(
    reader: &mut AgentFileReader<'_>,
    key: &str,
    node: &ConfigNode,
) -> Option<f64> {
    if is_unset(node) { None } else { reader.values.number(key, node) }
}

pub(super) fn read_reasoning(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    let word = match &node.value {
        ConfigValue::Text(text) => text.to_ascii_lowercase(),
        ConfigValue::Bool(true) => "medium".to_owned(),
        ConfigValue::Bool(false) | ConfigValue::Null => "none".to_owned(),
        ConfigValue::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let reasoning = match word.as_str() {
        "none" | "off" | "unset" | "default" | "no" | "0" => None,
        "minimal" => Some(Reasoning::Minimal),
        "low" => Some(Reasoning::Low),
        "medium" | "on" | "yes" => Some(Reasoning::Medium),
        "high" => Some(Reasoning::High),
        number => {
            let Ok(tokens) = number.parse() else {
                let expected = "none, minimal, low, medium, high, or a number of tokens";
                return reader.values.add_type(key, node, expected);
            };
            Some(Reasoning::Tokens(tokens))
        }
    };
    reader.agent.reasoning = reasoning;
}

/// A time limit whose bare numbers are seconds.
pub(super) fn read_seconds(
    reader: &mut AgentFileReader<'_>,
    key: &str,
    node: &ConfigNode,
) -> Option<Duration> {
    let limit = match &node.value {
        ConfigValue::Number(number) => {
            number.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        }
        ConfigValue::Text(text) => {
            let ttl = Ttl::parse_with_unit(key, text).ok();
            ttl.and_then(Ttl::as_millis).map(Duration::from_millis)
        }
        _ => None,
    };
    let limit = limit.filter(|limit| !limit.is_zero());
    if limit.is_none() {
        reader.values.add_type(key, node, "a number of seconds or a duration such as 30s");
    }
    limit
}
