//! Plain answers: what reaches the upstream, what is kept, and what is not.

use serde_json::{Value, json};

use super::{Gateway, MESSAGES, message, question};
use crate::model_server::{Server, openai, respond};
use crate::support::Home;

#[test]
fn a_repeated_request_is_answered_without_the_upstream() {
    let home = Home::new();
    let body = message("four");
    let upstream = Server::saying(
        "200 OK",
        "Content-Type: application/json\r\nRequest-Id: req_7\r\n",
        body.clone(),
    );
    let gateway = Gateway::caching(&home, &upstream);
    let first = gateway.post(MESSAGES, &[], &question("two and two?"));
    assert_eq!((first.status, first.text()), (200, body.clone()));
    assert!(first.header("recoup-cache").unwrap().contains("miss; key="), "{first:?}");
    assert!(first.head.contains("no entry for this key"), "{first:?}");
    let second = gateway.post(MESSAGES, &[], &question("two and two?"));
    assert_eq!((second.status, second.text()), (200, body));
    assert_eq!(second.header("request-id"), Some("req_7"));
    let report = second.header("recoup-cache").unwrap();
    assert!(report.starts_with("hit; key="), "{report}");
    // 1,000 tokens at 3 dollars a million, and 200 at 15.
    assert!(report.ends_with("saved-tokens=1200; saved-usd=0.006000"), "{report}");
    assert_ne!(first.header("recoup-request-id"), second.header("recoup-request-id"));
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn the_upstream_gets_the_request_byte_for_byte_with_headers_in_their_order_and_case() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    let headers = [
        ("anthropic-beta", "context-1m-2025-08-07,fine-grained-tool-streaming-2025-05-14"),
        ("X-Api-Key", "sk-ant-xyz"),
        ("anthropic-version", "2023-06-01"),
        ("x-Stainless-OS", "Linux"),
        ("Recoup-TTL", "1h"),
        ("Content-Type", "application/json"),
        ("cookie", "a=1"),
    ];
    // Neither the order of the members nor the spaces are ours to change.
    let body = "{ \"model\":\"claude-sonnet-4-5\",  \"max_tokens\": 1e2, \"messages\":[\
        {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"h\\u00e9\",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}\n";
    assert_eq!(gateway.post_text("/v1/messages?beta=true", &headers, body).outcome(), "miss");
    let asked = upstream.question();
    assert_eq!(asked.body, body);
    let host = upstream.url().replace("http://", "");
    let expected = format!(
        "POST /v1/messages?beta=true HTTP/1.1\r\nHost: {host}\r\n\
         anthropic-beta: context-1m-2025-08-07,fine-grained-tool-streaming-2025-05-14\r\n\
         X-Api-Key: sk-ant-xyz\r\nanthropic-version: 2023-06-01\r\nx-Stainless-OS: Linux\r\n\
         Content-Type: application/json\r\ncookie: a=1\r\nContent-Length: {}",
        body.len()
    );
    assert_eq!(asked.head, expected);
}

#[test]
fn nothing_is_cached_without_a_duration() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::start(&home, &upstream, "");
    for _ in 0..2 {
        let answer = gateway.post(MESSAGES, &[], &question("a"));
        assert_eq!(answer.outcome(), "bypass");
        assert!(answer.head.contains("no TTL is configured"), "{answer:?}");
    }
    assert_eq!(upstream.received().len(), 2);
    let with = |ttl| gateway.post(MESSAGES, &[("Recoup-TTL", ttl)], &question("a"));
    assert_eq!((with("1h").outcome(), with("1h").outcome()), ("miss", "hit"));
    assert_eq!(with("off").outcome(), "bypass");
    let wrong = with("soon");
    assert_eq!(wrong.status, 400);
    assert!(wrong.json()["error"]["message"].as_str().unwrap().contains("Recoup-TTL"), "{wrong:?}");
}

#[test]
fn rules_give_durations_by_model_path_and_upstream() {
    let home = Home::new();
    let upstream = Server::start(|asked, stream| {
        let body =
            if asked.head.contains("/messages") { message("a") } else { openai("b", Some((1, 2))) };
        respond(stream, "200 OK", "", body.as_bytes());
    });
    let rules = "\n[[gateway.cache]]\nmodel = \"claude-opus-*\"\nttl = \"off\"\n\
                 [[gateway.cache]]\nupstream = \"anthropic\"\nttl = \"1h\"\n";
    let gateway = Gateway::start(&home, &upstream, rules);
    let ask = |path: &str, model: &str| {
        let body = json!({ "model": model, "messages": [{ "role": "user", "content": "x" }] });
        gateway.post(path, &[], &body).outcome().to_owned()
    };
    assert_eq!(ask(MESSAGES, "claude-opus-4-5"), "bypass");
    assert_eq!(ask(MESSAGES, "claude-haiku-4-5"), "miss");
    assert_eq!(ask(MESSAGES, "claude-haiku-4-5"), "hit");
    assert_eq!(ask("/anthropic/v1/messages", "claude-haiku-4-5"), "hit");
    assert_eq!(ask("/v1/chat/completions", "gpt-4.1"), "bypass");
}

#[test]
fn a_client_can_ask_for_a_fresh_answer_or_for_none_to_be_kept() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    let ask = |control| gateway.post(MESSAGES, &[("Cache-Control", control)], &question("a"));
    let missing = ask("only-if-cached");
    assert_eq!((missing.status, missing.outcome()), (504, "miss"));
    assert_eq!(ask("no-store").outcome(), "miss");
    assert_eq!(ask("only-if-cached").status, 504, "nothing was kept");
    assert_eq!(ask("max-age=60").outcome(), "miss");
    assert_eq!(ask("max-age=60").outcome(), "hit");
    assert_eq!(ask("no-cache").outcome(), "miss");
    assert_eq!(ask("only-if-cached").outcome(), "hit");
    assert_eq!(upstream.received().len(), 3);
}

#[test]
fn fields_that_do_not_change_the_answer_do_not_count_and_all_others_do() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).outcome(), "miss");
    let with = |field: &str, value: Value| {
        let mut question = question("a");
        question[field] = value;
        gateway.post(MESSAGES, &[], &question).outcome().to_owned()
    };
    for (field, value) in [
        ("metadata", json!({ "user_id": "u1" })),
        ("service_tier", json!("auto")),
        ("store", json!(false)),
        (
            "messages",
            json!([{ "role": "user", "content": [{ "type": "text", "text": "a", "cache_control": { "type": "ephemeral" } }] }]),
        ),
    ] {
        assert_eq!(with(field, value), "hit", "{field}");
    }
    for (field, value) in [
        ("metadata", json!({ "user_id": "u1", "trace": "7" })),
        ("temperature", json!(0)),
        ("max_tokens", json!(101)),
        ("system", json!("be brief")),
        ("a_field_of_tomorrow", json!(true)),
        ("messages", json!([{ "role": "user", "content": "A" }])),
    ] {
        assert_eq!(with(field, value), "miss", "{field}");
    }
    // Responses are stored by the provider unless this says otherwise, so it counts there.
    let response = |more: Value| {
        let mut body = json!({ "model": "gpt-5", "input": "a" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let only = [("Cache-Control", "only-if-cached")];
        gateway.post("/v1/responses", &only, &body).header("recoup-cache").unwrap().to_owned()
    };
    assert_ne!(response(json!({ "store": false })), response(json!({})));
    let beta = |value| gateway.post(MESSAGES, &[("anthropic-beta", value)], &question("a"));
    assert_eq!(beta("b,a").outcome(), "miss");
    assert_eq!(beta("a, b").outcome(), "hit", "a set");
}

#[test]
fn what_has_effects_or_failed_is_never_kept() {
    let home = Home::new();
    let upstream = Server::start(|asked, stream| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let mut answer: Value = serde_json::from_str(&message("ok")).unwrap();
        match body["messages"][0]["content"].as_str().unwrap() {
            "refuse" => answer["stop_reason"] = json!("refusal"),
            "cut" => answer["stop_reason"] = json!("max_tokens"),
            "empty" => answer["content"] = json!([]),
            "fail" => return respond(stream, "529 Overloaded", "", b"{\"type\":\"error\"}"),
            "garbage" => return respond(stream, "200 OK", "", b"<html>"),
            _ => {}
        }
        respond(stream, "200 OK", "", answer.to_string().as_bytes());
    });
    let gateway = Gateway::caching(&home, &upstream);
    for text in ["refuse", "cut", "empty", "fail", "garbage"] {
        let first = gateway.post(MESSAGES, &[], &question(text));
        assert_eq!(gateway.post(MESSAGES, &[], &question(text)).outcome(), "miss", "{text}");
        assert_eq!(first.status, if text == "fail" { 529 } else { 200 });
    }
    for (field, value) in [
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!("conv_1")),
        ("store", json!(true)),
        ("background", json!(true)),
        ("tools", json!([{ "type": "web_search_20250305", "name": "web_search" }])),
        ("mcp_servers", json!([{ "url": "https://x" }])),
    ] {
        let mut question = question("effects");
        question[field] = value;
        for _ in 0..2 {
            assert_eq!(gateway.post(MESSAGES, &[], &question).outcome(), "bypass", "{field}");
        }
    }
    let mut own_tool = question("tool");
    own_tool["tools"] = json!([{ "name": "f", "input_schema": { "type": "object" } }]);
    assert_eq!(gateway.post(MESSAGES, &[], &own_tool).outcome(), "miss");
    assert_eq!(gateway.post(MESSAGES, &[], &own_tool).outcome(), "hit");
}

#[test]
fn a_normaliser_changes_the_key_and_never_the_request() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let settings = "ttl = \"1h\"\nnormalise = [\"dates\"]\n";
    let gateway = Gateway::start(&home, &upstream, settings);
    let ask = |day: &str| {
        let mut question = question("a");
        question["system"] = json!(format!("Today is {day}."));
        gateway.post(MESSAGES, &[], &question).outcome().to_owned()
    };
    assert_eq!((ask("2026-11-18").as_str(), ask("2026-11-19").as_str()), ("miss", "hit"));
    assert!(upstream.question().body.contains("2026-11-18"));
}

#[test]
fn other_paths_pass_as_they_are() {
    let home = Home::new();
    let upstream = Server::saying("201 Created", "X-Odd: yes\r\n", "made".to_owned());
    let gateway = Gateway::caching(&home, &upstream);
    for _ in 0..2 {
        let answer = gateway.post_text("/openai/v1/files?purpose=x", &[("X-A", "b")], "anything");
        assert_eq!((answer.status, answer.text().as_str()), (201, "made"));
        assert_eq!((answer.outcome(), answer.header("x-odd")), ("bypass", Some("yes")));
    }
    let asked = upstream.received();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].head.starts_with("POST /v1/files?purpose=x HTTP/1.1"), "{:?}", asked[0]);
    assert_eq!(asked[0].body, "anything");
    let lost = gateway.get("/nowhere/at/all");
    assert_eq!(lost.status, 404);
    assert!(lost.text().contains("/anthropic/v1/"), "{lost:?}");
}

#[test]
fn an_answer_that_comes_compressed_is_passed_so_and_replayed_plain() {
    use std::io::Write as _;
    let home = Home::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(message("squeezed").as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let sent = packed.clone();
    let upstream = Server::start(move |_, stream| {
        respond(stream, "200 OK", "Content-Encoding: gzip\r\n", &sent);
    });
    let gateway = Gateway::caching(&home, &upstream);
    let first = gateway.post(MESSAGES, &[("Accept-Encoding", "gzip")], &question("a"));
    assert_eq!((first.body.clone(), first.header("content-encoding")), (packed, Some("gzip")));
    let second = gateway.post(MESSAGES, &[("Accept-Encoding", "gzip")], &question("a"));
    assert_eq!((second.outcome(), second.text()), ("hit", message("squeezed")));
    assert_eq!(second.header("content-encoding"), None);
}

#[test]
fn answers_survive_a_restart() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).outcome(), "miss");
    gateway.stop();
    let gateway = Gateway::caching(&home, &upstream);
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).outcome(), "hit");
}

/// Embeds each text as its length, and counts a token for each word.
fn embedding_server() -> Server {
    Server::start(|asked, stream| {
        let body = asked.json();
        let texts = match &body["input"] {
            Value::Array(texts) => texts.clone(),
            one => vec![one.clone()],
        };
        let item = |(index, text): (usize, &Value)| {
            let length = text.as_str().unwrap().len();
            format!(
                "{{\"object\":\"embedding\",\"index\":{index},\"embedding\":[{length}.50,-1e-05]}}"
            )
        };
        let items: Vec<String> = texts.iter().enumerate().map(item).collect();
        if texts.contains(&json!("slow")) {
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
        let tokens = texts.len() * 3;
        let body = format!(
            "{{\"object\":\"list\",\"data\":[{}],\"model\":\"text-embedding-3-small\",\
             \"usage\":{{\"prompt_tokens\":{tokens},\"total_tokens\":{tokens}}}}}",
            items.join(",")
        );
        respond(stream, "200 OK", "Content-Type: application/json\r\n", body.as_bytes());
    })
}

#[test]
fn embeddings_are_asked_for_text_by_text() {
    let home = Home::new();
    let upstream = embedding_server();
    let gateway = Gateway::caching(&home, &upstream);
    let body = json!({ "model": "text-embedding-3-small", "input": ["one", "three", "seven"] });
    let first = gateway.post("/v1/embeddings", &[], &body);
    assert_eq!((first.status, first.outcome()), (200, "miss"));
    // The entries are written behind the answer.
    gateway.stop();
    let gateway = Gateway::caching(&home, &upstream);
    let ask = |texts: &[&str]| {
        let body = json!({ "model": "text-embedding-3-small", "input": texts });
        gateway.post("/v1/embeddings", &[], &body)
    };
    let asked = upstream.received().len();
    let second = ask(&["seven", "fifteen", "one", "seven"]);
    assert!(second.head.contains("3 of 4 texts are known"), "{second:?}");
    let requests = upstream.received();
    assert_eq!(requests.len(), asked + 1);
    assert_eq!(requests[asked].json()["input"], json!(["fifteen"]));
    // In order, with the digits that the upstream wrote.
    let text = second.text();
    let numbers: Vec<&str> = text.split("\"embedding\":[").skip(1).map(|it| &it[..4]).collect();
    assert_eq!(numbers, ["5.50", "7.50", "3.50", "5.50"]);
    let indexes: Vec<u64> = second.json()["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["index"].as_u64().unwrap())
        .collect();
    assert_eq!(indexes, [0, 1, 2, 3]);
    let alone = gateway.post(
        "/v1/embeddings",
        &[],
        &json!({ "model": "text-embedding-3-small", "input": "one" }),
    );
    assert_eq!(alone.outcome(), "hit", "a text alone is the same entry");
    // Nine tokens for three texts, shared out by their length.
    let all = ask(&["one", "three", "seven"]);
    assert_eq!((all.outcome(), &all.json()["usage"]["total_tokens"]), ("hit", &json!(9)));
}

#[test]
fn many_who_ask_for_the_same_list_cost_one_request() {
    let home = Home::new();
    let upstream = embedding_server();
    let gateway = Gateway::caching(&home, &upstream);
    let body = json!({ "model": "text-embedding-3-small", "input": ["one", "two", "slow"] });
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                let answer = gateway.post("/v1/embeddings", &[], &body);
                assert_eq!(answer.json()["data"].as_array().unwrap().len(), 3, "{answer:?}");
            });
        }
    });
    assert_eq!(upstream.received().len(), 1);
    let hit = gateway.post("/v1/embeddings", &[], &body);
    let report = hit.header("recoup-cache").unwrap();
    assert!(report.contains("; age=") && report.contains("; saved-tokens=9"), "{report}");
}

#[test]
fn wishes_of_clients_hold_for_lists_of_texts() {
    let home = Home::new();
    let upstream = embedding_server();
    let gateway = Gateway::caching(&home, &upstream);
    let body = json!({ "model": "text-embedding-3-small", "input": ["one", "two"] });
    let ask = |control| gateway.post("/v1/embeddings", &[("Cache-Control", control)], &body);
    assert_eq!(ask("only-if-cached").status, 504);
    assert_eq!(ask("no-store").outcome(), "miss");
    assert_eq!(ask("only-if-cached").status, 504, "nothing was kept");
    assert_eq!(ask("no-cache, no-store").outcome(), "bypass");
    assert_eq!(upstream.received().len(), 2);
}

#[test]
fn another_address_of_an_upstream_is_another_upstream() {
    let home = Home::new();
    let (first, second) =
        ["one", "two"].map(|text| Server::saying("200 OK", "", message(text))).into();
    let gateway = Gateway::caching(&home, &first);
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).outcome(), "miss");
    gateway.stop();
    let gateway = Gateway::caching(&home, &second);
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).text(), message("two"));
}
