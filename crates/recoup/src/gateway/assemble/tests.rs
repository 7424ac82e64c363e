//! Streams of each API, whole and broken, put together and taken apart again.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::endpoint::ApiEndpoint::{self, ChatCompletions, Messages, Responses};
use super::{AssembledAnswer, MAX_ITEMS, assemble_stream, keeps_digits, to_stream};
use crate::llm::sse::EventParser;

const PING: &str = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn events(events: &[Value]) -> String {
    let event = |event: &Value| match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    events.iter().map(event).collect()
}

fn assembled(endpoint: ApiEndpoint, stream: &str) -> AssembledAnswer {
    assemble_stream(endpoint, stream.as_bytes())
}

fn message(content: &Value) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": content,
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 9, "cache_creation": {"ephemeral_5m_input_tokens": 0},
            "output_tokens": 20, "service_tier": "standard"}})
}

fn block(index: usize, start: &Value, deltas: &[Value]) -> Vec<Value> {
    let delta = |it: &Value| json!({"type": "content_block_delta", "index": index, "delta": it});
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
    events.extend(deltas.iter().map(delta));
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn message_stream(blocks: &[Vec<Value>]) -> String {
    let mut start = message(&json!([]));
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = 1.into();
    let end = json!({"type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": null},
        "usage": {"input_tokens": 9, "cache_read_input_tokens": null, "output_tokens": 20}});
    let mut all = vec![json!({"type": "message_start", "message": start})];
    all.extend(blocks.concat());
    all.extend([end, json!({"type": "message_stop"})]);
    events(&all)
}

fn json_piece(piece: &str) -> Value {
    json!({"type": "input_json_delta", "partial_json": piece})
}

fn chunk(choices: &Value, usage: &Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "gpt",
        "service_tier": "default", "system_fingerprint": "fp", "choices": choices, "usage": usage,
        "obfuscation": "x7"})
}

fn delta(index: u64, delta: &Value, finish_reason: Option<&str>) -> Value {
    let choice = json!({"index": index, "delta": delta, "logprobs": null,
        "finish_reason": finish_reason});
    chunk(&json!([choice]), &Value::Null)
}

fn completion(choices: &Value) -> Value {
    json!({"id": "c1", "object": "chat.completion", "created": 1_790_000_000, "model": "gpt",
        "service_tier": "default", "system_fingerprint": "fp", "choices": choices,
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}})
}

fn chat_stream(chunks: &[Value]) -> String {
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7});
    events(chunks) + &events(&[chunk(&json!([]), &usage)]) + DONE
}

fn text_answer() -> Vec<Value> {
    vec![
        delta(0, &json!({"role": "assistant", "content": "", "refusal": null}), None),
        delta(0, &json!({"content": "Hel"}), None),
        delta(0, &json!({"content": "lo"}), None),
        delta(0, &json!({}), Some("stop")),
    ]
}

#[test]
fn a_message_is_put_together_from_all_kinds_of_blocks() {
    let citation = json!({"type": "char_location", "cited_text": "x"});
    let content = json!([
        {"type": "thinking", "thinking": "Hm.", "signature": "s1"},
        {"type": "thinking", "thinking": "", "signature": "s2"},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "text", "text": "Hällo", "citations": [citation]},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"path": "a", "n": [1, 2.5]}},
        {"type": "tool_use", "id": "t2", "name": "now", "input": {}},
    ]);
    let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
    let signature = |text| json!({"type": "signature_delta", "signature": text});
    let blocks = [
        block(
            0,
            &thinking,
            &[json!({"type": "thinking_delta", "thinking": "Hm."}), signature("s1")],
        ),
        block(1, &thinking, &[signature("s2")]),
        block(2, &content[2], &[]),
        block(
            3,
            &json!({"type": "text", "text": "", "citations": []}),
            &[
                json!({"type": "citations_delta", "citation": citation}),
                json!({"type": "text_delta", "text": "Häl"}),
                json!({"type": "text_delta", "text": "lo"}),
            ],
        ),
        block(
            4,
            &json!({"type": "tool_use", "id": "t1", "name": "look", "input": {}}),
            &[json_piece(""), json_piece("{\"path\":\"a\",\"n"), json_piece("\":[1,2.5]}")],
        ),
        block(
            5,
            &json!({"type": "tool_use", "id": "t2", "name": "now", "input": {}}),
            &[json_piece("")],
        ),
    ];
    let mut expected = message(&content);
    expected["usage"]["cache_read_input_tokens"] = Value::Null;
    let answer = assembled(Messages, &format!("{PING}{}", message_stream(&blocks)));
    assert_eq!(answer, AssembledAnswer { body: expected, is_exact: true, is_complete: true });
}

#[test]
fn an_unknown_event_or_delta_is_inexact_but_complete() {
    let text = json!({"type": "text", "text": ""});
    let hello = json!({"type": "text_delta", "text": "Hello"});
    let unknown = json!({"type": "sparkle_delta", "sparkle": 1});
    let odd_block = message_stream(&[block(0, &text, &[hello.clone(), unknown])]);
    let odd_event = message_stream(&[block(0, &text, &[hello])]).replacen(
        "event: content_block_start",
        "data: {\"type\":\"news\"}\n\nevent: content_block_start",
        1,
    );
    for stream in [odd_block, odd_event] {
        let answer = assembled(Messages, &stream);
        assert_eq!((answer.is_exact, answer.is_complete), (false, true), "{stream}");
        assert_eq!(answer.body["content"][0]["text"], "Hello");
    }
}

#[test]
fn a_cut_or_failed_stream_is_not_complete() {
    let whole = message_stream(&[]);
    let error =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n";
    let stop = whole.find("event: message_stop").unwrap();
    let chat = chat_stream(&text_answer());
    let failed = events(&[json!({"error": {"message": "interrupted"}})]);
    for (endpoint, stream) in [
        (Messages, whole[..stop].to_owned()),
        (Messages, whole[..whole.len() - 1].to_owned()),
        (Messages, format!("{}{error}{}", &whole[..stop], &whole[stop..])),
        (Messages, format!("{whole}{error}")),
        (Messages, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".into()),
        (ChatCompletions, chat.replace(DONE, "")),
        (ChatCompletions, format!("{failed}{chat}")),
        (ChatCompletions, DONE.into()),
        (Responses, events(&[json!({"type": "response.failed", "response": {"id": "r"}})])),
        (Responses, events(&[json!({"type": "response.incomplete", "response": {"id": "r"}})])),
        (Responses, events(&[json!({"type": "response.completed"})])),
        (ApiEndpoint::Embeddings, chat.clone()),
        (ApiEndpoint::Models, chat.clone()),
        (ApiEndpoint::CountTokens, whole.clone()),
    ] {
        let answer = assembled(endpoint, &stream);
        assert_eq!((answer.is_exact, answer.is_complete), (false, false), "{stream}");
    }
}

#[test]
fn a_completion_is_put_together_from_text_calls_and_logprobs() {
    let token = |text: &str, logprob: f64| json!({"token": text, "logprob": logprob});
    let mut chunks = text_answer();
    chunks[1]["choices"][0]["logprobs"] =
        json!({"content": [token("Hel", -0.000_011_094)], "refusal": null});
    chunks[2]["choices"][0]["logprobs"] = json!({"content": [token("lo", -1.5)], "refusal": null});
    let call = |index: u64, function: &Value| json!({"index": index, "function": function});
    let start = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "look", "arguments": ""}});
    let second = json!({"index": 1, "id": "call_2", "type": "custom",
        "custom": {"name": "run", "input": "ls"}});
    chunks.splice(3..3, [
        delta(1, &json!({"role": "assistant", "content": null, "tool_calls": [start], "refusal": null}), None),
        delta(1, &json!({"tool_calls": [call(0, &json!({"arguments": "{\"a\""}))]}), None),
        delta(1, &json!({"tool_calls": [call(0, &json!({"arguments": ":1}"})), second]}), None),
        delta(1, &json!({}), Some("tool_calls")),
    ]);
    let expected = completion(&json!([
        {"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Hello", "refusal": null, "annotations": []},
            "logprobs": {"content": [token("Hel", -0.000_011_094), token("lo", -1.5)], "refusal": null}},
        {"index": 1, "finish_reason": "tool_calls", "logprobs": null,
            "message": {"role": "assistant", "content": null, "refusal": null, "annotations": [],
                "tool_calls": [
                    {"id": "call_1", "type": "function",
                        "function": {"name": "look", "arguments": "{\"a\":1}"}},
                    {"id": "call_2", "type": "custom", "custom": {"name": "run", "input": "ls"}}]}},
    ]));
    let answer = assembled(ChatCompletions, &chat_stream(&chunks));
    assert_eq!(answer, AssembledAnswer { body: expected, is_exact: true, is_complete: true });
}

#[test]
fn a_legacy_function_call_is_joined_and_refusal_is_null_when_none_came() {
    let stream = chat_stream(&[
        delta(
            0,
            &json!({"role": "assistant", "function_call": {"name": "f", "arguments": ""}}),
            None,
        ),
        delta(0, &json!({"function_call": {"arguments": "{}"}}), None),
        delta(0, &json!({}), Some("function_call")),
    ]);
    let answer = assembled(ChatCompletions, &stream);
    let expected = json!({"role": "assistant", "content": null, "refusal": null,
        "function_call": {"name": "f", "arguments": "{}"}});
    assert_eq!((&answer.body["choices"][0]["message"], answer.is_exact), (&expected, true));
}

#[test]
fn a_completion_without_usage_or_with_unknown_fields_is_inexact() {
    let mut odd = text_answer();
    odd[1]["choices"][0]["delta"]["reasoning_content"] = "Think".into();
    odd[2]["choices"][0]["delta"]["reasoning_content"] = "ing".into();
    let answer = assembled(ChatCompletions, &chat_stream(&odd));
    assert_eq!((answer.is_exact, answer.is_complete), (false, true));
    assert_eq!(answer.body["choices"][0]["message"]["reasoning_content"], "Thinking");

    let mut other_field = text_answer();
    other_field[0]["provider"] = "x".into();
    let mut other_id = text_answer();
    other_id[3]["id"] = "c2".into();
    let streams = [
        events(&text_answer()) + DONE,
        chat_stream(&other_field),
        chat_stream(&other_id),
        chat_stream(&text_answer()[..3]),
        chat_stream(&text_answer()) + &events(&text_answer()),
    ];
    for stream in streams {
        let answer = assembled(ChatCompletions, &stream);
        assert_eq!((answer.is_exact, answer.is_complete), (false, true), "{stream}");
    }
}

#[test]
fn a_completed_response_is_the_plain_body() {
    let body = json!({"id": "resp_1", "status": "completed", "output": [{"type": "message"}]});
    let stream = events(&[
        json!({"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1"}}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0}),
        json!({"type": "response.completed", "sequence_number": 2, "response": body}),
    ]);
    let answer = assembled(Responses, &stream);
    assert_eq!(answer, AssembledAnswer { body: body.clone(), is_exact: true, is_complete: true });
    assert_eq!(to_stream(Responses, body.to_string().as_bytes(), "stream"), None);
}

#[test]
fn numbers_that_lose_digits_are_noticed() {
    for kept in [
        "104.88003540039062",
        "[0, -0, 1.50, 1e2, 9007199254740992, -0.0054572523]",
        r#"{"9e": "99999999999999999999\""}"#,
        "1e-7",
    ] {
        assert!(keeps_digits(kept.as_bytes()), "{kept}");
    }
    for lost in [
        "9007199254740993", "[99999999999999999999]", "0.10000000000000000001", "1e-400",
        "9007199254740993.0", "1e999999999999",
    ] {
        assert!(!keeps_digits(lost.as_bytes()), "{lost}");
    }
    let tool = json!({"type": "tool_use", "id": "t", "name": "n", "input": {}});
    let answer = assembled(
        Messages,
        &message_stream(&[block(0, &tool, &[json_piece("{\"id\":9007199254740993}")])]),
    );
    assert_eq!((answer.is_exact, answer.is_complete), (false, true));
}

#[test]
fn hostile_indexes_and_shapes_are_ignored() {
    let far = json!({"role": "assistant", "tool_calls": [{"index": 4_000_000_000_u64, "id": "x"}, {"index": -1}, 7]});
    let answer = assembled(
        ChatCompletions,
        &chat_stream(&[delta(0, &far, Some("stop")), delta(u64::MAX, &json!({}), None)]),
    );
    assert_eq!((answer.is_exact, answer.is_complete), (false, true));
    assert_eq!(answer.body["choices"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer.body["choices"][0]["message"].get("tool_calls"), None);

    let text = json!({"type": "text", "text": ""});
    let blocks: Vec<_> = (0..MAX_ITEMS + 5).map(|index| block(index, &text, &[])).collect();
    let answer = assembled(Messages, &message_stream(&blocks));
    assert_eq!(answer.body["content"].as_array().map(Vec::len), Some(MAX_ITEMS));
    assert!(!answer.is_exact);

    let deep = format!("data: {}\n\n{DONE}", "[".repeat(100_000));
    for endpoint in [Messages, ChatCompletions, Responses] {
        for stream in [
            deep.as_str(),
            "data: 1\n\n",
            "data: {\"choices\":[[]],\"delta\":3}\n\n",
            "\u{0}\n\n",
            "",
        ] {
            assert!(!assembled(endpoint, stream).is_exact);
        }
    }
}

#[test]
fn a_stream_with_usage_has_the_chunks_that_the_api_sends() {
    let plain = completion(&json!([{"index": 0, "finish_reason": "stop", "logprobs": null,
        "message": {"role": "assistant", "content": "Hello", "refusal": null, "annotations": []}}]));
    let data = |form: &str| {
        let stream =
            to_stream(ChatCompletions, plain.to_string().as_bytes(), form).unwrap().concat();
        assert!(stream.ends_with(DONE.as_bytes()));
        let events = EventParser::default().push(&stream);
        let chunks = events.iter().filter_map(|event| serde_json::from_slice(&event.data).ok());
        chunks.collect::<Vec<Value>>()
    };
    let with_usage = data(r#"stream {"include_usage":true}"#);
    let (last, rest) = with_usage.split_last().unwrap();
    assert!(rest.iter().all(|chunk| chunk.get("usage") == Some(&Value::Null)));
    assert_eq!((&last["choices"], &last["usage"]), (&json!([]), &plain["usage"]));
    let without = data("stream");
    assert!(without.iter().all(|chunk| chunk.get("usage").is_none()));
    assert_eq!(without.len(), rest.len());
    for form in ["plain", r#"stream {"continuous_usage_stats":true}"#, "stream 7"] {
        assert_eq!(to_stream(ChatCompletions, plain.to_string().as_bytes(), form), None, "{form}");
    }
}

#[test]
fn a_body_that_a_stream_cannot_carry_has_none() {
    let with = |field: &str| {
        let mut body = completion(&json!([{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Hello", "refusal": null}}]));
        assert!(to_stream(ChatCompletions, body.to_string().as_bytes(), "stream").is_some());
        body["choices"][0]["message"][field] = json!([1]);
        to_stream(ChatCompletions, body.to_string().as_bytes(), "stream")
    };
    assert_eq!((with("audio"), with("annotations")), (None, None));
    let unknown = message(&json!([{"type": "compaction", "content": "x"}]));
    assert_eq!(to_stream(Messages, unknown.to_string().as_bytes(), "stream"), None);
    let mut large = message(&json!([{"type": "text", "text": "x"}]));
    large["usage"]["input_tokens"] = u64::MAX.into();
    assert_eq!(to_stream(Messages, large.to_string().as_bytes(), "stream"), None);
    assert_eq!(to_stream(Messages, b"{", "stream"), None);
}

fn any_block() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(|text| json!({"type": "text", "text": text})),
        (any::<String>(), ".{1,9}").prop_map(
            |(text, signature)| json!({"type": "thinking", "thinking": text, "signature": signature})
        ),
        any::<String>().prop_map(|data| json!({"type": "redacted_thinking", "data": data})),
        (any::<String>(), any::<i32>(), any::<f32>().prop_filter("JSON", |it| it.is_finite())).prop_map(
            |(key, whole, real)| json!({"type": "tool_use", "id": "t", "name": "n", "input": {key: [whole, real]}})
        ),
    ]
}

proptest! {
    #[test]
    fn any_message_comes_back_from_its_stream(content in prop::collection::vec(any_block(), 0..5)) {
        let body = message(&content.into());
        let stream = to_stream(Messages, body.to_string().as_bytes(), "stream").unwrap().concat();
        let expected = AssembledAnswer { body, is_exact: true, is_complete: true };
        prop_assert_eq!(assemble_stream(Messages, &stream), expected);
    }

    #[test]
    fn any_completion_comes_back_from_its_stream(
        text in ".+", calls in prop::collection::vec((any::<String>(), ".{1,5}"), 0..4),
    ) {
        let mut choice = json!({"index": 0, "finish_reason": "stop", "logprobs": null,
            "message": {"role": "assistant", "content": text, "refusal": null, "annotations": []}});
        if !calls.is_empty() {
            choice["message"]["tool_calls"] = calls.iter().map(|(arguments, id)| json!({"id": id,
                "type": "function", "function": {"name": "f", "arguments": arguments}})).collect();
        }
        let body = completion(&json!([choice]));
        let form = r#"stream {"include_usage":true}"#;
        let stream = to_stream(ChatCompletions, body.to_string().as_bytes(), form).unwrap().concat();
        let expected = AssembledAnswer { body, is_exact: true, is_complete: true };
        prop_assert_eq!(assemble_stream(ChatCompletions, &stream), expected);
    }

    /// A recorder that keeps events as they arrive in any chunks records the same answer.
    #[test]
    fn a_stream_cut_into_any_chunks_assembles_the_same(
        content in prop::collection::vec(any_block(), 0..4),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let body = message(&content.into()).to_string();
        let stream = to_stream(Messages, body.as_bytes(), "stream").unwrap().concat();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let mut parser = EventParser::default();
        let mut again = Vec::new();
        for event in cuts.windows(2).flat_map(|cut| parser.push(&stream[cut[0]..cut[1]])) {
            again.extend([b"data: ".as_slice(), &event.data, b"\n\n"].concat());
        }
        prop_assert_eq!(assemble_stream(Messages, &again), assemble_stream(Messages, &stream));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "(data: )?[\\[\\]{}\":,a-e0-9.\\n-]{0,80}") {
        for endpoint in [Messages, ChatCompletions, Responses] {
            prop_assert!(!assemble_stream(endpoint, &bytes).is_exact);
            assemble_stream(endpoint, text.as_bytes());
            to_stream(endpoint, text.as_bytes(), "stream");
        }
    }
}
