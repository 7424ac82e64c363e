//! A server that answers well: what it is asked, and what is made of it.

use serde_json::json;

use super::server::{Server, openai, respond};
use super::{KEY, ask, asking, status, verdict};
use crate::support::{Home, finish};

const TABS: &str = "from now on use tabs, never spaces";

#[test]
fn anthropic_is_asked_in_its_own_words() {
    let home = Home::new();
    let server = Server::anthropic(&json!([
        {"id": 1, "label": "preference", "confidence": 0.93, "statement": "use tabs, never spaces"},
    ]));
    let said = verdict(&home, &server, TABS);
    assert_eq!(said["label"], "preference");
    assert_eq!(said["confidence"], 0.93);
    assert_eq!(said["statement"], "use tabs, never spaces");
    assert_eq!(said["text"], TABS);

    let asked = server.question();
    assert!(asked.head.starts_with("POST /v1/messages HTTP/1.1"), "{}", asked.head);
    assert_eq!(asked.header("x-api-key"), Some(KEY));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    let body = asked.json();
    assert_eq!(body["model"], "claude-haiku-4-5");
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "report"}));
    let schema = &body["tools"][0]["input_schema"];
    assert_eq!(schema["required"], json!(["verdicts"]));
    assert!(body["messages"][0]["content"].as_str().unwrap().contains(TABS));
    assert!(!body["system"].as_str().unwrap().contains("spaces"));
    assert!(body["max_tokens"].as_u64().unwrap() > 100);
}

#[test]
fn others_are_asked_for_chat_completions() {
    let home = Home::new();
    let answer = r#"{"verdicts":[{"id":1,"label":"none","confidence":0.9,"statement":""}]}"#;
    let server = Server::openai(answer);
    let mut command = asking(&home, &server, "openai", "thanks, that works");
    command.env("RECOUP_JUDGE_MODEL", "qwen3:8b");
    command.env("RECOUP_JUDGE_URL", format!("{}/api/v1/", server.url()));
    let said = finish(&mut command).expect(0).json();
    assert_eq!(said[0]["label"], "none");

    let asked = server.question();
    assert!(asked.head.starts_with("POST /api/v1/chat/completions "), "{}", asked.head);
    assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {KEY}")));
    let body = asked.json();
    assert_eq!(body["model"], "qwen3:8b");
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
    assert_eq!(body["messages"][0]["role"], "system");
    assert!(body["max_tokens"].is_u64() && body.get("max_completion_tokens").is_none());
}

#[test]
fn a_fence_around_the_answer_is_passed_over() {
    let home = Home::new();
    let server = Server::openai("```json\n{\"verdicts\":[{\"id\":1,\"label\":\"none\"}]}\n```");
    let said = finish(&mut asking(&home, &server, "openai", "thanks")).expect(0).json();
    assert_eq!(said[0]["label"], "none");
}

#[test]
fn who_knows_no_json_mode_is_asked_without() {
    let home = Home::new();
    let server = Server::start(|asked, stream| {
        if asked.json().get("response_format").is_some() {
            let words = "'response_format.type' must be 'json_schema' or 'text'";
            let body = json!({"error": words}).to_string();
            return respond(stream, "400 Bad Request", "", body.as_bytes());
        }
        let answer = openai(r#"{"verdicts":[{"id":1,"label":"none"}]}"#, Some((120, 30)));
        respond(stream, "200 OK", "", answer.as_bytes());
    });
    let said = finish(&mut asking(&home, &server, "openai", "thanks")).expect(0).json();
    assert_eq!(said[0]["label"], "none");
    assert_eq!(server.connections(), 2);
    assert_eq!(status(&home, &server)["tokens"], 150);
}

#[test]
fn another_objection_is_not_talked_away() {
    let home = Home::new();
    let body = json!({"error": {"message": "your credit balance is too low"}}).to_string();
    let server = Server::saying("400 Bad Request", "", body);
    let output = finish(&mut asking(&home, &server, "openai", "thanks"));
    output.expect_failure("answered 400 Bad Request: your credit balance is too low");
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_server_on_this_machine_needs_no_key() {
    let home = Home::new();
    let server = Server::openai(r#"{"verdicts":[{"id":1,"label":"none"}]}"#);
    let mut command = asking(&home, &server, "openai", "thanks");
    command.env_remove("OPENAI_API_KEY");
    finish(&mut command).expect(0);
    assert_eq!(server.question().header("authorization"), None);
}

#[test]
fn the_key_may_be_in_a_variable_of_any_name() {
    let home = Home::new();
    let server = Server::anthropic(&json!([{"id": 1, "label": "none"}]));
    let mut command = asking(&home, &server, "anthropic", "thanks");
    command.env("RECOUP_JUDGE_KEY_ENV", "WORK_KEY").env("WORK_KEY", " other-key\n");
    finish(&mut command).expect(0);
    assert_eq!(server.question().header("x-api-key"), Some("other-key"));
}

#[test]
fn what_it_cost_is_counted_and_shown() {
    let home = Home::new();
    let server = Server::anthropic(&json!([{"id": 1, "label": "none"}]));
    ask(&home, &server, "one").expect(0);
    ask(&home, &server, "two").expect(0);
    let status = status(&home, &server);
    assert_eq!((&status["tokens"], &status["questions"]), (&json!(300), &json!(2)));
    assert_eq!(status["daily_tokens"], 100_000);
    assert_eq!(status["last_failure"], json!(null));
}

#[test]
fn where_the_cost_is_not_said_it_is_as_much_as_it_could_be() {
    let home = Home::new();
    let answer = openai(r#"{"verdicts":[{"id":1,"label":"none"}]}"#, None);
    let server = Server::saying("200 OK", "", answer);
    finish(&mut asking(&home, &server, "openai", "thanks")).expect(0);
    let tokens = status(&home, &server)["tokens"].as_u64().unwrap();
    let asked = server.question();
    assert!(tokens > asked.body.len() as u64 / 4, "{tokens}");
}

#[test]
fn without_a_text_it_is_asked_about_two_of_our_own() {
    let home = Home::new();
    let server = Server::anthropic(&json!([
        {"id": 2, "label": "none"},
        {"id": 1, "label": "preference", "confidence": 0.9, "statement": "use tabs, never spaces, in this project"},
    ]));
    let mut command = asking(&home, &server, "anthropic", "");
    let mut plain = home.command(&["judge", "test"]);
    plain.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = finish(&mut plain).expect(0);
    let lines: Vec<String> = output.text().lines().map(str::to_owned).collect();
    assert!(lines[1].starts_with("preference  0.90  use tabs, never spaces"), "{lines:?}");
    assert!(lines[2].starts_with("none"), "{lines:?}");
    finish(&mut command).expect_usage("TEXT is empty, or has only private parts");
}

#[test]
fn status_tells_it_to_people_too() {
    let home = Home::new();
    let output = home.run(&["judge", "status"]).expect(0);
    let today = output.text().lines().find(|line| line.starts_with("today")).unwrap().to_owned();
    assert!(today.contains("0 of 100,000 tokens, 0 questions"), "{today}");
    insta::assert_snapshot!(output.text().replace(&today, "[TODAY]"), @"
    agreed   no
    model    claude-haiku-4-5 (anthropic, https://api.anthropic.com)
    key      not set: ANTHROPIC_API_KEY
    [TODAY]
    why not  no model is asked: judge.enabled is false
    ");
    assert_eq!(home.run(&["judge", "status", "--json"]).expect(0).json()["key_is_set"], false);
    for (key, told) in [("some-key", "key      from ANTHROPIC_API_KEY\n"), ("", "not set")] {
        let mut command = home.command(&["judge", "status"]);
        let text = finish(command.env("ANTHROPIC_API_KEY", key)).expect(0).text();
        assert!(text.contains(told), "{text}");
    }
    assert!(!home.recoup().exists(), "to look leaves no trace");
}
