//! A model's word on what the user said: of each sentence by itself, and its "none" is final.

use std::net::TcpStream;

use serde_json::{Value, json};

use super::worker::settled;
use super::{Talk, hook, log, remembered};
use crate::model_server::{Received, Server, anthropic, respond};
use crate::support::Home;

/// A prompt of a user who has agreed that this server is asked.
fn says_to(home: &Home, server: &Server, session: &str, prompt: &str) -> String {
    let talk = Talk::new(home, session);
    let payload = talk.payload("UserPromptSubmit", json!({"prompt": prompt, "prompt_id": prompt}));
    let mut command = home.command(&["hook"]);
    command
        .env("CLAUDE_CODE_ENTRYPOINT", "cli")
        .env("RECOUP_JUDGE_ENABLED", "true")
        .env("RECOUP_JUDGE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "key-of-the-tests-0123456789");
    let output = hook(command, payload.to_string().as_bytes());
    let reply = super::Reply::checked(output, "UserPromptSubmit");
    settled(home);
    reply.notice
}

#[test]
fn a_models_none_is_final() {
    let home = Home::new();
    let none = json!([{"id": 1, "label": "none", "confidence": 0.9, "statement": ""}]);
    let server = Server::anthropic(&none);
    let notice = says_to(&home, &server, "one", "from now on use pnpm instead of npm");
    assert!(notice.starts_with("recoup: will remember: use pnpm"), "{notice}");
    assert_eq!(server.received().len(), 1, "{}", log(&home));
    assert_eq!(remembered(&home, "active"), [""; 0]);
    assert_eq!(remembered(&home, "retired").len(), 1);
    let notice = Talk::new(&home, "one").says("what else is there to do?").notice;
    assert!(notice.starts_with("recoup: not remembered after all: use pnpm"), "{notice}");
}

#[test]
fn a_model_that_fails_changes_nothing() {
    let home = Home::new();
    let server = Server::saying("500 Internal Server Error", "", anthropic(&json!({}), 1, 1));
    says_to(&home, &server, "one", "from now on use pnpm instead of npm");
    assert_eq!(server.received().len(), 1, "{}", log(&home));
    assert_eq!(remembered(&home, "active").len(), 1);
}

#[test]
fn no_model_is_asked_without_the_users_agreement() {
    let home = Home::new();
    Talk::new(&home, "one").says("from now on use pnpm instead of npm");
    assert_eq!(remembered(&home, "active").len(), 1);
    settled(&home);
    assert!(!home.recoup().join("judge.json").exists(), "nobody has paid for an answer");
}

/// The sentences that a request asks about.
fn asked(request: &Received) -> Vec<String> {
    let body = request.json();
    let content = body["messages"][0]["content"].as_str().unwrap();
    let lines = content.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// A model that finds nothing in any sentence, but in those that say one of these words.
fn finding(words: &'static [&'static str]) -> Server {
    Server::start(move |request: &Received, stream: &mut TcpStream| {
        let verdict = |(at, text): (usize, String)| {
            let is_one = words.iter().any(|word| text.contains(word)) && text.len() < 100;
            let (label, statement) = if is_one { ("preference", &*text) } else { ("none", "") };
            json!({"id": at + 1, "label": label, "confidence": 0.9, "statement": statement})
        };
        let verdicts: Vec<Value> = asked(request).into_iter().enumerate().map(verdict).collect();
        let answer = anthropic(&json!({ "verdicts": verdicts }), 120, 30);
        respond(stream, "200 OK", "", answer.as_bytes());
    })
}

#[test]
fn a_rule_in_the_middle_of_a_long_task_is_asked_about_by_itself() {
    let home = Home::new();
    let server = finding(&["pnpm"]);
    let task = "Please add a field for the zebra's owner to the form, and show it in the list.\n"
        .repeat(20);
    let prompt = format!("{task}\nFrom now on, always use pnpm, never npm.\n\n{task}");
    let notice = says_to(&home, &server, "one", &prompt);
    assert_eq!(notice, "recoup: will remember: always use pnpm, never npm");
    assert_eq!(asked(&server.question()), ["From now on, always use pnpm, never npm."]);
    assert_eq!(remembered(&home, "active"), ["always use pnpm, never npm"], "{}", log(&home));
}

#[test]
fn what_is_no_statement_takes_back_its_own_note_and_no_other() {
    let home = Home::new();
    let server = finding(&["pnpm"]);
    says_to(&home, &server, "one", "Never push to main. Always use pnpm, never npm.");
    assert_eq!(asked(&server.question()).len(), 2, "each sentence by itself");
    assert_eq!(remembered(&home, "active"), ["Always use pnpm, never npm"]);
    assert_eq!(remembered(&home, "retired"), ["Never push to main"]);
}

#[test]
fn what_nobody_was_sure_about_is_remembered_if_the_model_is() {
    let home = Home::new();
    let server = finding(&["pnpm"]);
    let prompt = "maybe pnpm rather than npm for this repo, I think";
    assert_eq!(says_to(&home, &server, "one", prompt), "");
    // A hook that is installed twice tells of a prompt twice.
    assert_eq!(says_to(&home, &server, "one", prompt), "");
    assert_eq!(asked(&server.question()), [prompt]);
    assert_eq!(remembered(&home, "active"), [prompt]);
}

#[test]
fn what_is_known_already_is_not_sent_again() {
    let home = Home::new();
    let server = finding(&["pnpm"]);
    says_to(&home, &server, "one", "From now on use pnpm instead of npm.");
    says_to(&home, &server, "two", "From now on use pnpm instead of npm.");
    assert_eq!(server.received().len(), 1);
    assert_eq!(remembered(&home, "active").len(), 1);
}
