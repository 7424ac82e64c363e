//! A model API that answers as the real ones do, plain or as a stream, for the SDKs of both. The
//! prompt names the case (`case:tools …`); everything is said in odd pieces, and compressed where
//! the client accepts that.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::model_server::{Received, SIGNATURE, Server};

/// Bytes of a piece on the network: less than an event, and within a letter now and then.
const PIECE: usize = 61;

/// What the model says: multi-byte, quoted, over several lines.
const TEXT: &str = "Grüße, 世界 🌍!\n\"It\" works: 1 + 1 = 2.";
const CITY: &str = r#"{"city":"Zürich","unit":"celsius"}"#;

/// Starts it. Cases `retry…` fail at every other request.
pub(super) fn start() -> Server {
    let asked_before: Mutex<HashMap<String, usize>> = Mutex::default();
    Server::start(move |asked, stream| {
        let count = {
            let mut counts = asked_before.lock().unwrap();
            let count = counts.entry(case_of(asked).to_owned()).or_default();
            *count += 1;
            *count
        };
        answer(asked, count, stream);
    })
}

/// Name of the case, which every prompt begins with.
pub(super) fn case_of(asked: &Received) -> &str {
    let rest = asked.body.split_once("case:").map_or("", |(_, rest)| rest);
    rest.split([' ', '"', '\\']).next().unwrap_or_default()
}

fn answer(asked: &Received, count: usize, stream: &mut TcpStream) {
    let path = asked.head.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let is_anthropic = asked.header("anthropic-version").is_some();
    let case = case_of(asked);
    let failure = match case {
        "bad-request" => Some(("400 Bad Request", "", "invalid_request_error")),
        "not-found" => Some(("404 Not Found", "", "not_found_error")),
        "overloaded" => Some(("529 Overloaded", "retry-after-ms: 1\r\n", "overloaded_error")),
        _ if case.starts_with("retry") && count % 2 == 1 => {
            let pause = "retry-after-ms: 1\r\nretry-after: 1\r\n";
            Some(("429 Too Many Requests", pause, "rate_limit_error"))
        }
        _ => None,
    };
    let id = if is_anthropic { "request-id" } else { "x-request-id" };
    let headers = format!("{id}: req_{case}\r\nanthropic-ratelimit-requests-remaining: 9\r\n");
    if let Some((status, pause, kind)) = failure {
        let body = json!({ "type": "error", "request_id": format!("req_{case}"),
            "error": { "type": kind, "message": format!("{kind}: grüße"), "code": null, "param": null } });
        let headers = format!("{headers}{pause}Content-Type: application/json\r\n");
        return send(asked, stream, status, &headers, body.to_string().as_bytes());
    }
    if path == "/v1/models" {
        return send_json(asked, stream, &headers, &models(is_anthropic));
    }
    let request = asked.json();
    let is_stream = request["stream"] == true;
    let events = match path {
        "/v1/messages/count_tokens" => {
            return send_json(asked, stream, &headers, &json!({ "input_tokens": 14 }));
        }
        "/v1/embeddings" => return send_json(asked, stream, &headers, &embeddings(&request)),
        "/v1/messages" => {
            let message = message(&request, case);
            if !is_stream {
                return send_json(asked, stream, &headers, &message);
            }
            message_events(&message).iter().map(named).collect::<String>()
        }
        "/v1/chat/completions" => {
            let completion = completion(&request, case);
            if !is_stream {
                return send_json(asked, stream, &headers, &completion);
            }
            let has_usage = request["stream_options"]["include_usage"] == true;
            let chunks = completion_chunks(&completion, has_usage);
            let lines = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
            lines.collect::<String>() + "data: [DONE]\n\n"
        }
        "/v1/responses" => {
            let response = response(&request, case);
            if !is_stream {
                return send_json(asked, stream, &headers, &response);
            }
            response_events(&response).iter().map(named).collect::<String>()
        }
        other => panic!("{other}"),
    };
    let headers = format!("{headers}Content-Type: text/event-stream; charset=utf-8\r\n");
    send(asked, stream, "200 OK", &headers, events.as_bytes());
}

fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}

fn send_json(asked: &Received, stream: &mut TcpStream, headers: &str, body: &Value) {
    let headers = format!("{headers}Content-Type: application/json\r\n");
    send(asked, stream, "200 OK", &headers, body.to_string().as_bytes());
}

/// In pieces, compressed if the client accepts that.
fn send(asked: &Received, stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let accepted = asked.header("accept-encoding").unwrap_or_default();
    let (encoding, body) = if accepted.contains("gzip") {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        ("Content-Encoding: gzip\r\n", encoder.finish().unwrap())
    } else {
        ("", body.to_vec())
    };
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\n{headers}{encoding}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    .into_bytes();
    for piece in body.chunks(PIECE) {
        bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
        bytes.extend_from_slice(piece);
        bytes.extend(b"\r\n");
        // Who has seen enough may be gone.
        if stream.write_all(&bytes).is_err() {
            return;
        }
        bytes.clear();
    }
    let _ = stream.write_all(b"0\r\n\r\n");
}

/// Text in pieces of a few letters.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(5).map(|piece| piece.iter().collect()).collect()
}

/// Text of an answer: what the schema wants, or anything.
fn text_of(case: &str) -> String {
    if case.contains("structured") { CITY.to_owned() } else { format!("{TEXT} ({case})") }
}

fn models(is_anthropic: bool) -> Value {
    if is_anthropic {
        return json!({
            "data": [{ "type": "model", "id": "claude-sonnet-4-5", "display_name": "Claude Sonnet 4.5",
                       "created_at": "2025-09-29T00:00:00Z", "max_input_tokens": 200_000,
                       "max_tokens": 64_000 }],
            "has_more": false, "first_id": "claude-sonnet-4-5", "last_id": "claude-sonnet-4-5",
        });
    }
    json!({ "object": "list", "data": [
        { "id": "gpt-5", "object": "model", "created": 1_754_425_777, "owned_by": "system" },
        { "id": "text-embedding-3-small", "object": "model", "created": 1_705_948_997, "owned_by": "system" },
    ] })
}

/// A vector for each text, made of its length, in the form that is asked for.
fn embeddings(request: &Value) -> Value {
    let texts = match &request["input"] {
        Value::Array(texts) => texts.clone(),
        text => vec![text.clone()],
    };
    let vector = |text: &Value| {
        let length = u8::try_from(text.as_str().unwrap().len()).unwrap();
        let floats = [f32::from(length) / 256.0, -0.5, 0.25];
        if request["encoding_format"] == "base64" {
            let bytes: Vec<u8> = floats.iter().flat_map(|it| it.to_le_bytes()).collect();
            return json!(base64(&bytes));
        }
        json!(floats)
    };
    let data: Vec<Value> = (texts.iter().enumerate())
        .map(|(index, text)| json!({ "object": "embedding", "index": index, "embedding": vector(text) }))
        .collect();
    let tokens: usize = texts.iter().map(|text| text.as_str().unwrap().len().div_ceil(4)).sum();
    json!({ "object": "list", "data": data, "model": request["model"],
            "usage": { "prompt_tokens": tokens, "total_tokens": tokens } })
}

/// Bytes whose number is a multiple of three.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let three = |it: &[u8]| {
        let bits = u32::from_be_bytes([0, it[0], it[1], it[2]]);
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift & 63) as usize]))
    };
    bytes.chunks(3).flat_map(three).collect()
}

/// An answer of Anthropic's.
fn message(request: &Value, case: &str) -> Value {
    let text = json!({ "type": "text", "text": text_of(case) });
    let input: Value = serde_json::from_str(CITY).unwrap();
    let call = json!({ "type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "weather",
                       "input": input });
    let (content, stop) = if request["tools"].is_array() {
        (vec![text, call], "tool_use")
    } else if case.contains("thinking") {
        let thought = json!({ "type": "thinking", "thinking": TEXT, "signature": SIGNATURE });
        let redacted = json!({ "type": "redacted_thinking", "data": SIGNATURE });
        (vec![thought, redacted, text], "end_turn")
    } else {
        (vec![text], "end_turn")
    };
    json!({
        "id": format!("msg_{case}"), "type": "message", "role": "assistant",
        "model": request["model"], "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {
            "input_tokens": 60, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 30,
            "cache_creation": { "ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 0 },
            "output_tokens": 42, "service_tier": "standard",
        },
    })
}

/// The same answer as events.
fn message_events(message: &Value) -> Vec<Value> {
    let mut started = message.clone();
    started["content"] = json!([]);
    started["stop_reason"] = Value::Null;
    started["usage"]["output_tokens"] = json!(1);
    let mut events =
        vec![json!({ "type": "ping" }), json!({ "type": "message_start", "message": started })];
    for (index, block) in message["content"].as_array().unwrap().iter().enumerate() {
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        let deltas = |kind: &str, name: &str, text: &str| -> Vec<Value> {
            pieces(text).iter().map(|piece| json!({ "type": kind, name: piece })).collect()
        };
        let (begun, deltas) = match text("type") {
            "text" => {
                (json!({ "type": "text", "text": "" }), deltas("text_delta", "text", text("text")))
            }
            "thinking" => {
                let mut deltas = deltas("thinking_delta", "thinking", text("thinking"));
                deltas.push(json!({ "type": "signature_delta", "signature": text("signature") }));
                (json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas)
            }
            "tool_use" => {
                let mut begun = block.clone();
                begun["input"] = json!({});
                let mut pieces = pieces(&block["input"].to_string());
                pieces.insert(0, String::new());
                let delta = |it: &String| json!({ "type": "input_json_delta", "partial_json": it });
                (begun, pieces.iter().map(delta).collect())
            }
            _ => (block.clone(), Vec::new()),
        };
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": begun }));
        events.push(json!({ "type": "ping" }));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({ "type": "message_delta", "usage": { "output_tokens": 42 },
        "delta": { "stop_reason": message["stop_reason"], "stop_sequence": null } }));
    events.push(json!({ "type": "message_stop" }));
    events
}

/// An answer of chat completions.
fn completion(request: &Value, case: &str) -> Value {
    let mut message = json!({ "role": "assistant", "content": text_of(case), "refusal": null,
                              "annotations": [] });
    let mut finish = "stop";
    if request["tools"].is_array() {
        let call = |id: &str| {
            json!({ "id": id, "type": "function",
                                      "function": { "name": "weather", "arguments": CITY } })
        };
        message["content"] = Value::Null;
        message["tool_calls"] = json!([call("call_a9Xm2Qv7LkT4bR8sWz1Nc5Jd"), call("call_b")]);
        finish = "tool_calls";
    }
    json!({
        "id": format!("chatcmpl-{case}"), "object": "chat.completion", "created": 1_760_000_000,
        "model": request["model"], "service_tier": "default", "system_fingerprint": "fp_44709d6fcb",
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish }],
        "usage": {
            "prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29,
            "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
            "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0 },
        },
    })
}

/// The same answer as chunks.
fn completion_chunks(completion: &Value, has_usage: bool) -> Vec<Value> {
    let choice = &completion["choices"][0];
    let mut chunks = Vec::new();
    let mut chunk = |delta: Value, finish: Value| {
        let mut chunk = completion.clone();
        chunk["object"] = json!("chat.completion.chunk");
        chunk["choices"] = json!([
            { "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
        chunk["obfuscation"] = json!("xK3v");
        chunk["usage"] = Value::Null;
        if !has_usage {
            chunk.as_object_mut().unwrap().remove("usage");
        }
        chunks.push(chunk);
    };
    let content = &choice["message"]["content"];
    let begun = if content.is_null() { Value::Null } else { json!("") };
    chunk(json!({ "role": "assistant", "content": begun, "refusal": null }), Value::Null);
    for piece in pieces(content.as_str().unwrap_or_default()) {
        chunk(json!({ "content": piece }), Value::Null);
    }
    let calls = choice["message"]["tool_calls"].as_array();
    for (index, call) in calls.into_iter().flatten().enumerate() {
        let mut begun = call.clone();
        begun["index"] = json!(index);
        begun["function"]["arguments"] = json!("");
        chunk(json!({ "tool_calls": [begun] }), Value::Null);
        for piece in pieces(call["function"]["arguments"].as_str().unwrap()) {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            chunk(json!({ "tool_calls": [call] }), Value::Null);
        }
    }
    chunk(json!({}), choice["finish_reason"].clone());
    if has_usage {
        let mut last = completion.clone();
        last["object"] = json!("chat.completion.chunk");
        last["choices"] = json!([]);
        chunks.push(last);
    }
    chunks
}

/// An answer of the Responses API.
fn response(request: &Value, case: &str) -> Value {
    let reasoning = json!({ "id": "rs_1", "type": "reasoning", "summary": [] });
    let output = if request["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
        json!({ "id": "fc_1", "type": "function_call", "status": "completed", "name": "weather",
                "call_id": "call_a9Xm2Qv7LkT4bR8sWz1Nc5Jd", "arguments": CITY })
    } else {
        let part = json!({ "type": "output_text", "text": text_of(case), "annotations": [], "logprobs": [] });
        json!({ "id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
                "content": [part] })
    };
    let or = |name: &str, default: Value| {
        Some(&request[name]).filter(|it| !it.is_null()).cloned().unwrap_or(default)
    };
    json!({
        "id": format!("resp_{case}"), "object": "response", "created_at": 1_760_000_000,
        "status": "completed", "background": false, "error": null, "incomplete_details": null,
        "instructions": null, "max_output_tokens": null, "max_tool_calls": null,
        "model": request["model"], "output": [reasoning, output], "parallel_tool_calls": true,
        "previous_response_id": null, "prompt_cache_key": null, "prompt_cache_retention": null,
        "reasoning": { "effort": "medium", "summary": null }, "safety_identifier": null,
        "service_tier": "default", "store": true, "temperature": 1.0,
        "text": or("text", json!({ "format": { "type": "text" }, "verbosity": "medium" })),
        "tool_choice": "auto", "tools": or("tools", json!([])), "top_logprobs": 0, "top_p": 1.0,
        "truncation": "disabled", "user": null, "metadata": {},
        "usage": { "input_tokens": 36, "input_tokens_details": { "cached_tokens": 0 },
                   "output_tokens": 87, "output_tokens_details": { "reasoning_tokens": 64 },
                   "total_tokens": 123 },
    })
}

/// The same answer as events.
fn response_events(response: &Value) -> Vec<Value> {
    let mut begun = response.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.in_progress", "response": begun }),
    ];
    for (index, item) in response["output"].as_array().unwrap().iter().enumerate() {
        let mut added = item.clone();
        for (name, empty) in
            [("status", json!("in_progress")), ("content", json!([])), ("arguments", json!(""))]
        {
            if item.get(name).is_some() {
                added[name] = empty;
            }
        }
        let mut event = |kind: &str, mut event: Value| {
            event["type"] = json!(kind);
            event["output_index"] = json!(index);
            if kind.starts_with("response.output_item") {
                event["item"] = if kind.ends_with("added") { added.clone() } else { item.clone() };
            } else {
                event["item_id"] = item["id"].clone();
            }
            events.push(event);
        };
        event("response.output_item.added", json!({}));
        if let Some(arguments) = item["arguments"].as_str() {
            for piece in pieces(arguments) {
                event(
                    "response.function_call_arguments.delta",
                    json!({ "delta": piece, "obfuscation": "aB" }),
                );
            }
            event(
                "response.function_call_arguments.done",
                json!({ "arguments": arguments, "name": item["name"] }),
            );
        }
        if let Some(text) = item["content"][0]["text"].as_str() {
            let mut part = item["content"][0].clone();
            part["text"] = json!("");
            event("response.content_part.added", json!({ "content_index": 0, "part": part }));
            for piece in pieces(text) {
                let delta = json!({ "content_index": 0, "delta": piece, "logprobs": [], "obfuscation": "z" });
                event("response.output_text.delta", delta);
            }
            event(
                "response.output_text.done",
                json!({ "content_index": 0, "text": text, "logprobs": [] }),
            );
            part["text"] = json!(text);
            event("response.content_part.done", json!({ "content_index": 0, "part": part }));
        }
        event("response.output_item.done", json!({}));
    }
    events.push(json!({ "type": "response.completed", "response": response }));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}
