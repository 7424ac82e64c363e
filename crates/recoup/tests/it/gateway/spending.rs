//! What answers cost, and who is refused when a budget is used up: every answer that an upstream gave is
//! counted, whoever read it.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::operations::wait_for;
use super::{Gateway, MESSAGES, message, question, streamed};
use crate::model_server::{ModelTurn, Server, respond};
use crate::support::Home;

const CHAT: &str = "/v1/chat/completions";

/// Tokens and millionths of a dollar that were spent today.
fn spent(home: &Home) -> (u64, u64) {
    let text = std::fs::read_to_string(home.recoup().join("gateway-spend.json"));
    let Ok(file) = serde_json::from_str::<Value>(&text.unwrap_or_default()) else { return (0, 0) };
    let tenants = file["tenants"].as_object().unwrap();
    let sum = |name: &str| tenants.values().map(|it| it[name].as_u64().unwrap()).sum();
    (sum("tokens"), sum("micro_dollars"))
}

fn wait_for_tokens(home: &Home, tokens: u64) {
    assert_eq!(wait_for(|| spent(home).0, |it| *it >= tokens), tokens);
}

#[test]
fn answers_whose_client_has_gone_and_refreshes_are_counted() {
    let home = Home::new();
    let upstream = Server::start(|_, stream| {
        thread::sleep(Duration::from_millis(300));
        respond(stream, "200 OK", "", message("ok").as_bytes());
    });
    let gateway = Gateway::caching(&home, &upstream);
    let body = question("a").to_string();
    let mut client = gateway.connect();
    let length = body.len();
    write!(
        client,
        "POST {MESSAGES} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    wait_for(|| upstream.received().len(), |it| *it == 1);
    drop(client);
    wait_for_tokens(&home, 1200);
    let stale = [("Recoup-TTL", "1s"), ("Cache-Control", "stale-while-revalidate=600")];
    gateway.post(MESSAGES, &stale, &question("b"));
    wait_for_tokens(&home, 2400);
    wait_for(|| gateway.post(MESSAGES, &stale, &question("b")), |it| it.outcome() == "stale");
    wait_for(|| spent(&home).0, |it| *it >= 3600);
}

#[test]
fn a_stream_that_does_not_say_what_it_used_is_estimated() {
    let home = Home::new();
    let words = "an answer of some words ".repeat(10);
    let upstream = Server::start(move |asked, stream| {
        assert!(asked.json()["stream_options"].is_null());
        let chunk = |delta: Value, end: Value| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": end });
            let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "created": 1,
                                "model": "gpt-5", "choices": [choice] });
            format!("data: {chunk}\n\n")
        };
        let text = chunk(json!({ "role": "assistant", "content": words }), Value::Null);
        let body = format!("{text}{}data: [DONE]\n\n", chunk(json!({}), json!("stop")));
        respond(stream, "200 OK", "Content-Type: text/event-stream\r\n", body.as_bytes());
    });
    let gateway = Gateway::start(&home, &upstream, "tokens_per_day = 500\n");
    let ask = || {
        let body = json!({ "model": "gpt-5", "stream": true,
                           "messages": [{ "role": "user", "content": "hello" }] });
        gateway.post(CHAT, &[], &body).status
    };
    assert_eq!(ask(), 200);
    let one = wait_for(|| spent(&home).0, |it| *it > 0);
    assert!((60..150).contains(&one), "{one}");
    assert_eq!(wait_for(ask, |it| *it != 200), 429);
}

#[test]
fn nothing_that_may_cost_passes_when_the_budget_is_used_up() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::start(&home, &upstream, "tokens_per_day = 1000\n");
    gateway.post(MESSAGES, &[], &question("a"));
    wait_for_tokens(&home, 1200);
    for path in ["/v1/messages/batches", "/v1//messages", "/v1/message%73", "/v1/completions"] {
        assert_eq!(gateway.post(path, &[], &question("a")).status, 429, "{path}");
    }
    let upgrade = [("Upgrade", "websocket"), ("Connection", "Upgrade")];
    assert_eq!(gateway.post(MESSAGES, &upgrade, &question("a")).status, 429);
    assert_eq!(gateway.get("/v1/models").status, 200, "it costs nothing");
}

#[test]
fn cached_input_has_its_own_price_in_budgets_and_in_what_is_saved() {
    let home = Home::new();
    let mut answer: Value = serde_json::from_str(&message("ok")).unwrap();
    answer["usage"] = json!({ "input_tokens": 0, "output_tokens": 0,
        "cache_read_input_tokens": 1_000_000, "cache_creation_input_tokens": 1_000_000,
        "cache_creation": { "ephemeral_1h_input_tokens": 1_000_000 } });
    let upstream = Server::saying("200 OK", "", answer.to_string());
    let gateway = Gateway::caching(&home, &upstream);
    gateway.post(MESSAGES, &[], &question("a"));
    // At 3 dollars a million: a tenth for what was read, twice as much for what is kept for an hour.
    wait_for(|| spent(&home), |it| it.1 == 6_300_000);
    let hit = wait_for(|| gateway.post(MESSAGES, &[], &question("a")), |it| it.outcome() == "hit");
    assert!(hit.header("recoup-cache").unwrap().contains("saved-usd=6.300000"), "{hit:?}");
}

#[test]
fn only_a_cached_answer_means_that_nobody_is_asked() {
    let home = Home::new();
    let upstream = Server::answering(|_| ModelTurn::text("an answer"));
    let gateway = Gateway::start(&home, &upstream, "");
    let only = ("Cache-Control", "only-if-cached");
    let mut stateful = question("a");
    stateful["mcp_servers"] = json!([{ "name": "x" }]);
    for (path, headers, body) in [
        (MESSAGES, vec![only], question("a")),
        (MESSAGES, vec![only, ("Recoup-TTL", "off")], question("a")),
        (MESSAGES, vec![only, ("Recoup-TTL", "1h")], stateful),
        (MESSAGES, vec![only, ("Cache-Control", "no-cache"), ("Recoup-TTL", "1h")], question("a")),
        (MESSAGES, vec![only, ("Recoup-TTL", "1h")], streamed("a")),
        ("/v1/completions", vec![only], question("a")),
    ] {
        assert_eq!(gateway.post(path, &headers, &body).status, 504, "{path} {headers:?}");
    }
    assert!(upstream.received().is_empty());
}
