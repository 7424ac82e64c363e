//! The keys of `.agent.md` and `.lifecycle.yaml`, two formats that belong together. Keys of theirs that
//! have no meaning here are noticed, with a remedy.

use recoup_core::cache::Ttl;

use super::ALL_KEYS;
use super::ai_keys::{
    AgentKey, COUNT, key, read_models, read_name, read_reasoning, read_sampling, read_seconds,
    read_tags, read_tools,
};
use super::prompt_sections::PromptSection;
use super::reader::{AgentFileReader, AgentReference, ReferenceRole};
use crate::agents::agent_file::{DeclaredOutput, UserTurn};
use crate::config::{ConfigNode, ConfigValue, YamlSource, read_yaml, unknown_key_message};

const SECONDS: &str = "seconds, or a duration such as 30s";
const NOT_RUN: &str = "schedules and queues are not run here: `recoup run` runs the agent once; call \
                       it from cron or from what fills the queue";

pub(super) static AGENT_MD_KEYS: [AgentKey; 16] = [
    key("name", "text; required", read_name),
    key("description", "text", |reader, key, node| {
        reader.agent.description = reader.values.text(key, node, "text");
    }),
    key("model", "a model, or provider/model", read_models),
    key("max_tokens", COUNT, |reader, key, node| {
        let limit = &mut reader.agent.limits.max_output_tokens;
        *limit = reader.values.count(key, node).unwrap_or(*limit);
    }),
    key("completion_reserve", "(without effect)", |_, _, _| {}),
    key("timeout", SECONDS, |reader, key, node| {
        let limit = read_seconds(reader, key, node);
        reader.agent.limits.llm_timeout = limit.unwrap_or(reader.agent.limits.llm_timeout);
    }),
    key("tool_timeout", SECONDS, |reader, key, node| {
        let limit = read_seconds(reader, key, node);
        reader.agent.limits.tool_timeout = limit.unwrap_or(reader.agent.limits.tool_timeout);
    }),
    key("temperature", "a number, or none", |reader, key, node| {
        reader.agent.sampling.temperature = read_sampling(reader, key, node);
    }),
    key("enabled", "true or false", |reader, key, node| {
        if reader.values.boolean(key, node) == Some(false) {
            let message =
                "the agent is disabled for its own program; `recoup run` runs it nevertheless";
            reader.add_notice(key, node, message);
        }
    }),
    key("tags", "a list of texts", read_tags),
    key("skills", "(not supported)", |reader, key, node| {
        let message =
            "skills are not loaded here: put their text into the prompt with {% include %}";
        reader.add_notice(key, node, message);
    }),
    key("toolsets", "names of MCP servers and REST tools", read_tools),
    key("tool_rounds", COUNT, |reader, key, node| {
        let limit = &mut reader.agent.limits.max_turns;
        *limit = reader.values.count(key, node).unwrap_or(*limit);
    }),
    key("thinking", "true or false, low, medium, high, or a number of tokens", read_reasoning),
    key("schedule", "(not run)", read_schedule),
    key("queue_input", "(not run)", |reader, key, node| reader.add_notice(key, node, NOT_RUN)),
];

pub(super) static LIFECYCLE_KEYS: [AgentKey; 12] = [
    // Read first, by `lifecycle_agent`.
    key("agent", "the path of an .agent.md file", |reader, key, node| {
        if let Some(path) = reader.values.text(key, node, "the path of an .agent.md file") {
            reader.note_agent_path(key, &path);
        }
    }),
    key("schedule", "(not run)", read_schedule),
    key("name", "text", read_name),
    key("model", "a model, or provider/model", read_models),
    key("prompt", "text", read_prompts),
    key("prompts", "a list of texts: the user's turns", read_prompts),
    key("parameters", "a table of values", |reader, key, node| {
        let parameters = reader.values.text_map(key, node);
        reader.agent.parameters = parameters.into_iter().flatten().collect();
    }),
    key("cache", "{enabled, ttl in seconds or a duration, key}", read_cache),
    key("output", "a list of {type: file or http, path, url, method, headers}", read_outputs),
    key("hooks", "{pre_run, post_success, post_error}: commands", |reader, key, node| {
        for (name, node) in reader.values.table(key, node).into_iter().flatten() {
            let full = format!("{key}.{name}");
            let hooks = &mut reader.agent.hooks;
            let commands = match name.as_str() {
                "pre_run" => &mut hooks.pre_run,
                "post_success" => &mut hooks.post_success,
                "post_error" => &mut hooks.post_error,
                _ => {
                    let known = ["hooks.pre_run", "hooks.post_success", "hooks.post_error"];
                    let message = unknown_key_message(&full, known.into_iter(), ALL_KEYS);
                    reader.add_notice(&full, node, &message);
                    continue;
                }
            };
            let texts = reader.values.texts(&full, node, "a command, or a list of them");
            *commands = texts.into_iter().flatten().map(|(text, _)| text).collect();
            reader.demands.push((full, commands.join("; ")));
        }
    }),
    key("instances", "a list of {name, parameters}: the first one runs", |reader, key, node| {
        let ConfigValue::List(items) = &node.value else {
            return reader.values.add_type(key, node, "a list of instances");
        };
        let Some(first) = items.first() else { return };
        for (name, node) in reader.values.table(key, first).into_iter().flatten() {
            let full = format!("{key}[0].{name}");
            match name.as_str() {
                "parameters" => {
                    for (name, value) in reader.values.text_map(&full, node).into_iter().flatten() {
                        reader.agent.parameters.retain(|(known, _)| *known != name);
                        reader.agent.parameters.push((name, value));
                    }
                }
                "prompt" | "prompts" => read_prompts(reader, &full, node),
                "schedule" => read_schedule(reader, &full, node),
                _ => {}
            }
        }
        if items.len() > 1 {
            let message = format!(
                "only the first of {} instances runs; run the others with --var NAME=VALUE",
                items.len()
            );
            reader.add_notice(key, node, &message);
        }
    }),
    key("max_repeats", "a whole number", |reader, key, node| {
        reader.agent.max_repeats = reader.values.count_or_zero(key, node).unwrap_or(0);
    }),
];

/// The agent that a life cycle is for; none if the file does not say it readably.
pub(super) fn lifecycle_agent(text: &str) -> Option<AgentReference> {
    let document = read_yaml(text, YamlSource::AgentFile).ok()?;
    let node = document.at(&["agent"])?;
    let ConfigValue::Text(path) = &node.value else { return None };
    let (path, line, key) = (path.clone(), node.line, "agent".to_owned());
    Some(AgentReference { role: ReferenceRole::Agent, path, line, key })
}

/// Header of a further turn in an `.agent.md`.
pub(super) struct TurnHeader {
    pub(super) clear: bool,
    /// True if it names tools of its own.
    pub(super) narrows_tools: bool,
}

/// The header that a section is, if it has nothing but a header's keys.
pub(super) fn read_turn_header(section: &PromptSection) -> Option<TurnHeader> {
    let document = read_yaml(&section.text, YamlSource::AgentFile).ok()?;
    let ConfigValue::Table(entries) = &document.value else { return None };
    let is_known = |name: &str| matches!(name, "skills" | "toolsets" | "tools" | "clear");
    if entries.is_empty() || !entries.iter().all(|(name, _)| is_known(name)) {
        return None;
    }
    let clear = document.at(&["clear"]).is_some_and(|node| match &node.value {
        ConfigValue::Bool(value) => *value,
        ConfigValue::Text(text) => matches!(text.as_str(), "yes" | "on"),
        _ => false,
    });
    Some(TurnHeader { clear, narrows_tools: entries.iter().any(|(name, _)| name != "clear") })
}

fn read_schedule(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    reader.add_notice(key, node, NOT_RUN);
    if let ConfigValue::Text(schedule) = &node.value {
        reader.agent.parameters.retain(|(name, _)| name != "schedule");
        reader.agent.parameters.push(("schedule".to_owned(), schedule.clone()));
    }
}

/// The user's turns, which replace those of the agent's file.
fn read_prompts(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    let turns = match &node.value {
        ConfigValue::List(items) => {
            let text = |item: &ConfigNode| match &item.value {
                ConfigValue::Text(text) => Some(text.clone()),
                _ => match item.at(&["prompt"])?.value {
                    ConfigValue::Text(ref text) => Some(text.clone()),
                    _ => None,
                },
            };
            items.iter().map(text).collect::<Option<Vec<String>>>()
        }
        ConfigValue::Text(text) => Some(vec![text.clone()]),
        _ => None,
    };
    let Some(turns) = turns else {
        return reader.values.add_type(key, node, "text, or a list of texts");
    };
    let turn = |text: String| UserTurn { text: text.trim().to_owned(), clear: false };
    reader.agent.turns = turns.into_iter().map(turn).collect();
}

fn read_cache(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    let (mut is_enabled, mut ttl) = (true, None);
    for (name, node) in reader.values.table(key, node).into_iter().flatten() {
        let full = format!("{key}.{name}");
        match name.as_str() {
            "enabled" => is_enabled = reader.values.boolean(&full, node).unwrap_or(true),
            "ttl" => {
                let number = match &node.value {
                    ConfigValue::Number(number) => number.as_u64(),
                    ConfigValue::Text(text) => text.trim().parse().ok(),
                    _ => None,
                };
                ttl = match number {
                    Some(seconds) => {
                        let message =
                            format!("{seconds} means seconds in this file, as in its program");
                        reader.add_notice(&full, node, &message);
                        let ttl = seconds.checked_mul(1000).and_then(Ttl::from_millis);
                        if ttl.is_none() {
                            reader.values.add_type(&full, node, "a number of seconds");
                        }
                        ttl
                    }
                    None => reader.values.ttl(&full, node),
                };
            }
            "key" => reader.agent.cache_key = reader.values.text(&full, node, "text"),
            _ => {
                let known = ["cache.enabled", "cache.ttl", "cache.key"];
                let message = unknown_key_message(&full, known.into_iter(), ALL_KEYS);
                reader.add_notice(&full, node, &message);
            }
        }
    }
    reader.agent.cache = if is_enabled { ttl } else { Some(Ttl::Off) };
    if is_enabled && ttl.is_none() {
        let message = "without a ttl nothing is cached, unless `--cache` says for how long";
        reader.add_notice(key, node, message);
    }
}

fn read_outputs(reader: &mut AgentFileReader<'_>, key: &str, node: &ConfigNode) {
    let items = match &node.value {
        ConfigValue::List(items) => items.iter().collect(),
        ConfigValue::Table(_) => vec![node],
        _ => return reader.values.add_type(key, node, "a list of outputs"),
    };
    for (at, item) in items.into_iter().enumerate() {
        let full = format!("{key}[{at}]");
        let (mut kind, mut path, mut url) = (None, None, None);
        let (mut method, mut headers) = ("POST".to_owned(), Vec::new());
        let Some(entries) = reader.values.table(&full, item) else { continue };
        for (name, node) in entries {
            let full = format!("{full}.{name}");
            let values = &mut reader.values;
            match name.as_str() {
                "type" => kind = values.text(&full, node, "file or http"),
                "path" => path = values.text(&full, node, "a path"),
                "url" => url = values.text(&full, node, "a URL"),
                "method" => {
                    let given = values.text(&full, node, "POST or PUT");
                    method = given.map_or(method, |it| it.to_uppercase());
                }
                "headers" => {
                    headers =
                        values.text_map(&full, node).unwrap_or_default().into_iter().collect();
                }
                _ => {
                    let known = ["type", "path", "url", "method", "headers"];
                    let message = unknown_key_message(name, known.into_iter(), ALL_KEYS);
                    reader.add_notice(&full, node, &message);
                }
            }
        }
        let output = match (kind.as_deref(), path, url) {
            (Some("file"), Some(path), _) => DeclaredOutput::File { path },
            (Some("http"), _, Some(url)) => DeclaredOutput::Http { url, method, headers },
            _ => {
                let expected = "expected type file with a path, or type http with a url";
                reader.values.add(&full, item, expected);
                continue;
            }
        };
        let shown = match &output {
            DeclaredOutput::File { path } => path.clone(),
            DeclaredOutput::Http { url, method, .. } => format!("{method} {url}"),
        };
        reader.demands.push((full, shown));
        reader.agent.outputs.push(output);
    }
}
