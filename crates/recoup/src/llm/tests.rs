//! Conversations with a real server on loopback that speaks both APIs.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail as tests do")]

mod cassettes;
#[allow(dead_code, reason = "the integration tests use the rest")]
#[path = "../../tests/it/model_server.rs"]
mod model_server;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use recoup_core::base::clock::Deadline;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::{Value, json};

use super::*;
use model_server::{ModelTurn, SIGNATURE, Server, respond};

const KEY: &str = "key-of-the-tests-0123456789";
const LIMITS: ModelCallLimits =
    ModelCallLimits { timeout: Duration::from_secs(20), deadline: None, max_retries: 5 };
const BOTH: [ModelProvider; 2] = ModelProvider::ALL;

/// Everything that an observer is told.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    pieces: Vec<String>,
    notices: Vec<String>,
    restarts: usize,
    /// Number of questions after which it is cancelled.
    patience: Option<Cell<usize>>,
}

impl ChatObserver for Heard {
    fn text(&mut self, piece: &str) {
        self.pieces.push(piece.to_owned());
    }
    fn restarted(&mut self) {
        self.pieces.clear();
        self.restarts += 1;
    }
    fn notice(&mut self, line: fmt::Arguments<'_>) {
        self.notices.push(line.to_string());
    }
    fn is_cancelled(&self) -> bool {
        let Some(left) = &self.patience else { return false };
        left.set(left.get().saturating_sub(1));
        left.get() == 0
    }
}

fn endpoint(name: &str, provider: ModelProvider, server: &Server) -> ProviderEndpoint {
    let (url, key_env) = (BaseUrl::parse(&server.url()).unwrap(), Some("SOME_KEY".to_owned()));
    let key = ApiKey::new(KEY);
    ProviderEndpoint { name: name.to_owned(), provider, url, key, key_env, proxy: None }
}

fn model(provider: &str) -> ModelName {
    ModelName { provider: provider.to_owned(), model: "some-model".to_owned() }
}

fn request() -> ChatRequest {
    ChatRequest {
        system: "Be brief.".to_owned(),
        messages: vec![ChatMessage::User("hello".to_owned())],
        tools: Vec::new(),
        sampling: Sampling::default(),
        max_output_tokens: 500,
        reasoning: None,
        prompt_cache: false,
        wants_json: false,
    }
}

fn tool() -> ModelTool {
    ModelTool {
        name: "files__read".to_owned(),
        description: "Reads a file".to_owned(),
        input_schema: json!({"type": "object"}),
    }
}

/// A server with one provider, `a`, and what its answers led to.
fn ask(
    provider: ModelProvider,
    server: &Server,
    asked: &ChatRequest,
) -> (Result<ChatReply>, Heard) {
    let client = ModelClient::new(vec![endpoint("a", provider, server)], None);
    let mut heard = Heard::default();
    (client.ask(&[model("a")], asked, &LIMITS, &mut heard), heard)
}

#[track_caller]
fn expect_error(result: Result<ChatReply>, kind: ErrorKind, words: &str) -> Error {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert!(!error.to_string().contains(KEY), "{error}");
    error
}

#[test]
fn text_comes_in_pieces_and_tokens_are_counted() {
    for provider in BOTH {
        let server = Server::scripted(vec![ModelTurn::text("hello to you")]);
        let (reply, heard) = ask(provider, &server, &request());
        let reply = reply.unwrap();
        assert_eq!(heard.pieces, ["hello ", "to ", "you"]);
        assert_eq!((reply.text().as_str(), reply.stop), ("hello to you", StopReason::End));
        assert_eq!(reply.usage, TokenUsage { input: 100, output: 20, cached_input: 30 });
        assert_eq!(reply.model, model("a"));
    }
}

#[test]
fn calls_are_put_together_and_everything_is_sent_back() {
    let arguments = json!({"path": "ä/b.txt", "lines": [1, 2]});
    for provider in BOTH {
        let turn = ModelTurn::text("I look").thinking();
        let turn = turn.calling("files__read", arguments.clone()).calling("files__list", json!({}));
        let server = Server::scripted(vec![turn, ModelTurn::text("done")]);
        let mut asked = ChatRequest { tools: vec![tool()], ..request() };
        let reply = ask(provider, &server, &asked).0.unwrap();
        assert_eq!(reply.stop, StopReason::ToolCalls);
        let calls: Vec<_> = reply.tool_calls().cloned().collect();
        assert_eq!((calls[0].name.as_str(), &calls[0].arguments), ("files__read", &arguments));
        assert_eq!((calls[1].name.as_str(), &calls[1].arguments), ("files__list", &json!({})));
        let results = calls.iter().map(|call| ToolCallResult {
            id: call.id.clone(),
            text: "found".to_owned(),
            is_error: call.name == "files__list",
        });
        let results = results.collect();
        asked.messages.push(ChatMessage::Assistant(reply.blocks));
        asked.messages.push(ChatMessage::ToolResults(results));
        ask(provider, &server, &asked).0.unwrap();
        let sent = server.received()[1].json()["messages"].clone();
        let expected = match provider {
            ModelProvider::Anthropic => json!([
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm, yes", "signature": SIGNATURE},
                    {"type": "text", "text": "I look"},
                    {"type": "tool_use", "id": calls[0].id, "name": "files__read", "input": arguments},
                    {"type": "tool_use", "id": calls[1].id, "name": "files__list", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": calls[0].id, "content": "found",
                     "is_error": false},
                    {"type": "tool_result", "tool_use_id": calls[1].id, "content": "found",
                     "is_error": true},
                ]},
            ]),
            ModelProvider::OpenAi => json!([
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": "I look", "reasoning_content": "hm, yes",
                 "tool_calls": [
                    {"id": calls[0].id, "type": "function",
                     "function": {"name": "files__read", "arguments": arguments.to_string()}},
                    {"id": calls[1].id, "type": "function",
                     "function": {"name": "files__list", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": calls[0].id, "content": "found"},
                {"role": "tool", "tool_call_id": calls[1].id, "content": "found"},
            ]),
        };
        assert_eq!(sent, expected);
    }
}

#[test]
fn nothing_is_sent_that_was_not_given() {
    for (provider, expected) in [
        (
            ModelProvider::Anthropic,
            json!({
                "model": "some-model", "max_tokens": 500, "stream": true, "system": "Be brief.",
                "messages": [{"role": "user", "content": "hello"}],
            }),
        ),
        (
            ModelProvider::OpenAi,
            json!({
                "model": "some-model", "max_tokens": 500, "stream": true,
                "stream_options": {"include_usage": true},
                "messages": [{"role": "system", "content": "Be brief."},
                             {"role": "user", "content": "hello"}],
            }),
        ),
    ] {
        let server = Server::scripted(vec![ModelTurn::text("x")]);
        ask(provider, &server, &request()).0.unwrap();
        let asked = server.question();
        assert_eq!(asked.json(), expected);
        let key = asked.header("x-api-key").or(asked.header("authorization")).unwrap();
        assert_eq!(key.trim_start_matches("Bearer "), KEY);
    }
}

#[test]
fn options_have_their_place_in_each_api() {
    let asked = ChatRequest {
        tools: vec![tool(), tool()],
        sampling: Sampling { temperature: Some(0.5), top_k: Some(4), ..Sampling::default() },
        prompt_cache: true,
        wants_json: true,
        ..request()
    };
    let body = |provider: ModelProvider, url: &str, asked: &ChatRequest| {
        let url = BaseUrl::parse(url).unwrap();
        provider.chat_request(&url, "m", asked, &wire::ChatOptions::default()).body
    };
    let local = "http://127.0.0.1:1";
    let sent = body(ModelProvider::Anthropic, local, &asked);
    let cached = json!({"type": "ephemeral"});
    assert_eq!(sent["system"][0]["cache_control"], cached);
    assert_eq!(sent["tools"][1]["cache_control"], cached);
    assert_eq!(sent["tools"][0].get("cache_control"), None);
    assert_eq!((&sent["temperature"], &sent["top_k"]), (&json!(0.5), &json!(4)));
    let thinking = ChatRequest { reasoning: Some(Reasoning::Tokens(2_000)), ..asked.clone() };
    let sent = body(ModelProvider::Anthropic, local, &thinking);
    assert_eq!(sent["thinking"], json!({"type": "enabled", "budget_tokens": 2_000}));
    assert_eq!((&sent["max_tokens"], sent.get("temperature")), (&json!(2_500), None));

    let asked = ChatRequest { reasoning: Some(Reasoning::High), ..asked };
    let sent = body(ModelProvider::OpenAi, "https://api.openai.com/v1", &asked);
    assert_eq!((&sent["max_completion_tokens"], sent.get("max_tokens")), (&json!(500), None));
    assert_eq!(sent["response_format"], json!({"type": "json_object"}));
    assert_eq!(sent["reasoning_effort"], "high");
    assert_eq!(sent["tools"][0]["function"]["name"], "files__read");
}

#[test]
fn an_option_that_a_server_rejects_is_left_out_from_then_on() {
    let server = Server::answering(|asked| {
        let body = asked.json();
        if body.get("temperature").is_some() {
            let said = "Unsupported value: 'temperature' does not support 0 with this model.";
            return ModelTurn::refused("400 Bad Request", "", said);
        }
        if body.get("max_tokens").is_some() {
            let said = "Unsupported parameter: use 'max_completion_tokens' instead.";
            return ModelTurn::refused("400 Bad Request", "", said);
        }
        ModelTurn::text("fine")
    });
    let client = ModelClient::new(vec![endpoint("a", ModelProvider::OpenAi, &server)], None);
    let sampling = Sampling { temperature: Some(0.0), ..Sampling::default() };
    let asked = ChatRequest { sampling, ..request() };
    let mut heard = Heard::default();
    client.ask(&[model("a")], &asked, &LIMITS, &mut heard).unwrap();
    assert_eq!(heard.notices.len(), 2, "{heard:?}");
    assert_eq!(server.connections(), 3);
    client.ask(&[model("a")], &asked, &LIMITS, &mut Heard::default()).unwrap();
    assert_eq!(server.connections(), 4);
    assert_eq!(server.received()[3].json()["max_completion_tokens"], 500);
}

#[test]
fn thinking_is_asked_for_in_the_form_that_the_model_takes() {
    let server = Server::answering(|asked| match asked.json()["thinking"]["type"].as_str() {
        Some("enabled") => ModelTurn::text("fine"),
        _ => ModelTurn::refused("400 Bad Request", "", "adaptive thinking is not supported"),
    });
    let asked = ChatRequest { reasoning: Some(Reasoning::Low), ..request() };
    let (reply, heard) = ask(ModelProvider::Anthropic, &server, &asked);
    assert_eq!((reply.unwrap().text().as_str(), heard.notices.len()), ("fine", 1));
}

#[test]
fn what_passes_is_tried_again_and_what_was_shown_is_void() {
    let retry = "Retry-After: 0\r\n";
    for (provider, error) in BOTH.into_iter().zip(["overloaded_error", "529"]) {
        let server = Server::scripted(vec![
            ModelTurn::refused("429 Too Many Requests", retry, "slowly"),
            ModelTurn::refused("529 Overloaded", retry, "busy"),
            ModelTurn::text("hello to nobody").cut_after(5),
            ModelTurn::text("hello").failing(error),
            ModelTurn::text("hello to you"),
        ]);
        let (reply, heard) = ask(provider, &server, &request());
        assert_eq!(reply.unwrap().text(), "hello to you");
        assert_eq!((heard.pieces.concat().as_str(), heard.restarts), ("hello to you", 2));
        assert_eq!((heard.notices.len(), server.connections()), (4, 5));
        assert!(heard.notices[0].contains("429 Too Many Requests: slowly; attempt 2 of 6"));
    }
}

#[test]
fn a_stream_without_its_end_is_no_answer() {
    for (provider, last) in BOTH.into_iter().zip([8, 6]) {
        let whole = ModelTurn::text("all of it");
        let server = Server::answering(move |_| whole.clone().cut_after(last));
        let client = ModelClient::new(vec![endpoint("a", provider, &server)], None);
        let limits = ModelCallLimits { max_retries: 1, ..LIMITS };
        let reply = client.ask(&[model("a")], &request(), &limits, &mut Heard::default());
        expect_error(reply, ErrorKind::Unavailable, "the model's answer was cut off");
        assert_eq!(server.connections(), 2);
    }
}

#[test]
fn models_are_asked_in_order() {
    let refusing = Server::answering(|_| ModelTurn::refused("404 Not Found", "", "no such model"));
    let busy = "Retry-After: 3600\r\n";
    let busy = Server::answering(move |_| ModelTurn::refused("429 Too Many", busy, "later"));
    let good = Server::answering(|_| ModelTurn::text("here"));
    let endpoints = vec![
        endpoint("a", ModelProvider::Anthropic, &refusing),
        endpoint("b", ModelProvider::OpenAi, &busy),
        endpoint("c", ModelProvider::OpenAi, &good),
    ];
    let client = ModelClient::new(endpoints, None);
    let mut heard = Heard::default();
    let models = ["nobody", "a", "b", "c"].map(model);
    let reply = client.ask(&models, &request(), &LIMITS, &mut heard).unwrap();
    assert_eq!((reply.model, heard.notices.len()), (model("c"), 3));
    assert_eq!((refusing.connections(), busy.connections()), (1, 1));
    assert!(heard.notices[0].contains("unknown provider \"nobody\": expected one of a, b, c"));

    let reply = client.ask(&models[..2], &request(), &LIMITS, &mut heard);
    expect_error(reply, ErrorKind::Unavailable, "a/some-model: 127.0.0.1:");
    let reply = client.ask(&models[1..3], &request(), &LIMITS, &mut heard);
    expect_error(reply, ErrorKind::Unavailable, "no model answered: a/some-model:");
}

#[test]
fn mistakes_of_the_user_are_not_tried_again() {
    for status in ["400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found"] {
        let server = Server::answering(move |_| ModelTurn::refused(status, "", KEY));
        let reply = ask(ModelProvider::Anthropic, &server, &request()).0;
        expect_error(reply, ErrorKind::Unavailable, &format!("answered {status}: [key]"));
        assert_eq!(server.connections(), 1);
    }
    let url = BaseUrl::parse("https://model.invalid").unwrap();
    let server = Server::scripted(Vec::new());
    let keyless = endpoint("a", ModelProvider::Anthropic, &server);
    let client = ModelClient::new(vec![ProviderEndpoint { url, key: None, ..keyless }], None);
    let reply = client.ask(&[model("a")], &request(), &LIMITS, &mut Heard::default());
    expect_error(reply, ErrorKind::Usage, "no API key in SOME_KEY");
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = Server::answering(|_| ModelTurn::text("x"));
    let location = format!("Location: http://localhost:{}/\r\n", elsewhere.port());
    let server = Server::start(move |_, stream| respond(stream, "307 Gone", &location, b""));
    let reply = ask(ModelProvider::OpenAi, &server, &request()).0;
    let words = "redirects to localhost, but redirects are not followed: set providers.a.base_url";
    expect_error(reply, ErrorKind::Unavailable, words);
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn silence_deadlines_and_cancellation_end_the_wait() {
    let server = Server::start(|_, stream| model_server::wait_for_the_end(stream));
    let client = ModelClient::new(vec![endpoint("a", ModelProvider::Anthropic, &server)], None);
    let began = Instant::now();
    let ask = |limits: &ModelCallLimits, mut heard: Heard| {
        client.ask(&[model("a"), model("a")], &request(), limits, &mut heard)
    };
    let short = Duration::from_millis(100);
    let limits = ModelCallLimits { timeout: short, max_retries: 0, ..LIMITS };
    expect_error(ask(&limits, Heard::default()), ErrorKind::Unavailable, "sent nothing for 100 ms");
    let limits = ModelCallLimits { deadline: Some(Deadline::after(short)), ..LIMITS };
    let reply = ask(&limits, Heard::default());
    expect_error(reply, ErrorKind::Unavailable, "the time limit of the run");
    let heard = Heard { patience: Some(Cell::new(3)), ..Heard::default() };
    expect_error(ask(&LIMITS, heard), ErrorKind::Unavailable, "cancelled");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn slow_tokens_are_waited_for() {
    let slow = Duration::from_millis(60);
    let server = Server::answering(move |_| ModelTurn::text("a b c d e").slow(slow));
    let client = ModelClient::new(vec![endpoint("a", ModelProvider::Anthropic, &server)], None);
    let limits = ModelCallLimits { timeout: Duration::from_millis(400), ..LIMITS };
    let mut heard = Heard::default();
    client.ask(&[model("a")], &request(), &limits, &mut heard).unwrap();
    assert_eq!((heard.pieces.len(), heard.notices.len()), (5, 0), "{heard:?}");
}

#[test]
fn ends_are_told_apart() {
    for (provider, stop, expected) in [
        (ModelProvider::Anthropic, "max_tokens", StopReason::Length),
        (ModelProvider::Anthropic, "refusal", StopReason::Refused),
        (ModelProvider::OpenAi, "length", StopReason::Length),
        (ModelProvider::OpenAi, "content_filter", StopReason::Refused),
    ] {
        let server = Server::answering(move |_| ModelTurn::text("I").stopping(stop));
        assert_eq!(ask(provider, &server, &request()).0.unwrap().stop, expected);
    }
    let paused = ModelTurn::text("one, ").stopping("pause_turn");
    let server = Server::scripted(vec![paused, ModelTurn::text("two")]);
    let (reply, heard) = ask(ModelProvider::Anthropic, &server, &request());
    let reply = reply.unwrap();
    assert_eq!((reply.text().as_str(), reply.usage.output), ("one, two", 40));
    assert_eq!(heard.pieces.concat(), "one, two");
    let continued = server.received()[1].json();
    assert_eq!(continued["messages"][1]["content"][0]["text"], "one, ");
}

#[test]
fn an_answer_without_a_good_end_is_asked_for_again() {
    for provider in BOTH {
        let cut = ModelTurn::text("half an").stopping("abort");
        let server = Server::scripted(vec![cut, ModelTurn::text("a whole answer")]);
        let (reply, heard) = ask(provider, &server, &request());
        assert_eq!(reply.unwrap().text(), "a whole answer");
        assert_eq!((heard.restarts, heard.notices.len()), (1, 1), "{heard:?}");
        assert!(heard.notices[0].contains("the model's answer was cut off"), "{heard:?}");
    }
    let limits = ModelCallLimits { max_retries: 0, ..LIMITS };
    let called = json!([{"id": "1", "function": {"name": "files__read", "arguments": "{}"}}]);
    for (reason, calls, stop) in [
        (json!("error"), Value::Null, None),
        (json!("abort"), called.clone(), None),
        (Value::Null, Value::Null, None),
        (json!(7), called.clone(), None),
        (Value::Null, called.clone(), Some(StopReason::ToolCalls)),
        (json!("function_call"), called, Some(StopReason::ToolCalls)),
        (json!("model_length"), Value::Null, Some(StopReason::Length)),
    ] {
        let mut message = json!({"content": "half"});
        if calls.is_array() {
            message["tool_calls"] = calls;
        }
        let plain = json!({"choices": [{"message": message, "finish_reason": reason}]});
        let blocks = json!([{"type": "text", "text": "half"}]);
        let other = json!({"content": blocks, "stop_reason": reason});
        for (provider, body, stop) in
            [(ModelProvider::OpenAi, plain, stop), (ModelProvider::Anthropic, other, None)]
        {
            let server = Server::saying("200 OK", "", body.to_string());
            let client = ModelClient::new(vec![endpoint("a", provider, &server)], None);
            let reply = client.ask(&[model("a")], &request(), &limits, &mut Heard::default());
            match stop {
                Some(stop) => assert_eq!(reply.unwrap().stop, stop),
                None => drop(expect_error(reply, ErrorKind::Unavailable, "was cut off")),
            }
        }
    }
}

#[test]
fn a_server_that_does_not_stream_is_understood() {
    let text = json!({"choices": [{"message": {"content": "plain"}, "finish_reason": "stop"}]});
    let server = Server::saying("200 OK", "", text.to_string());
    let (reply, heard) = ask(ModelProvider::OpenAi, &server, &request());
    assert_eq!(
        (reply.unwrap().text().as_str(), heard.pieces.concat().as_str()),
        ("plain", "plain")
    );
    for body in ["", "<html>Sign in</html>", "[]", "{\"choices\":[]}"] {
        let server = Server::saying("200 OK", "", body.to_owned());
        for provider in BOTH {
            let reply = ask(provider, &server, &request()).0;
            expect_error(reply, ErrorKind::Invalid, "the answer does not match this API");
        }
    }
}

#[test]
fn calls_are_told_apart_on_servers_with_habits_of_their_own() {
    let whole = |id: &str, name: &str| json!({"index": 0, "id": id, "function": {"name": name, "arguments": "{\"a\":1}"}});
    let without = json!({"function": {"name": "third", "arguments": {"a": 1}}});
    let mut stream = ModelProvider::OpenAi.answer_stream();
    for call in [whole("x", "first"), whole("y", "second"), without] {
        let delta = json!({"choices": [{"delta": {"tool_calls": [call]}}]});
        stream.push(&delta.to_string()).unwrap();
    }
    let wire::StreamStep::Complete(body) = stream.push("[DONE]").unwrap() else { panic!() };
    let answer = ModelProvider::OpenAi.read_answer(&body).unwrap();
    let calls = answer.blocks.iter().map(|block| match block {
        ReplyBlock::ToolCall(call) => (call.id.clone(), call.name.clone(), call.arguments.clone()),
        other => panic!("{other:?}"),
    });
    let expected = [("x", "first"), ("y", "second"), ("call_2", "third")];
    let expected = expected.map(|(id, name)| (id.to_owned(), name.to_owned(), json!({"a": 1})));
    assert_eq!(calls.collect::<Vec<_>>(), expected);
}

#[test]
fn a_connection_is_used_again() {
    let server = Server::start(|asked, stream| {
        let mut asked = asked.clone();
        loop {
            ModelTurn::text("hello").keeping_open().perform(&asked, stream);
            let Some(next) = model_server::receive(stream) else { return };
            asked = next;
        }
    });
    let client = ModelClient::new(vec![endpoint("a", ModelProvider::OpenAi, &server)], None);
    for _ in 0..3 {
        client.ask(&[model("a")], &request(), &LIMITS, &mut Heard::default()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn strange_events_break_nothing() {
    let odd = [json!(null), json!(1), json!("x"), json!([]), json!({}), json!([1, {"index": 0}])];
    for provider in BOTH {
        let fields = match provider {
            ModelProvider::Anthropic => {
                ["message", "content_block", "delta", "usage", "index", "error"].as_slice()
            }
            ModelProvider::OpenAi => ["choices", "usage", "error", "index", "id", "x"].as_slice(),
        };
        let kinds = [
            "message_start", "content_block_start", "content_block_delta", "content_block_stop",
            "message_delta", "message_stop", "error",
        ];
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..3_000 {
            let mut stream = provider.answer_stream();
            let start = json!({"type": "message_start", "message": {"content": [], "usage": 1}});
            let _ = stream.push(&start.to_string());
            for _ in 0..6 {
                let mut event = json!({"type": kinds[random.usize(..kinds.len())]});
                for field in fields {
                    event[*field] = odd[random.usize(..odd.len())].clone();
                }
                let choice = json!({"delta": event.clone(), "index": 0});
                if random.bool() {
                    event["choices"] = json!([choice]);
                }
                if let Ok(wire::StreamStep::Complete(body)) = stream.push(&event.to_string()) {
                    let _ = provider.read_answer(&body);
                }
            }
        }
    }
}

#[test]
fn one_client_serves_many_threads() {
    let server = Server::answering(|asked| {
        let body: Value = asked.json();
        ModelTurn::text(body["messages"][0]["content"].as_str().unwrap())
    });
    let client = ModelClient::new(vec![endpoint("a", ModelProvider::Anthropic, &server)], None);
    let client = Arc::new(client);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let client = Arc::clone(&client);
            scope.spawn(move || {
                let text = format!("question {number}");
                let messages = vec![ChatMessage::User(text.clone())];
                let asked = ChatRequest { messages, ..request() };
                let reply = client.ask(&[model("a")], &asked, &LIMITS, &mut Heard::default());
                assert_eq!(reply.unwrap().text(), text);
            });
        }
    });
}
