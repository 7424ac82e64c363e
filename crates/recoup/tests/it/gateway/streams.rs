//! Streams: recorded while they pass, replayed event for event, and made of each other.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Gateway, MESSAGES, message, question, streamed};
use crate::model_server::{ModelTurn, Server};
use crate::support::Home;

#[test]
fn a_stream_is_replayed_byte_for_byte() {
    let home = Home::new();
    let turn = ModelTurn::text("a few words").thinking().calling("look", json!({ "at": [1, 2] }));
    let upstream = Server::answering(move |_| turn.clone());
    let gateway = Gateway::caching(&home, &upstream);
    let first = gateway.post(MESSAGES, &[], &streamed("a"));
    assert!(first.text().starts_with("event: ping"), "{first:?}");
    assert!(first.text().contains("signature_delta"));
    let second = gateway.post(MESSAGES, &[], &streamed("a"));
    assert_eq!((first.outcome(), second.outcome()), ("miss", "hit"));
    assert_eq!(first.text(), second.text());
    assert_eq!(second.header("content-type"), Some("text/event-stream"));
    assert!(second.head.contains("saved-tokens=120"), "{second:?}");
    let chat = json!({ "model": "gpt-4.1", "stream": true, "messages": [] });
    let first = gateway.post("/v1/chat/completions", &[], &chat);
    assert!(first.text().ends_with("data: [DONE]\n\n"), "{first:?}");
    let second = gateway.post("/v1/chat/completions", &[], &chat);
    assert_eq!((second.outcome(), second.text()), ("hit", first.text()));
    assert_eq!(upstream.received().len(), 2);
}

#[test]
fn a_stream_passes_while_it_arrives() {
    let home = Home::new();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let upstream = Server::start(move |_, stream| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(format!("{head}8\r\ndata: 1\n\r\n").as_bytes()).unwrap();
        // The second part comes only when the first has reached the client.
        wait.lock().unwrap().recv().unwrap();
        stream.write_all(b"1\r\n\n\r\n0\r\n\r\n").unwrap();
    });
    let gateway = Gateway::caching(&home, &upstream);
    let mut stream = gateway.connect();
    let body = streamed("a").to_string();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut seen = Vec::new();
    let mut piece = [0; 1024];
    while !String::from_utf8_lossy(&seen).contains("data: 1") {
        let count = stream.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..count]);
    }
    go.send(()).unwrap();
    while !seen.ends_with(b"0\r\n\r\n") {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..count]);
    }
}

#[test]
fn a_stream_that_is_cut_or_fails_is_not_kept() {
    let home = Home::new();
    let upstream = Server::answering(|asked| {
        let turn = ModelTurn::text("some words of an answer");
        match asked.json()["messages"][0]["content"].as_str().unwrap() {
            "cut" => turn.cut_after(4),
            "error" => turn.failing("overloaded_error"),
            "length" => turn.stopping("max_tokens"),
            _ => turn,
        }
    });
    let gateway = Gateway::caching(&home, &upstream);
    for text in ["cut", "error", "length"] {
        let first = gateway.post(MESSAGES, &[], &streamed(text));
        assert_eq!((first.status, first.outcome()), (200, "miss"), "{text}");
        assert_eq!(gateway.post(MESSAGES, &[], &streamed(text)).outcome(), "miss", "{text}");
    }
    let cut = gateway.post(MESSAGES, &[], &streamed("cut"));
    // What came before the cut arrives.
    assert!(
        cut.text().contains("message_start") && !cut.text().contains("message_stop"),
        "{cut:?}"
    );
}

#[test]
fn a_plain_request_is_answered_from_a_stream_and_the_other_way_round() {
    let home = Home::new();
    let upstream = Server::start(|asked, stream| {
        if asked.json()["stream"] == true {
            ModelTurn::text("so it is").perform(asked, stream);
        } else {
            crate::model_server::respond(
                stream,
                "200 OK",
                "Content-Type: application/json\r\n",
                message("so it is").as_bytes(),
            );
        }
    });
    let gateway = Gateway::caching(&home, &upstream);
    let store = |question: &Value| {
        // The second waits until the first is stored.
        let ask = || gateway.post(MESSAGES, &[], question).outcome().to_owned();
        assert_eq!((ask().as_str(), ask().as_str()), ("miss", "hit"));
    };
    store(&streamed("a"));
    let plain = gateway.post(MESSAGES, &[], &question("a"));
    assert_eq!((plain.outcome(), plain.header("content-type")), ("hit", Some("application/json")));
    assert_eq!(plain.json()["content"], json!([{ "type": "text", "text": "so it is" }]));
    assert_eq!(plain.json()["stop_reason"], "end_turn");
    store(&question("b"));
    let stream = gateway.post(MESSAGES, &[], &streamed("b"));
    assert_eq!(stream.outcome(), "hit");
    let events: Vec<Value> = stream
        .text()
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .collect();
    assert_eq!(events.first().unwrap()["type"], "message_start");
    assert_eq!(events.last().unwrap()["type"], "message_stop");
    assert_eq!(upstream.received().len(), 2);
}

#[test]
fn a_stream_can_be_replayed_at_its_own_pace() {
    let home = Home::new();
    let turn = ModelTurn::text("one two three").slow(Duration::from_millis(40));
    let upstream = Server::answering(move |_| turn.clone());
    let gateway = Gateway::start(&home, &upstream, "ttl = \"1h\"\nreplay = \"recorded\"\n");
    let first = gateway.post(MESSAGES, &[], &streamed("a"));
    let begun = std::time::Instant::now();
    let second = gateway.post(MESSAGES, &[], &streamed("a"));
    assert_eq!((second.outcome(), second.text()), ("hit", first.text()));
    // Nine events, each after a pause: a replay at once would not wait at all.
    assert!(begun.elapsed() >= Duration::from_millis(200));
}
