//! Requests that are over: what `recoup explain` says about them, the provider's prompt cache, and what
//! they cost.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Answer, Gateway, MESSAGES, message, question};
use crate::model_server::{Server, respond};
use crate::support::Home;

fn id_of(answer: &Answer) -> String {
    answer.header("recoup-request-id").unwrap().to_owned()
}

#[test]
fn a_past_request_is_explained_by_its_id() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    gateway.post(MESSAGES, &[], &question("a"));
    let miss = gateway.post(MESSAGES, &[("Cache-Control", "no-store")], &question("b"));
    let bypass = gateway.post(MESSAGES, &[("Recoup-TTL", "off")], &question("a secret plan"));
    gateway.stop();
    let text = home.run(&["explain", &id_of(&miss)]).expect(1).text();
    assert!(text.contains("it was a miss: no entry for this key; now:"), "{text}");
    assert!(text.contains("message 1"), "{text}");
    let text = home.run(&["explain", &id_of(&bypass)]).expect(1).text();
    assert!(text.contains("it was a bypass: Recoup-TTL is off"), "{text}");
    let log = std::fs::read_to_string(home.recoup().join("logs/gateway-requests.jsonl")).unwrap();
    assert!(!log.contains("secret plan"), "{log}");
}

/// An answer that read and wrote so many tokens of the provider's cache.
fn cached_message(read: u64, written: u64) -> String {
    let mut answer: Value = serde_json::from_str(&message("ok")).unwrap();
    answer["usage"]["cache_read_input_tokens"] = json!(read);
    answer["usage"]["cache_creation_input_tokens"] = json!(written);
    answer.to_string()
}

#[test]
fn the_part_that_broke_the_providers_prompt_cache_is_named() {
    let home = Home::new();
    let upstream = Server::start(|asked, stream| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let is_first = body["system"][1]["text"] == "rules";
        let answer = if is_first { cached_message(0, 5000) } else { cached_message(1000, 4100) };
        respond(stream, "200 OK", "", answer.as_bytes());
    });
    let gateway = Gateway::start(&home, &upstream, "");
    let ask = |rules: &str, texts: &[&str]| {
        let mark = json!({ "type": "ephemeral" });
        let messages: Vec<Value> =
            texts.iter().map(|text| json!({ "role": "user", "content": text })).collect();
        let body = json!({
            "model": "claude-sonnet-4-5", "max_tokens": 10, "messages": messages,
            "system": [{ "type": "text", "text": "you are" },
                       { "type": "text", "text": rules, "cache_control": mark }],
        });
        id_of(&gateway.post(MESSAGES, &[], &body))
    };
    let first = ask("rules", &["hello"]);
    let second = ask("rules, changed", &["hello", "more"]);
    gateway.stop();
    let text = home.run(&["explain", "--prompt-cache", &second]).expect(1).text();
    assert!(text.contains("system block 2 changed"), "{text}");
    assert!(text.contains("1000 of 5000 cached tokens were read"), "{text}");
    assert!(text.contains(&first), "{text}");
    let text = home.run(&["explain", "--prompt-cache"]).expect(1).text();
    assert!(text.starts_with("1 of 2 requests lost"), "{text}");
    home.run(&["explain", "--prompt-cache", &first]).expect(0);
    home.run(&["explain", "--prompt-cache", "no-such-request"]).expect(2);
}

#[test]
fn a_budget_that_is_used_up_is_a_clear_refusal_until_tomorrow() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let settings = "ttl = \"1h\"\ntokens_per_day = 2000\n";
    let gateway = Gateway::start(&home, &upstream, settings);
    // Each costs 1,200 tokens, which are counted after the answer has gone.
    let mut number = 0;
    let refused = loop {
        number += 1;
        let answer = gateway.post(MESSAGES, &[], &question(&number.to_string()));
        if answer.status != 200 {
            break answer;
        }
        assert!(number < 100, "the budget does not hold");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(number > 2, "two of them fit");
    assert_eq!(refused.status, 429);
    assert!(refused.text().contains("2000 tokens for today is used up"), "{refused:?}");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() > 0);
    let hit = gateway.post(MESSAGES, &[], &question("1"));
    assert_eq!((hit.status, hit.outcome()), (200, "hit"), "a hit costs nothing");
    gateway.stop();
    let gateway = Gateway::resumed(&home, &[]);
    assert_eq!(gateway.post(MESSAGES, &[], &question("after a restart")).status, 429);
}

#[test]
fn a_budget_in_dollars_needs_a_price() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::start(&home, &upstream, "usd_per_day = 5.0\n");
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).status, 200);
    let mut unpriced = question("a");
    unpriced["model"] = json!("a-model-of-ours");
    let refused = gateway.post(MESSAGES, &[], &unpriced);
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("no price is known for a-model-of-ours"), "{refused:?}");
}
