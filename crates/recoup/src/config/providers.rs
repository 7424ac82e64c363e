//! Providers of models for agents: the built-in ones, and those of the configuration. Keys are read
//! from the environment only.

use super::document::{ConfigNode, ConfigValue};
use super::env;
use super::node_reader::NodeReader;
use super::value::is_variable_name;
use crate::llm::{BaseUrl, ModelProvider};

/// Name of the table.
pub(super) const PROVIDERS: &str = "providers";

/// Names below a provider.
const PROVIDER_KEYS: [&str; 6] = ["type", "provider", "base_url", "baseUrl", "key_env", "apiKey"];

/// A provider of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderDefinition {
    pub(crate) name: String,
    /// The API that it speaks.
    pub(crate) provider: ModelProvider,
    pub(crate) url: BaseUrl,
    /// Environment variable that has the API key.
    pub(crate) key_env: Option<String>,
}

/// Names of the built-in providers.
pub(super) const BUILT_IN_PROVIDERS: [&str; 4] = ["anthropic", "openai", "ollama", "openrouter"];

/// A built-in provider; an error if the variable with its address is wrong.
pub(super) fn built_in_provider(name: &str) -> Option<Result<ProviderDefinition, String>> {
    let (provider, url, key_env, variable) = match name {
        "anthropic" => {
            let url = ModelProvider::Anthropic.default_url();
            let key = env::key_variable(ModelProvider::Anthropic);
            (ModelProvider::Anthropic, url.to_string(), Some(key), Some(env::ANTHROPIC_BASE_URL))
        }
        "openai" => {
            let url = ModelProvider::OpenAi.default_url();
            let key = env::key_variable(ModelProvider::OpenAi);
            (ModelProvider::OpenAi, url.to_string(), Some(key), Some(env::OPENAI_BASE_URL))
        }
        "ollama" => (ModelProvider::OpenAi, "http://127.0.0.1:11434/v1".to_owned(), None, None),
        "openrouter" => {
            let key = env::OPENROUTER_API_KEY.name;
            (ModelProvider::OpenAi, "https://openrouter.ai/api/v1".to_owned(), Some(key), None)
        }
        _ => return None,
    };
    let given = variable.and_then(|variable| env::named_variable(variable.name));
    let url = BaseUrl::parse(given.filter(|it| !it.is_empty()).as_ref().unwrap_or(&url));
    let (name, key_env) = (name.to_owned(), key_env.map(str::to_owned));
    Some(url.map(|url| ProviderDefinition { name, provider, url, key_env }).map_err(|error| {
        format!("{}: {error}", variable.map_or("built-in", |variable| variable.name))
    }))
}

/// Reads a provider; none after a problem.
pub(super) fn read_provider(
    name: &str,
    full: &str,
    node: &ConfigNode,
    is_ours: bool,
    reader: &mut NodeReader,
) -> Option<ProviderDefinition> {
    let entries = reader.table(full, node)?;
    let before = reader.problems.len();
    let (mut kind, mut url, mut key_env) = (None, None, None);
    for (entry, node) in entries {
        let key = format!("{full}.{entry}");
        match entry.as_str() {
            "type" | "provider" => {
                let expected = "anthropic, openai, openai-compatible, ollama or openrouter";
                kind = reader.text(&key, node, expected);
            }
            "base_url" | "baseUrl" => match node.value {
                ConfigValue::Text(ref text) => match BaseUrl::parse(text) {
                    Ok(parsed) => url = Some(parsed),
                    Err(error) => reader.add(&key, node, error.to_string()),
                },
                _ => {
                    reader.add_type(&key, node, "https://HOST/PATH, or http://127.0.0.1:PORT/PATH");
                }
            },
            "key_env" | "apiKey" => {
                let is_name = entry == "key_env";
                let text = match &node.value {
                    ConfigValue::Text(text) if is_name => Some(text.as_str()),
                    ConfigValue::Text(text) => {
                        text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'))
                    }
                    _ => None,
                };
                key_env = text.filter(|text| is_variable_name(text)).map(str::to_owned);
                if key_env.is_none() {
                    // The value is not repeated: it may be the key itself.
                    let expected = if is_name {
                        "expected the name of an environment variable"
                    } else {
                        "keys are read from the environment only: write \"${NAME_OF_A_VARIABLE}\""
                    };
                    reader.add(&key, node, expected);
                }
            }
            _ if is_ours => {
                let known: Vec<_> =
                    PROVIDER_KEYS.iter().map(|key| format!("{full}.{key}")).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                reader.add_unknown(&key, node, &known);
            }
            _ => {}
        }
    }
    if reader.problems.len() > before {
        return None;
    }
    let kind = kind.as_deref().unwrap_or(name);
    let base = match kind {
        "openai-compatible" => built_in_provider("openai"),
        kind => built_in_provider(kind),
    };
    let Some(base) = base else {
        let message = format!(
            "type {kind:?} is not supported: expected anthropic, or openai for an API with chat completions"
        );
        reader.add(full, node, message);
        return None;
    };
    if kind == "openai-compatible" && url.is_none() {
        reader.add(full, node, "a provider of type openai-compatible needs a base_url");
        return None;
    }
    // A built-in provider of another name lends its API, and never its key to another address.
    let (base_url, base_key, provider) = match base {
        Ok(base) => (Some(base.url), base.key_env, base.provider),
        Err(_) => (None, None, ModelProvider::parse(kind)?),
    };
    let key_env = key_env.or_else(|| base_key.filter(|_| url.is_none() || kind == name));
    let url = url.or(base_url).unwrap_or_else(|| provider.default_url());
    Some(ProviderDefinition { name: name.to_owned(), provider, url, key_env })
}
