//! Chat completions (<https://platform.openai.com/docs/api-reference/chat>), as `OpenAI` has them,
//! and Ollama, vLLM, llama.cpp, Mistral, Groq, `OpenRouter` and many others.

use serde_json::{Map, Value, json};

use super::BaseUrl;
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
/// Maximum number of calls in an answer: the index of each comes from the server.
const MAX_TOOL_CALLS: usize = 1_024;
/// Host that has renamed `max_tokens`, and refuses the old name.
const OPENAI_HOST: &str = "api.openai.com";
/// Fields of an answer that some servers want back.
const RETURNED_FIELDS: [&str; 2] = ["reasoning_content", "reasoning_details"];

pub(super) fn chat_request(
    url: &BaseUrl,
    model: &str,
    request: &ChatRequest,
    options: &ChatOptions<'_>,
) -> ApiRequest {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    for message in &request.messages {
        match message {
            ChatMessage::User(text) => messages.push(json!({ "role": "user", "content": text })),
            ChatMessage::Assistant(blocks) => messages.push(assistant_json(blocks, options)),
            ChatMessage::ToolResults(results) => messages.extend(results.iter().map(|result| {
                json!({ "role": "tool", "tool_call_id": result.id, "content": result.text })
            })),
        }
    }
    let mut body = json!({ "model": model, "messages": messages });
    let is_renamed = url.host() == OPENAI_HOST || options.rejections("max_tokens") > 0;
    let limit = if is_renamed { "max_completion_tokens" } else { "max_tokens" };
    body[limit] = request.max_output_tokens.into();
    if options.is_streamed {
        body["stream"] = true.into();
        let usage = Some(json!({ "include_usage": true }));
        options.set(&mut body, "stream_options", usage);
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({
                "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
            });
            json!({ "type": "function", "function": function })
        });
        body["tools"] = tools.collect();
    }
    if let Some(name) = options.forced_tool {
        body["tool_choice"] = json!({ "type": "function", "function": { "name": name } });
    }
    let sampling = &request.sampling;
    options.set(&mut body, "temperature", sampling.temperature);
    options.set(&mut body, "top_p", sampling.top_p);
    options.set(&mut body, "top_k", sampling.top_k);
    options.set(&mut body, "repetition_penalty", sampling.repeat_penalty);
    let json_mode = request.wants_json.then(|| json!({ "type": "json_object" }));
    options.set(&mut body, "response_format", json_mode);
    let effort = request.reasoning.map(|reasoning| match reasoning {
        Reasoning::Minimal => "minimal",
        Reasoning::Low | Reasoning::Tokens(0..4_096) => "low",
        Reasoning::Medium | Reasoning::Tokens(4_096..16_384) => "medium",
        Reasoning::High | Reasoning::Tokens(_) => "high",
    });
    options.set(&mut body, "reasoning_effort", effort);
    ApiRequest {
        path: "chat/completions",
        headers: &[],
        key_header: ("authorization", "Bearer "),
        body,
        max_bytes: MAX_ANSWER_BYTES,
    }
}

fn assistant_json(blocks: &[ReplyBlock], options: &ChatOptions<'_>) -> Value {
    let (mut text, mut calls, mut message) = (String::new(), Vec::new(), Map::new());
    for block in blocks {
        match block {
            ReplyBlock::Text { text: piece } => text.push_str(piece),
            ReplyBlock::ToolCall(ToolCallRequest { id, name, arguments }) => {
                let arguments = match arguments {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let function = json!({ "name": name, "arguments": arguments });
                calls.push(json!({ "id": id, "type": "function", "function": function }));
            }
            ReplyBlock::Opaque { block } => {
                let is_ours = block.get("type").is_none();
                let fields = block.as_object().filter(|_| is_ours).into_iter().flatten();
                let taken = fields.filter(|(field, _)| options.rejections(field) == 0);
                message.extend(taken.map(|(field, value)| (field.clone(), value.clone())));
            }
        }
    }
    message.insert("role".to_owned(), "assistant".into());
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    message.into()
}

/// Reads an answer; none if it is not one of this API.
pub(super) fn read_completion(body: &Value) -> Option<ModelAnswer> {
    let choice = body.get("choices")?.as_array()?.first()?;
    let message = choice.get("message").filter(|message| message.is_object())?;
    let text = |field: &str| {
        let text = message.get(field).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let mut blocks = Vec::new();
    let returned = RETURNED_FIELDS.iter().filter_map(|field| {
        let value = message.get(*field).filter(|value| !value.is_null())?;
        Some(((*field).to_owned(), value.clone()))
    });
    let returned: Map<String, Value> = returned.collect();
    if !returned.is_empty() {
        blocks.push(ReplyBlock::Opaque { block: returned.into() });
    }
    let refusal = text("refusal");
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let said = message.get("content").and_then(Value::as_str).map(str::to_owned);
    // Without calls, an empty text is what the model said.
    let said = said.filter(|text| !text.is_empty() || calls.is_none());
    blocks.extend(said.or(refusal.clone()).map(|text| ReplyBlock::Text { text }));
    for (number, call) in calls.into_iter().flatten().enumerate() {
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let function = call.get("function")?;
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => parse_arguments(text),
            Some(Value::Null) | None => parse_arguments(""),
            // Some servers do not write it as text.
            Some(other) => other.clone(),
        };
        blocks.push(ReplyBlock::ToolCall(ToolCallRequest {
            id: id.map_or_else(|| format!("call_{number}"), str::to_owned),
            name: function.get("name")?.as_str()?.to_owned(),
            arguments,
        }));
    }
    let calls = blocks.iter().any(|block| matches!(block, ReplyBlock::ToolCall(_)));
    let reason = choice.get("finish_reason").filter(|reason| !reason.is_null());
    let end = match reason.map(Value::as_str) {
        Some(Some("length" | "model_length")) => AnswerEnd::Stop(StopReason::Length),
        Some(Some("content_filter")) => AnswerEnd::Stop(StopReason::Refused),
        Some(Some("stop" | "tool_calls" | "function_call")) if refusal.is_some() => {
            AnswerEnd::Stop(StopReason::Refused)
        }
        // Some servers give no reason with calls.
        Some(Some("stop" | "tool_calls" | "function_call")) | None if calls => {
            AnswerEnd::Stop(StopReason::ToolCalls)
        }
        Some(Some("stop" | "tool_calls" | "function_call")) => AnswerEnd::Stop(StopReason::End),
        Some(_) | None => AnswerEnd::Cut,
    };
    let count = |path: &str| body.get("usage")?.pointer(path)?.as_u64();
    let parts = count("/prompt_tokens").zip(count("/completion_tokens"));
    let total = count("/total_tokens").unwrap_or(0);
    let usage = parts.map(|(input, output)| TokenUsage {
        input,
        // Some servers count thinking in the total only.
        output: output.max(total.saturating_sub(input)),
        cached_input: count("/prompt_tokens_details/cached_tokens").unwrap_or(0),
    });
    Some(ModelAnswer { blocks, end, usage })
}

/// A completion that is put together from its chunks.
#[derive(Debug, Default)]
pub(super) struct CompletionStream {
    /// Null until the first choice.
    message: Value,
    calls: Vec<Value>,
    finish_reason: Value,
    usage: Value,
}

impl AnswerStream for CompletionStream {
    fn push(&mut self, data: &str) -> Result<StreamStep, ApiFault> {
        if data.trim() == "[DONE]" {
            if !self.calls.is_empty() {
                self.message["tool_calls"] = std::mem::take(&mut self.calls).into();
            }
            let choice = json!({ "message": self.message, "finish_reason": self.finish_reason });
            return Ok(StreamStep::Complete(json!({ "choices": [choice], "usage": self.usage })));
        }
        let mut event = parse_event(data)?;
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            let status = error.get("code").or_else(|| event.get("code")).and_then(|code| {
                let number = code.as_u64().or_else(|| code.as_str()?.parse().ok());
                number.and_then(|number| u16::try_from(number).ok())
            });
            let said = error.get("message").unwrap_or(error).as_str().unwrap_or("unknown");
            return Err(stream_fault(status.unwrap_or(500), said));
        }
        if event["usage"].is_object() {
            self.usage = event["usage"].take();
        }
        let choices = event["choices"].as_array();
        let first =
            choices.and_then(|all| all.iter().find(|it| it["index"].as_u64().unwrap_or(0) == 0));
        let Some(choice) = first else { return Ok(StreamStep::Nothing) };
        if self.message.is_null() {
            self.message = json!({});
        }
        if !choice["finish_reason"].is_null() {
            self.finish_reason = choice["finish_reason"].clone();
        }
        let delta = &choice["delta"];
        if let Some(piece) = delta[RETURNED_FIELDS[0]].as_str() {
            append_text(&mut self.message, RETURNED_FIELDS[0], piece);
        }
        if let Some(details) = delta[RETURNED_FIELDS[1]].as_array() {
            match &mut self.message[RETURNED_FIELDS[1]] {
                Value::Array(all) => all.extend(details.iter().cloned()),
                other => *other = details.clone().into(),
            }
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.add_call(call)?;
        }
        for field in ["content", "refusal"] {
            if let Some(piece) = delta[field].as_str().filter(|piece| !piece.is_empty()) {
                append_text(&mut self.message, field, piece);
                return Ok(StreamStep::Text(piece.to_owned()));
            }
        }
        Ok(StreamStep::Nothing)
    }
}

impl CompletionStream {
    /// Adds a piece of a call. Some servers send whole calls, all with the same index or with none:
    /// another id is another call.
    fn add_call(&mut self, piece: &Value) -> Result<(), ApiFault> {
        let id = piece["id"].as_str().filter(|id| !id.is_empty());
        let index = piece["index"].as_u64();
        let is_it = |call: &Value| {
            (index.is_none() || call["index"].as_u64() == index)
                && id.is_none_or(|id| call["id"].as_str().is_none_or(|known| known == id))
        };
        let begins_one = index.is_none() && id.is_none() && piece["function"]["name"].is_string();
        let known = self.calls.iter().rposition(is_it).filter(|_| !begins_one);
        let at = if let Some(at) = known {
            at
        } else if self.calls.len() < MAX_TOOL_CALLS {
            self.calls.push(json!({ "index": index, "function": { "arguments": "" } }));
            self.calls.len() - 1
        } else {
            let message = format!("the model's answer has more than {MAX_TOOL_CALLS} tool calls");
            return Err(ApiFault::invalid(message));
        };
        let call = &mut self.calls[at];
        if let Some(id) = id {
            call["id"] = id.into();
        }
        let function = &piece["function"];
        // Some servers repeat it with each piece.
        if function["name"].is_string() {
            call["function"]["name"] = function["name"].clone();
        }
        match &function["arguments"] {
            Value::String(text) => append_text(&mut call["function"], "arguments", text),
            Value::Null => {}
            other => call["function"]["arguments"] = other.clone(),
        }
        Ok(())
    }
}
