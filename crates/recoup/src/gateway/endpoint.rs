//! Endpoints of model APIs whose answers can be cached, and what their requests and answers say.

use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::prices::anthropic_input;
use crate::config::{GatewayCacheRule, TokenPrice};
use crate::llm::ModelProvider;

/// An endpoint whose answers can be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ApiEndpoint {
    /// `/v1/messages`.
    Messages,
    /// `/v1/messages/count_tokens`.
    CountTokens,
    /// `/v1/chat/completions`.
    ChatCompletions,
    /// `/v1/responses`.
    Responses,
    /// `/v1/embeddings`.
    Embeddings,
    /// `/v1/models`.
    Models,
}

/// Tokens that an answer used, as the API counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AnswerTokens {
    pub(super) input: u64,
    pub(super) output: u64,
    /// Input tokens that the provider read from its own prompt cache, and that it wrote there.
    pub(super) cache_read: u64,
    pub(super) cache_written: u64,
    /// Written tokens that it keeps for an hour, at a higher price.
    #[serde(default)]
    pub(super) written_for_hour: u64,
    /// True if the API does not say how many it used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_estimated: bool,
}

impl AnswerTokens {
    /// Cost in millionths of a dollar. Anthropic's cached input has prices of its own; other APIs' counts
    /// in full, because it differs from model to model.
    pub(super) fn cost(self, endpoint: ApiEndpoint, price: TokenPrice) -> u64 {
        let Self { input, output, cache_read, cache_written, written_for_hour, is_estimated: _ } =
            self;
        let input = match endpoint {
            ApiEndpoint::Messages => {
                let plain = input.saturating_sub(cache_read).saturating_sub(cache_written);
                anthropic_input(plain, cache_read, cache_written, written_for_hour)
            }
            _ => input,
        };
        price.cost(input, output)
    }
}

impl ApiEndpoint {
    /// The endpoint of a request; none for one that only passes.
    pub(super) fn of(api: ModelProvider, method: &Method, path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if *method == Method::GET {
            return path.ends_with("/models").then_some(Self::Models);
        }
        if *method != Method::POST {
            return None;
        }
        match api {
            ModelProvider::Anthropic if path.ends_with("/v1/messages") => Some(Self::Messages),
            ModelProvider::Anthropic if path.ends_with("/v1/messages/count_tokens") => {
                Some(Self::CountTokens)
            }
            ModelProvider::Anthropic => None,
            ModelProvider::OpenAi => [
                ("/chat/completions", Self::ChatCompletions),
                ("/responses", Self::Responses),
                ("/embeddings", Self::Embeddings),
            ]
            .into_iter()
            .find_map(|(end, endpoint)| path.ends_with(end).then_some(endpoint)),
        }
    }

    /// True if its answers cost nothing.
    pub(super) fn is_free(self) -> bool {
        matches!(self, Self::CountTokens | Self::Models)
    }

    /// Reason why a request is never cached; none if it may be.
    pub(super) fn never_cached(
        self,
        body: &Map<String, Value>,
        rule: &GatewayCacheRule,
    ) -> Option<&'static str> {
        let is_set = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
        let is_true = |name: &str| body.get(name) == Some(&Value::Bool(true));
        if is_set("previous_response_id") || is_set("conversation") {
            Some("it continues a conversation that the provider keeps")
        } else if is_true("store") {
            Some("the provider is to store it")
        } else if is_true("background") {
            Some("it runs in the background")
        } else if !rule.keeps_server_tools && self.uses_server_tools(body) {
            Some("it uses tools that run at the provider")
        } else {
            None
        }
    }

    /// True if a tool runs at the provider, or if it is not known where it runs.
    fn uses_server_tools(self, body: &Map<String, Value>) -> bool {
        let is_filled = |name: &str| match body.get(name) {
            None | Some(Value::Null) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(_) => true,
        };
        let runs_at_client = |tool: &Value| match (self, tool["type"].as_str()) {
            (Self::Messages | Self::CountTokens, Some(kind)) => {
                kind == "custom"
                    || ["bash_", "text_editor_", "memory_"].iter().any(|it| kind.starts_with(it))
            }
            (Self::Messages | Self::CountTokens, None) => true,
            (_, kind) => matches!(
                kind,
                Some("function" | "custom" | "local_shell" | "shell" | "apply_patch")
            ),
        };
        let tools = body.get("tools").and_then(Value::as_array);
        is_filled("mcp_servers")
            || is_filled("web_search_options")
            || tools.is_some_and(|tools| !tools.iter().all(runs_at_client))
    }

    /// Reason why an answer with this body is not kept; none if it may be.
    pub(super) fn unkept(self, answer: &Value, rule: &GatewayCacheRule) -> Option<&'static str> {
        const CUT: Option<&str> = Some("the answer was cut by the token limit");
        const REFUSED: Option<&str> = Some("the answer was refused or blocked");
        const EMPTY: Option<&str> = Some("the answer is empty");
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        // Anything but a text without words is content.
        let has_content = |blocks: &Value, text_kind: &str| {
            let is_filled = |it: &Value| it["type"] != text_kind || !is_empty(&it["text"]);
            blocks.as_array().is_some_and(|blocks| blocks.iter().any(is_filled))
        };
        match self {
            Self::Messages => match answer["stop_reason"].as_str() {
                None => Some("the answer has no end"),
                Some("refusal") => REFUSED,
                Some("max_tokens" | "model_context_window_exceeded") if !rule.keeps_truncated => {
                    CUT
                }
                Some("pause_turn") => Some("the answer is not finished"),
                Some(_) if !has_content(&answer["content"], "text") => EMPTY,
                Some(_) => None,
            },
            Self::ChatCompletions => {
                let choices = answer["choices"].as_array().map_or(&[][..], Vec::as_slice);
                let unkept = |choice: &Value| {
                    let message = &choice["message"];
                    match choice["finish_reason"].as_str() {
                        None => Some("the answer has no end"),
                        Some("content_filter" | "error") => REFUSED,
                        _ if !is_empty(&message["refusal"]) => REFUSED,
                        Some("length") if !rule.keeps_truncated => CUT,
                        _ if ["content", "tool_calls", "function_call", "audio"]
                            .iter()
                            .all(|field| is_empty(&message[*field])) =>
                        {
                            EMPTY
                        }
                        _ => None,
                    }
                };
                if choices.is_empty() { EMPTY } else { choices.iter().find_map(unkept) }
            }
            Self::Responses => {
                let output = answer["output"].as_array().map_or(&[][..], Vec::as_slice);
                let contents = || output.iter().filter_map(|item| item["content"].as_array());
                if answer["status"] != "completed" {
                    Some("the answer is not complete")
                } else if !output.iter().any(|item| match item["type"].as_str() {
                    Some("message") => has_content(&item["content"], "output_text"),
                    Some("reasoning") => false,
                    _ => true,
                }) {
                    EMPTY
                } else if contents().flatten().any(|part| part["type"] == "refusal") {
                    REFUSED
                } else {
                    None
                }
            }
            Self::Embeddings | Self::Models if is_empty(&answer["data"]) => EMPTY,
            Self::CountTokens if !answer["input_tokens"].is_u64() => EMPTY,
            Self::Embeddings | Self::Models | Self::CountTokens => None,
        }
    }

    /// Tokens that an answer with this body used. Counting tokens is free.
    pub(super) fn usage(self, answer: &Value) -> AnswerTokens {
        let usage = &answer["usage"];
        let count = |value: &Value| value.as_u64().unwrap_or_default();
        match self {
            Self::Messages => {
                let cache_read = count(&usage["cache_read_input_tokens"]);
                let cache_written = count(&usage["cache_creation_input_tokens"]);
                let input = count(&usage["input_tokens"]) + cache_read + cache_written;
                let output = count(&usage["output_tokens"]);
                let hour = &usage["cache_creation"]["ephemeral_1h_input_tokens"];
                let written_for_hour = count(hour);
                let is_estimated = false;
                AnswerTokens {
                    input,
                    output,
                    cache_read,
                    cache_written,
                    written_for_hour,
                    is_estimated,
                }
            }
            Self::ChatCompletions | Self::Embeddings => AnswerTokens {
                input: count(&usage["prompt_tokens"]),
                output: count(&usage["completion_tokens"]),
                cache_read: count(&usage["prompt_tokens_details"]["cached_tokens"]),
                ..AnswerTokens::default()
            },
            Self::Responses => AnswerTokens {
                input: count(&usage["input_tokens"]),
                output: count(&usage["output_tokens"]),
                cache_read: count(&usage["input_tokens_details"]["cached_tokens"]),
                ..AnswerTokens::default()
            },
            Self::CountTokens | Self::Models => AnswerTokens::default(),
        }
    }
}
