//! Who was refused or not answered does not ask again at once, in no process.

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::memory::judge::{JudgeCandidate, JudgeVerdict, MemoryJudge as _};
use recoup_core::secrets::SecretValues;
use serde_json::json;

use super::server::{Server, anthropic, respond};
use super::{ask, judge};
use crate::support::Home;

fn tabs() -> Vec<JudgeCandidate> {
    vec![JudgeCandidate::new("use tabs", &SecretValues::default()).unwrap()]
}

/// Seconds that nobody asks after such an answer; and nobody does.
fn pause(status: &'static str, headers: &'static str) -> u64 {
    let home = Home::new();
    let server = Server::saying(status, headers, "{}".to_owned());
    judge(&home, &server, 100_000).classify(&tabs()).unwrap_err();
    assert_eq!(server.connections(), 1);
    // Another process, which knows nothing but the file.
    let second = judge(&home, &server, 100_000);
    let refused = second.classify(&tabs()).unwrap_err().to_string();
    assert!(refused.contains("not asked before"), "{refused}");
    assert_eq!(server.connections(), 1, "{status}");
    let until = second.standing().unwrap().paused_until.unwrap();
    until.millis_since(SystemClock.now()).div_ceil(1_000)
}

#[test]
fn a_server_that_is_busy_is_left_alone_for_some_seconds() {
    for status in ["429 Too Many Requests", "500 Oops", "503 Unavailable", "529 Overloaded"] {
        let pause = pause(status, "");
        assert!((5..=15).contains(&pause), "{status}: {pause}");
    }
}

#[test]
fn or_for_as_long_as_it_says_and_an_hour_at_most() {
    let said = pause("429 Too Many Requests", "Retry-After: 300\r\n");
    assert!((290..=330).contains(&said), "{said}");
    let said = pause("503 Unavailable", "Retry-After: 99999999999\r\n");
    assert!((3_590..=3_600).contains(&said), "{said}");
}

#[test]
fn a_key_or_a_model_that_is_refused_waits_for_a_change() {
    for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found"] {
        let pause = pause(status, "");
        assert!((3_590..=3_600).contains(&pause), "{status}: {pause}");
    }
    let home = Home::new();
    let server = Server::start(|asked, stream| {
        let known = asked.header("x-api-key") == Some("a-new-key");
        let status = if known { "200 OK" } else { "401 Unauthorized" };
        let answer = anthropic(&json!({"verdicts": [{"id": 1, "label": "none"}]}), 1, 1);
        respond(stream, status, "", answer.as_bytes());
    });
    let old = judge(&home, &server, 100_000);
    old.classify(&tabs()).unwrap_err();
    let mut endpoint = old.endpoint().clone();
    endpoint.key = recoup::llm::ApiKey::new("a-new-key");
    let account = recoup_core::memory::judge::account::JudgeAccount::at(
        home.recoup().join("judge.json"),
        std::sync::Arc::new(SystemClock),
    );
    let new = recoup::llm::ModelJudge::new(endpoint, account, 100_000);
    assert_eq!(new.classify(&tabs()).unwrap(), [JudgeVerdict::Nothing]);
}

#[test]
fn a_person_may_try_at_once_and_an_answer_ends_the_pause() {
    let home = Home::new();
    let ill = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let now = std::sync::Arc::clone(&ill);
    let server = Server::start(move |_, stream| {
        let status =
            if now.load(std::sync::atomic::Ordering::SeqCst) { "500 Oops" } else { "200 OK" };
        let answer = anthropic(&json!({"verdicts": [{"id": 1, "label": "none"}]}), 1, 1);
        respond(stream, status, "", answer.as_bytes());
    });
    ask(&home, &server, "use tabs").expect_failure("answered 500");
    ill.store(false, std::sync::atomic::Ordering::SeqCst);
    ask(&home, &server, "use tabs").expect(0);
    assert_eq!(super::status(&home, &server)["paused_until"], json!(null));
}

#[test]
fn an_answer_of_no_use_costs_something_and_pauses_nobody() {
    let home = Home::new();
    let answer = anthropic(&json!("nothing of the kind"), 40, 2);
    let server = Server::saying("200 OK", "", answer);
    let judge = judge(&home, &server, 100_000);
    judge.classify(&tabs()).unwrap_err();
    judge.classify(&tabs()).unwrap_err();
    assert_eq!(server.connections(), 2);
    let standing = judge.standing().unwrap();
    assert_eq!((standing.tokens, standing.paused_until), (84, None));
    assert!(standing.last_failure.is_some());
}
