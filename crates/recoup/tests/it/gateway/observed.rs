//! What is counted, logged and explained.

use super::{Gateway, MESSAGES, message, question};
use crate::model_server::Server;
use crate::support::Home;

#[test]
fn metrics_count_outcomes_reasons_and_what_was_saved() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    for text in ["a", "a", "b"] {
        gateway.post(MESSAGES, &[], &question(text));
    }
    // A request is counted when its answer has gone.
    let mut metrics = String::new();
    for _ in 0..200 {
        metrics = gateway.get("/metrics").text();
        if metrics.contains("reason=\"no entry for this key\"} 2") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for line in [
        "recoup_gateway_requests_total{outcome=\"hit\",upstream=\"anthropic\",status=\"200\"} 1",
        "recoup_gateway_requests_total{outcome=\"miss\",upstream=\"anthropic\",status=\"200\"} 2",
        "recoup_gateway_reasons_total{outcome=\"miss\",reason=\"no entry for this key\"} 2",
        "recoup_gateway_request_seconds_count{outcome=\"hit\"} 1",
        "recoup_gateway_saved_tokens_total 1200",
        "recoup_gateway_saved_usd_total 0.006000",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
}

#[test]
fn the_access_log_has_neither_bodies_nor_credentials() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("an answer"));
    let gateway = Gateway::caching(&home, &upstream);
    let answer = gateway.post(
        "/v1/messages?key=in-the-query",
        &[("X-Api-Key", "sk-secret"), ("Authorization", "Bearer other")],
        &question("a question"),
    );
    let id = answer.header("recoup-request-id").unwrap().to_owned();
    gateway.stop();
    let log = std::fs::read_to_string(home.recoup().join("logs/gateway.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!(
        (&line["id"], &line["cache"], &line["status"]),
        (&id.into(), &"miss".into(), &200.into())
    );
    assert_eq!(
        (&line["path"], &line["model"]),
        (&"/v1/messages".into(), &"claude-sonnet-4-5".into())
    );
    for secret in ["sk-secret", "other", "a question", "an answer", "in-the-query"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn a_request_is_explained_without_being_sent() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    gateway.post(MESSAGES, &[("anthropic-version", "2023-06-01")], &question("a"));
    gateway.stop();
    let explain = |header: &str, text: &str| {
        let words = ["explain", "gateway", "--header", header];
        home.run_with_stdin(&words, question(text).to_string().as_bytes())
    };
    let hit = explain("anthropic-version: 2023-06-01", "a").expect(0).text();
    assert!(hit.starts_with("hit"), "{hit}");
    let miss = explain("anthropic-version: 2023-06-01", "b").expect(1).text();
    assert!(miss.contains("message 1"), "{miss}");
    let miss = explain("anthropic-version: 2024-01-01", "a").expect(1).text();
    assert!(miss.contains("header anthropic-version"), "{miss}");
    let passing = explain("Recoup-TTL: off", "a").expect(1).text();
    assert!(passing.starts_with("not cached: Recoup-TTL is off"), "{passing}");
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn a_tenant_above_its_rate_is_told_to_wait() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let settings = "[gateway.tenants.red]\ntoken_env = \"RED\"\nrequests_per_minute = 3\n";
    let env = [("RED", "red-token-of-the-tests")];
    let gateway = Gateway::start_with(&home, &upstream, settings, &env);
    let ask = || gateway.post(MESSAGES, &[("Recoup-Token", env[0].1)], &question("a"));
    // A new minute may begin in between.
    let refused: Vec<_> = (0..7).map(|_| ask()).filter(|it| it.status == 429).collect();
    assert!(!refused.is_empty());
    assert_eq!(refused[0].json()["error"]["type"], "rate_limit_error");
    assert!(refused[0].text().contains("3 requests per minute"), "{:?}", refused[0]);
    let wait: u32 = refused[0].header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
}
