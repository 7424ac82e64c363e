//! Anthropic's Messages (<https://docs.anthropic.com/en/api/messages>).

use serde_json::{Value, json};

use super::chat::{
    ChatMessage, ChatRequest, Reasoning, ReplyBlock, StopReason, TokenUsage, ToolCallRequest,
};
use super::http::{ApiFault, ApiRequest};
use super::wire::{
    AnswerEnd, AnswerStream, ChatOptions, ModelAnswer, StreamStep, append_text, parse_arguments,
    parse_event, stream_fault,
};

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// Smallest budget for thinking that the API takes.
const MIN_THINKING_TOKENS: u32 = 1_024;

pub(super) fn chat_request(
    model: &str,
    request: &ChatRequest,
    options: &ChatOptions<'_>,
) -> ApiRequest {
    let messages: Vec<Value> = request.messages.iter().filter_map(message_json).collect();
    let mut body = json!({
        "model": model, "max_tokens": request.max_output_tokens, "messages": messages,
    });
    if options.is_streamed {
        body["stream"] = true.into();
    }
    let cached = json!({ "type": "ephemeral" });
    if !request.system.is_empty() {
        body["system"] = if request.prompt_cache {
            json!([{ "type": "text", "text": request.system, "cache_control": cached }])
        } else {
            request.system.clone().into()
        };
    }
    if !request.tools.is_empty() {
        body["tools"] = serde_json::to_value(&request.tools).unwrap_or_default();
        if let Some(last) = body["tools"].as_array_mut().and_then(|tools| tools.last_mut())
            && request.prompt_cache
        {
            last["cache_control"] = cached;
        }
    }
    if let Some(name) = options.forced_tool {
        body["tool_choice"] = json!({ "type": "tool", "name": name });
    }
    let rejections = options.rejections("thinking");
    let thinks = request.reasoning.is_some_and(|it| add_thinking(&mut body, it, rejections));
    // With thinking, the API takes no other way to choose tokens.
    if !thinks {
        let sampling = &request.sampling;
        options.set(&mut body, "temperature", sampling.temperature);
        options.set(&mut body, "top_p", sampling.top_p);
        options.set(&mut body, "top_k", sampling.top_k);
    }
    ApiRequest {
        path: "v1/messages",
        headers: &[("anthropic-version", "2023-06-01")],
        key_header: ("x-api-key", ""),
        body,
        max_bytes: MAX_ANSWER_BYTES,
    }
}

/// Asks for thinking. Models until Claude 4.5 take a budget only, later ones an effort, and the latest
/// no budget: what was rejected once is said in the other form. False if both were rejected.
fn add_thinking(body: &mut Value, reasoning: Reasoning, rejections: usize) -> bool {
    let (effort, budget) = match reasoning {
        Reasoning::Minimal => ("low", MIN_THINKING_TOKENS),
        Reasoning::Low => ("low", 2_048),
        Reasoning::Medium => ("medium", 8_192),
        Reasoning::High => ("high", 16_384),
        Reasoning::Tokens(tokens) => match tokens {
            0..4_096 => ("low", tokens.max(MIN_THINKING_TOKENS)),
            4_096..16_384 => ("medium", tokens),
            _ => ("high", tokens),
        },
    };
    let prefers_budget = matches!(reasoning, Reasoning::Tokens(_));
    if rejections > 1 {
        return false;
    }
    if prefers_budget == (rejections == 0) {
        body["thinking"] = json!({ "type": "enabled", "budget_tokens": budget });
    } else {
        body["thinking"] = json!({ "type": "adaptive" });
        body["output_config"] = json!({ "effort": effort });
    }
    // The API counts thinking as output; the limit that was asked for is the answer's.
    let answer = body["max_tokens"].as_u64().unwrap_or_default();
    body["max_tokens"] = (answer + u64::from(budget)).into();
    true
}

/// A message as the API has it; none if there is nothing in it.
fn message_json(message: &ChatMessage) -> Option<Value> {
    let (role, content) = match message {
        ChatMessage::User(text) => return Some(json!({ "role": "user", "content": text })),
        ChatMessage::Assistant(blocks) => {
            let blocks = blocks.iter().filter_map(|block| match block {
                // The API refuses empty text.
                ReplyBlock::Text { text } if text.is_empty() => None,
                ReplyBlock::Text { text } => Some(json!({ "type": "text", "text": text })),
                ReplyBlock::ToolCall(ToolCallRequest { id, name, arguments }) => {
                    let input = match arguments {
                        Value::Object(_) => arguments.clone(),
                        other => json!({ "INVALID_JSON": other }),
                    };
                    Some(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
                }
                // Other APIs' blocks have no type.
                ReplyBlock::Opaque { block } => block.get("type").map(|_| block.clone()),
            });
            ("assistant", blocks.collect::<Vec<_>>())
        }
        ChatMessage::ToolResults(results) => {
            let results = results.iter().map(|result| {
                json!({
                    "type": "tool_result", "tool_use_id": result.id, "content": result.text,
                    "is_error": result.is_error,
                })
            });
            ("user", results.collect())
        }
    };
    (!content.is_empty()).then(|| json!({ "role": role, "content": content }))
}

/// Reads an answer; none if it is not one of this API.
pub(super) fn read_message(body: &Value) -> Option<ModelAnswer> {
    let mut blocks = Vec::new();
    for block in body.get("content")?.as_array()? {
        let text = |field: &str| block.get(field).and_then(Value::as_str).map(str::to_owned);
        blocks.push(match block.get("type").and_then(Value::as_str)? {
            "text" => ReplyBlock::Text { text: text("text")? },
            "tool_use" => ReplyBlock::ToolCall(ToolCallRequest {
                id: text("id")?,
                name: text("name")?,
                arguments: block.get("input")?.clone(),
            }),
            _ => ReplyBlock::Opaque { block: block.clone() },
        });
    }
    let calls = blocks.iter().any(|block| matches!(block, ReplyBlock::ToolCall(_)));
    let end = match body.get("stop_reason").and_then(Value::as_str) {
        Some("pause_turn") => AnswerEnd::Paused,
        Some("max_tokens" | "model_context_window_exceeded") => AnswerEnd::Stop(StopReason::Length),
        Some("refusal") => AnswerEnd::Stop(StopReason::Refused),
        Some("end_turn" | "stop_sequence" | "tool_use") if calls => {
            AnswerEnd::Stop(StopReason::ToolCalls)
        }
        Some("end_turn" | "stop_sequence" | "tool_use") => AnswerEnd::Stop(StopReason::End),
        _ => AnswerEnd::Cut,
    };
    let count = |field: &str| body.get("usage")?.get(field)?.as_u64();
    let cached_input = count("cache_read_input_tokens").unwrap_or(0);
    let written = count("cache_creation_input_tokens").unwrap_or(0);
    let usage = count("input_tokens").zip(count("output_tokens")).map(|(input, output)| {
        let input = input.saturating_add(cached_input).saturating_add(written);
        TokenUsage { input, output, cached_input }
    });
    Some(ModelAnswer { blocks, end, usage })
}

/// A message that is put together from its events.
#[derive(Debug, Default)]
pub(super) struct MessageStream {
    /// Null until it begins.
    message: Value,
    /// Inputs of tools so far, by the index of their block.
    inputs: Vec<(u64, String)>,
}

impl AnswerStream for MessageStream {
    fn push(&mut self, data: &str) -> Result<StreamStep, ApiFault> {
        let mut event = parse_event(data)?;
        let index = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.message = event["message"].take();
                if !self.message["content"].is_array() {
                    return Err(out_of_order());
                }
            }
            "content_block_start" => {
                let content = self.message.get_mut("content").and_then(Value::as_array_mut);
                let Some(content) = content else { return Err(out_of_order()) };
                if content.len() as u64 != index || !event["content_block"].is_object() {
                    return Err(out_of_order());
                }
                content.push(event["content_block"].take());
            }
            "content_block_delta" => return self.add_delta(index, &event["delta"]),
            "content_block_stop" => {
                let finished = self.inputs.iter().find(|(at, _)| *at == index);
                if let Some((_, input)) = finished {
                    let input = parse_arguments(input);
                    self.block(index)?["input"] = input;
                }
            }
            "message_delta" => {
                let Some(message) = self.message.as_object_mut() else {
                    return Err(out_of_order());
                };
                // What is null here was said at the beginning.
                let said = |mut part: Value| {
                    let fields = part.as_object_mut().map(std::mem::take).unwrap_or_default();
                    fields.into_iter().filter(|(_, value)| !value.is_null())
                };
                message.extend(said(event["delta"].take()));
                let usage = message.entry("usage").or_insert_with(|| json!({}));
                if let Some(usage) = usage.as_object_mut() {
                    usage.extend(said(event["usage"].take()));
                }
            }
            "message_stop" if self.message.is_object() => {
                return Ok(StreamStep::Complete(self.message.take()));
            }
            "error" => {
                let status = match event.pointer("/error/type").and_then(Value::as_str) {
                    Some("invalid_request_error" | "request_too_large") => 400,
                    Some("authentication_error") => 401,
                    Some("billing_error") => 402,
                    Some("permission_error") => 403,
                    Some("not_found_error") => 404,
                    Some("rate_limit_error") => 429,
                    _ => 529,
                };
                let said = event.pointer("/error/message").and_then(Value::as_str);
                return Err(stream_fault(status, said.unwrap_or("unknown")));
            }
            // Pings, and what later versions add.
            _ => {}
        }
        Ok(StreamStep::Nothing)
    }
}

impl MessageStream {
    fn block(&mut self, index: u64) -> Result<&mut Value, ApiFault> {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let content = self.message.get_mut("content").and_then(Value::as_array_mut);
        content.and_then(|content| content.get_mut(index)).ok_or_else(out_of_order)
    }

    fn add_delta(&mut self, index: u64, delta: &Value) -> Result<StreamStep, ApiFault> {
        let block = self.block(index)?;
        let text = |field: &str| delta[field].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                append_text(block, "text", text("text"));
                return Ok(StreamStep::Text(text("text").to_owned()));
            }
            "thinking_delta" => append_text(block, "thinking", text("thinking")),
            "signature_delta" => append_text(block, "signature", text("signature")),
            "citations_delta" => match &mut block["citations"] {
                Value::Array(citations) => citations.push(delta["citation"].clone()),
                other => *other = json!([delta["citation"]]),
            },
            "input_json_delta" => match self.inputs.iter_mut().find(|(at, _)| *at == index) {
                Some((_, input)) => input.push_str(text("partial_json")),
                None => self.inputs.push((index, text("partial_json").to_owned())),
            },
            _ => {}
        }
        Ok(StreamStep::Nothing)
    }
}

fn out_of_order() -> ApiFault {
    ApiFault::invalid("the events of the model's answer are out of order")
}
