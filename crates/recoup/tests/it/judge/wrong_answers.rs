//! A server that answers wrongly: nothing is believed, nothing breaks, nobody is led on.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Server, anthropic, respond};
use super::{KEY, ask, asking, status, verdict};
use crate::support::{Home, finish};

/// What is said when the answer is this, and what `status` has of it.
fn failure(server: &Server) -> String {
    let home = Home::new();
    let output = ask(&home, server, "use tabs").expect(1);
    assert_eq!(output.text(), "");
    let kept = status(&home, server)["last_failure"]["what"].as_str().unwrap().to_owned();
    assert!(output.stderr.contains(&kept), "{kept}\n{}", output.stderr);
    kept
}

/// What becomes of "we use tabs here" when this is said of it.
fn undecided(item: &Value) -> Value {
    let verdict = verdict(&Home::new(), &Server::anthropic(&json!([item])), "we use tabs here");
    assert_eq!(verdict["label"], json!(null), "{verdict}");
    verdict["undecided"].clone()
}

#[test]
fn what_is_not_json_is_no_answer() {
    for body in ["", "<html>Sign in to the network</html>", "{\"content\":", "[]", "{\"id\":1}"] {
        let said = failure(&Server::saying("200 OK", "", body.to_owned()));
        assert!(said.starts_with("the answer does not match this API"), "{said}");
    }
    let empty = json!({"content": [], "usage": {"input_tokens": 5, "output_tokens": 1}});
    assert_eq!(
        failure(&Server::saying("200 OK", "", empty.to_string())),
        "the model's answer is empty"
    );
}

#[test]
fn prose_around_the_json_makes_it_no_answer() {
    let home = Home::new();
    for text in [
        r#"Here you go: {"verdicts":[{"id":1,"label":"none"}]}"#,
        r#"{"verdicts":[{"id":1,"label":"none"}]} I hope this helps!"#,
        "none",
        "",
    ] {
        let output = finish(&mut asking(&home, &Server::openai(text), "openai", "use tabs"));
        output.expect(1).expect_failure("the model's answer is not one JSON object");
    }
}

#[test]
fn labels_and_numbers_that_there_are_not_decide_nothing() {
    let item = |label: &str, confidence: Value| {
        undecided(
            &json!({"id": 1, "label": label, "confidence": confidence, "statement": "use tabs"}),
        )
    };
    assert_eq!(item("rule", json!(0.9)), "the model gave an unknown label");
    assert_eq!(item("preference", json!(7)), "the model gave no confidence from 0 to 1");
    assert_eq!(item("preference", json!("sure")), "the model gave no confidence from 0 to 1");
    assert_eq!(item("preference", json!(0.74)), "the model is not sure enough");
    assert_eq!(undecided(&json!({"id": 9, "label": "none"})), "the model gave no answer about it");
}

#[test]
fn more_verdicts_than_questions_are_no_answer() {
    let many: Vec<Value> = (1..=1_000).map(|id| json!({"id": id, "label": "none"})).collect();
    let said = failure(&Server::anthropic(&json!(many)));
    assert_eq!(said, "the model's answer has 1000 items, the limit is 1");
}

#[test]
fn an_answer_of_ten_megabytes_is_not_read() {
    let long = "x".repeat(10 << 20);
    let said = failure(&Server::saying("200 OK", "", anthropic(&json!(long), 1, 1)));
    assert_eq!(said, "the model's answer is larger than 1048576 bytes");
    let endless = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while stream.write_all(b"1000\r\n").is_ok()
            && stream.write_all(&[b' '; 0x1000]).is_ok()
            && stream.write_all(b"\r\n").is_ok()
        {}
    });
    assert_eq!(failure(&endless), "the model's answer is larger than 1048576 bytes");
}

#[test]
fn a_length_that_is_a_lie_reserves_nothing_and_breaks_off() {
    let server = Server::start(|_, stream| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 900000000000\r\n\r\n{";
        let _ = stream.write_all(head.as_bytes());
    });
    let said = failure(&server);
    assert!(said.starts_with("the model's answer was cut off"), "{said}");
}

#[test]
fn a_connection_that_is_closed_early_is_a_fault() {
    for answer in ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-", "nonsense\r\n\r\n"] {
        let server = Server::start(move |_, stream| {
            let _ = stream.write_all(answer.as_bytes());
        });
        let said = failure(&server);
        assert!(said.contains("did not answer"), "{answer:?}: {said}");
    }
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = Server::anthropic(&json!([{"id": 1, "label": "none"}]));
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("Location: http://localhost:{}/v1/messages\r\n", elsewhere.port());
        let server = Server::start(move |_, stream| respond(stream, status, &location, b"gone"));
        let said = failure(&server);
        assert!(said.contains("redirects to localhost, but redirects are not followed"), "{said}");
    }
    thread::sleep(Duration::from_millis(50));
    assert_eq!(elsewhere.connections(), 0, "neither the key nor the question went there");
}

#[test]
fn what_a_refusal_says_is_told_short_and_without_the_key() {
    let home = Home::new();
    let words = format!("invalid x-api-key {KEY}\u{1b}[2J\n {}", "so ".repeat(500));
    let body =
        json!({"type": "error", "error": {"type": "authentication_error", "message": words}});
    let server = Server::saying("401 Unauthorized", "", body.to_string());
    let output = ask(&home, &server, "use tabs").expect(1);
    assert!(output.stderr.contains("answered 401 Unauthorized: invalid x-api-key [key]"));
    assert!(output.stderr.len() < 600 && !output.stderr.contains('\u{1b}'), "{}", output.stderr);
    assert!(!output.stderr.contains(KEY));
    let kept = std::fs::read_to_string(home.recoup().join("judge.json")).unwrap();
    assert!(!kept.contains(KEY), "{kept}");
}
