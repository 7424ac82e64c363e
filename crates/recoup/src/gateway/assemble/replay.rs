//! Plain bodies as the streams that clients would have got.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::endpoint::ApiEndpoint;
use super::{Fields, assemble_stream, keeps_digits};

/// The stream that a client of this form would have got for a plain body, event by event; none where
/// that is not exact.
///
/// The form is `stream`, or `stream {…}` with the stream options of the request.
pub(in crate::gateway) fn to_stream(
    endpoint: ApiEndpoint,
    body: &[u8],
    form: &str,
) -> Option<Vec<Bytes>> {
    let plain: Fields = serde_json::from_slice(body).ok().filter(|_| keeps_digits(body))?;
    let is_exact = |events: &[Bytes]| {
        let answer = assemble_stream(endpoint, &events.concat());
        answer.is_exact && comparable(answer.body) == comparable(plain.clone().into())
    };
    let options = match form.strip_prefix("stream")? {
        "" => "{}",
        options => options,
    };
    let mut options: BTreeMap<String, bool> = serde_json::from_str(options).ok()?;
    match endpoint {
        ApiEndpoint::Messages if options.is_empty() => {
            message_events(&plain).filter(|events| is_exact(events))
        }
        ApiEndpoint::ChatCompletions => {
            let has_usage = options.remove("include_usage").unwrap_or_default();
            if options.iter().any(|(name, is_on)| *is_on || name != "include_obfuscation") {
                return None;
            }
            let whole = completion_chunks(&plain, true).filter(|events| is_exact(events))?;
            if has_usage { Some(whole) } else { completion_chunks(&plain, false) }
        }
        _ => None,
    }
}

/// A body without the empty fields of a chat message that not every server sends in every form.
fn comparable(mut body: Value) -> Value {
    for choice in body.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(Value::Object(message)) = choice.get_mut("message") {
            message.retain(|name, value| match name.as_str() {
                "refusal" => !value.is_null(),
                "annotations" => *value != json!([]),
                _ => true,
            });
        }
    }
    body
}

/// Fields of a body but those that the stream brings otherwise.
fn fields_without(body: &Fields, left_out: &[&str]) -> Fields {
    let kept = body.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Takes a text out of a field, and leaves it empty.
fn take_text(fields: &mut Fields, name: &str) -> Option<String> {
    match fields.get_mut(name) {
        Some(Value::String(text)) => Some(std::mem::take(text)),
        _ => None,
    }
}

fn message_events(body: &Fields) -> Option<Vec<Bytes>> {
    const COUNTS: [&str; 5] = [
        "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens",
        "server_tool_use",
    ];
    let mut message = fields_without(body, &["content", "context_management"]);
    message.insert("content".into(), json!([]));
    let usage = message.get_mut("usage")?.as_object_mut()?;
    let mut end = json!({"type": "message_delta", "delta": {}, "usage": usage.clone()});
    end["usage"].as_object_mut()?.retain(|name, _| COUNTS.contains(&name.as_str()));
    usage.insert("output_tokens".into(), 0.into());
    for name in ["stop_reason", "stop_sequence", "stop_details", "container"] {
        if let Some(value) = message.get_mut(name) {
            end["delta"][name] = value.take();
        }
    }
    if let Some(edits) = body.get("context_management") {
        end["context_management"] = edits.clone();
    }

    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in body.get("content")?.as_array()?.iter().enumerate() {
        let (start, deltas) = block_pieces(block.as_object()?)?;
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.extend([end, json!({"type": "message_stop"})]);
    let to_bytes = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        Bytes::from(format!("event: {name}\ndata: {event}\n\n"))
    };
    Some(events.iter().map(to_bytes).collect())
}

/// A content block as it starts, and its deltas; none for a kind that is not known to stream so.
fn block_pieces(block: &Fields) -> Option<(Fields, Vec<Value>)> {
    let (mut start, mut deltas) = (block.clone(), Vec::new());
    match block.get("type")?.as_str()? {
        "text" => {
            if let Some(Value::Array(citations)) = start.get_mut("citations") {
                let citations = std::mem::take(citations).into_iter();
                deltas
                    .extend(citations.map(|it| json!({"type": "citations_delta", "citation": it})));
            }
            deltas.push(json!({"type": "text_delta", "text": take_text(&mut start, "text")?}));
        }
        "thinking" => {
            let thinking = take_text(&mut start, "thinking")?;
            if !thinking.is_empty() {
                deltas.push(json!({"type": "thinking_delta", "thinking": thinking}));
            }
            if let Some(signature) = take_text(&mut start, "signature") {
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
            }
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let input = start.insert("input".into(), json!({}))?;
            deltas.push(json!({"type": "input_json_delta", "partial_json": ""}));
            if input != json!({}) {
                let text = input.to_string();
                deltas.push(json!({"type": "input_json_delta", "partial_json": text}));
            }
        }
        "redacted_thinking" | "container_upload" => {}
        kind if kind.ends_with("_tool_result") => {}
        _ => return None,
    }
    Some((start, deltas))
}

fn completion_chunks(body: &Fields, has_usage: bool) -> Option<Vec<Bytes>> {
    let mut base = fields_without(body, &["choices", "usage"]);
    base.insert("object".into(), "chat.completion.chunk".into());
    if has_usage {
        base.insert("usage".into(), Value::Null);
    }
    let to_chunk = |field: &str, value: Value, mut chunk: Fields| {
        chunk.insert(field.into(), value);
        Bytes::from(format!("data: {}\n\n", Value::Object(chunk)))
    };
    let mut chunks = Vec::new();
    for choice in body.get("choices")?.as_array()? {
        let deltas = message_deltas(choice.get("message")?.as_object()?)?;
        for (position, delta) in deltas.iter().enumerate() {
            let mut piece =
                json!({"index": choice["index"], "delta": delta, "finish_reason": null});
            if position + 1 == deltas.len() {
                piece["finish_reason"] = choice["finish_reason"].clone();
            }
            if let Some(logprobs) = choice.get("logprobs") {
                // They belong to what comes after the role.
                piece["logprobs"] = if position == 1 { logprobs.clone() } else { Value::Null };
            }
            chunks.push(to_chunk("choices", json!([piece]), base.clone()));
        }
    }
    if has_usage {
        base.insert("choices".into(), json!([]));
        chunks.push(to_chunk("usage", body.get("usage")?.clone(), base));
    }
    chunks.push(Bytes::from_static(b"data: [DONE]\n\n"));
    Some(chunks)
}

/// A chat message as its deltas: the role, then each text and call, then an empty one for the end.
fn message_deltas(message: &Fields) -> Option<Vec<Value>> {
    let mut first = json!({"role": message.get("role")?, "content": null});
    let mut deltas = Vec::new();
    if message.contains_key("refusal") {
        first["refusal"] = Value::Null;
    }
    for name in ["content", "refusal", "function_call"] {
        if let Some(value) = message.get(name).filter(|value| !value.is_null()) {
            deltas.push(json!({name: value}));
        }
    }
    if message.get("content").is_some_and(Value::is_string) {
        first["content"] = "".into();
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for (index, call) in calls.into_iter().flatten().enumerate() {
        let mut start = call.as_object()?.clone();
        start.insert("index".into(), index.into());
        let (part, field) = if start.contains_key("custom") {
            ("custom", "input")
        } else {
            ("function", "arguments")
        };
        let text = take_text(start.get_mut(part)?.as_object_mut()?, field)?;
        deltas.push(json!({"tool_calls": [start]}));
        deltas.push(json!({"tool_calls": [{"index": index, part: {field: text}}]}));
    }
    deltas.insert(0, first);
    deltas.push(json!({}));
    Some(deltas)
}
