//! `--record`, `--replay`, commands behind the gateway, and `recoup cassette`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{Gateway, MESSAGES, configure, message, question, scripted_api, streamed};
use crate::model_server::{ModelTurn, Server, respond};
use crate::support::{Home, finish};

const VERSION: (&str, &str) = ("Anthropic-Version", "2023-06-01");
const KEY: (&str, &str) = ("X-Api-Key", "sk-ant-of-the-tests-9f8e7d6c5b4a");

impl Gateway {
    /// A gateway with these flags, and the settings that are there.
    fn with_flags(home: &Home, flags: &[&str]) -> Self {
        let words = [&["gateway", "--listen", "127.0.0.1:0"], flags].concat();
        Self::spawn(home.command(&words))
    }
}

fn record(home: &Home, file: &str, act: impl Fn(&Gateway)) {
    let gateway = Gateway::with_flags(home, &["--record", file]);
    act(&gateway);
    gateway.stop();
}

fn replay(home: &Home, file: &str, act: impl Fn(&Gateway)) {
    let gateway = Gateway::with_flags(home, &["--replay", file]);
    act(&gateway);
    gateway.stop();
}

/// Everything that a client gets of an answer, but the moment.
fn essence(answer: &super::Answer) -> (u16, Option<String>, Vec<u8>) {
    (answer.status, answer.header("content-type").map(str::to_owned), answer.body.clone())
}

/// A path in the project, where commands run.
fn cassette(home: &Home, name: &str) -> String {
    home.project().join(name).to_str().unwrap().to_owned()
}

#[test]
fn answers_of_all_kinds_are_replayed_as_they_were() {
    let home = Home::new();
    let upstream = scripted_api::start();
    configure(&home, &upstream, "");
    let file = cassette(&home, "api.cassette.json");
    let ask = |gateway: &Gateway| {
        let compressed = ("Accept-Encoding", "gzip");
        let case = |text: &str| question(&format!("case:{text} hello"));
        let chat = json!({ "model": "gpt-5", "stream": true,
            "messages": [{ "role": "user", "content": "case:chat hello" }] });
        let embedded = json!({ "model": "text-embedding-3-small", "input": ["case:x", "b"] });
        let all = vec![
            gateway.post(MESSAGES, &[VERSION, KEY], &case("plain")),
            gateway.post(MESSAGES, &[VERSION, KEY], &streamed("case:stream hello")),
            gateway.post(MESSAGES, &[VERSION, KEY], &case("bad-request")),
            // Fails, and then works.
            gateway.post(MESSAGES, &[VERSION, KEY], &case("retry")),
            gateway.post(MESSAGES, &[VERSION, KEY], &case("retry")),
            gateway.post("/v1/chat/completions", &[], &chat),
            gateway.post("/v1/embeddings", &[], &embedded),
            gateway.get("/openai/v1/models"),
        ];
        // Compressed on its way.
        let packed = gateway.post(MESSAGES, &[VERSION, KEY, compressed], &case("packed"));
        assert_eq!(packed.status, 200);
        all
    };
    let recording = Gateway::with_flags(&home, &["--record", &file]);
    let recorded = ask(&recording);
    recording.stop();
    let count = upstream.connections();
    let replaying = Gateway::with_flags(&home, &["--replay", &file]);
    let replayed = ask(&replaying);
    replaying.stop();
    for (replayed, recorded) in replayed.iter().zip(&recorded) {
        assert_eq!(essence(replayed), essence(recorded));
        assert_eq!(replayed.outcome(), "hit");
    }
    assert_eq!((replayed[3].status, replayed[4].status), (429, 200));
    replay(&home, &file, |gateway| {
        let again = gateway.post(MESSAGES, &[VERSION], &question("case:plain hello"));
        let reason = again.header("recoup-cache").unwrap();
        assert!(reason.starts_with("hit; reason=\"replay of number "), "{reason}");
        assert!(reason.ends_with(" of api.cassette.json\""), "{reason}");
    });
    assert_eq!(upstream.connections(), count);
    let text = fs::read_to_string(&file).unwrap();
    for secret in [KEY.1, "request-id", "ratelimit", "api-key", "\"date\""] {
        assert!(!text.contains(secret), "{secret}\n{text}");
    }
    assert_eq!(home.run(&["cassette", "check", &file]).expect(0).text().lines().count(), 2);
}

#[test]
fn a_replay_translates_forms_and_ignores_what_does_not_count() {
    let home = Home::new();
    let upstream = scripted_api::start();
    configure(&home, &upstream, "");
    let file = cassette(&home, "a.json");
    record(&home, &file, |gateway| {
        gateway.post(MESSAGES, &[], &streamed("a"));
        gateway.post(MESSAGES, &[], &question("b"));
    });
    replay(&home, &file, |gateway| {
        let plain = gateway.post(MESSAGES, &[], &question("a"));
        assert_eq!((plain.status, &plain.json()["type"]), (200, &json!("message")), "{plain:?}");
        let stream = gateway.post(MESSAGES, &[], &streamed("b"));
        assert!(stream.text().contains("event: message_stop"), "{stream:?}");
        let mut named = question("b");
        named["metadata"] = json!({ "user_id": "somebody" });
        named["service_tier"] = json!("auto");
        let account = ("OpenAI-Organization", "org-1");
        assert_eq!(gateway.post("/v1/messages?beta=true", &[account], &named).status, 200);
        assert_eq!(gateway.get("/v1/messages").status, 424);
        let mut upgrade = format!("GET /v1/realtime HTTP/1.1\r\nHost: {}\r\n", gateway.address);
        upgrade.push_str("Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        assert_eq!(gateway.exchange(&upgrade).status, 424);
    });
    assert_eq!(upstream.connections(), 2);
}

#[test]
fn what_is_not_recorded_is_refused_with_the_nearest() {
    let home = Home::new();
    let upstream = Server::answering(|_| ModelTurn::text("an answer"));
    configure(&home, &upstream, "");
    let file = cassette(&home, "a.json");
    record(&home, &file, |gateway| {
        gateway.post(MESSAGES, &[], &question("What is the capital of France?"));
        gateway.post(MESSAGES, &[], &question("How far is the moon?"));
    });
    let gateway = Gateway::with_flags(&home, &["--replay", &file]);
    let refused = gateway.post(MESSAGES, &[], &question("What is the capital of Spain?"));
    assert_eq!((refused.status, refused.outcome()), (424, "miss"));
    let body = refused.json();
    assert_eq!(body["error"]["type"], "invalid_request_error");
    let text = body["error"]["message"].as_str().unwrap().replace(&file, "FILE");
    assert_snapshot!(text, @"recoup gateway: FILE has no recording of this request (POST /v1/messages for claude-sonnet-4-5): the nearest is number 2, which differs in message 1: differs in the last word: “Spain?”, was “France?”. To record all of them again: recoup gateway --record FILE");
}

#[test]
fn recordings_of_the_same_program_have_the_same_order() {
    let home = Home::new();
    let upstream = Server::start(|asked, stream| {
        let number = asked.body.matches('x').count() as u64;
        thread::sleep(Duration::from_millis(number * 37 % 50));
        respond(
            stream,
            "200 OK",
            "content-type: application/json\r\nDate: now\r\n",
            message("ok").as_bytes(),
        );
    });
    configure(&home, &upstream, "");
    let files = ["a.json", "b.json"].map(|name| cassette(&home, name));
    for (round, file) in files.iter().enumerate() {
        record(&home, file, |gateway| {
            thread::scope(|scope| {
                for number in 0..12 {
                    let number = if round == 0 { number } else { 11 - number };
                    let mut question = question(&"x".repeat(number));
                    question["metadata"] = json!({ "user_id": "the same" });
                    scope.spawn(move || gateway.post(MESSAGES, &[], &question));
                }
            });
            // Repeats what is known.
            gateway.post(MESSAGES, &[], &question(""));
        });
    }
    let [first, second] = files.map(|file| fs::read_to_string(file).unwrap());
    assert_eq!(first, second);
    assert_eq!(first.matches("\"kind\": \"http\"").count(), 12);
}

#[test]
fn secrets_and_cut_answers_are_left_out_and_told() {
    let home = Home::new();
    let token = ["ghp_", "x9Kq2ZmT4vLw8RbN6cYd1HsJ3fGp5AeU0iOQ"].concat();
    let said = token.clone();
    let upstream = Server::start(move |asked, stream| {
        if asked.body.contains("cut") {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"a\":");
            return;
        }
        let text = if asked.body.contains("echo") { KEY.1 } else { said.as_str() };
        let text = if asked.body.contains("good") { "fine" } else { text };
        respond(stream, "200 OK", "content-type: application/json\r\n", message(text).as_bytes());
    });
    configure(&home, &upstream, "");
    let file = cassette(&home, "a.json");
    let mut gateway = Gateway::with_flags(&home, &["--record", &file]);
    for text in ["cut", "token", "echo", "good"] {
        gateway.post(MESSAGES, &[KEY], &question(text));
    }
    let told = gateway.child.stderr.take().unwrap();
    gateway.stop();
    let told = std::io::read_to_string(told).unwrap().replace(&file, "FILE");
    let mut lines: Vec<&str> = told.lines().filter(|line| line.contains("FILE")).collect();
    lines.sort_unstable();
    assert_snapshot!(lines.join("\n"), @r"
    not written to FILE: request 1 (POST /v1/messages for claude-sonnet-4-5): the answer was cut, or its client went away
    not written to FILE: request 2: it holds a secret (github-token)
    not written to FILE: request 3: it holds the key of its request
    recorded 1 exchange in FILE
    ");
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(&token) && !text.contains(KEY.1) && text.contains("fine"), "{text}");
}

#[test]
fn any_path_and_any_bytes_are_recorded() {
    let home = Home::new();
    let bytes = [0, 159, 146, 150, 255, b'\n'];
    let upstream = Server::start(move |asked, stream| {
        let kind = if asked.head.contains("audio") { "audio/mpeg" } else { "text/plain" };
        let body: &[u8] = if asked.head.contains("audio") { &bytes } else { b"{\"a\":1 }" };
        let headers = format!("content-type: {kind}\r\nx-own: kept\r\ncf-ray: 1\r\n");
        respond(stream, "201 Created", &headers, body);
    });
    configure(&home, &upstream, "");
    let file = cassette(&home, "a.json");
    let ask = |gateway: &Gateway| {
        [("/v1/audio/speech", "{\"input\": \"hi\"}"), ("/v1/files", "not JSON")].map(
            |(path, body)| {
                let answer = gateway.post_text(path, &[], body);
                assert_eq!(answer.header("x-own"), Some("kept"));
                essence(&answer)
            },
        )
    };
    let gateway = Gateway::with_flags(&home, &["--record", &file]);
    let first = ask(&gateway);
    gateway.stop();
    replay(&home, &file, |gateway| {
        assert_eq!(ask(gateway), first);
        assert_eq!(gateway.post_text("/v1/files", &[], "not  JSON").status, 424);
        assert_eq!(gateway.post_text("/v1/files?a=b", &[], "not JSON").status, 424);
    });
    assert_eq!(first[0].2, bytes);
    assert_snapshot!(fs::read_to_string(&file).unwrap(), @r#"
    {
      "v": 1,
      "kind": "http",
      "request": {
        "upstream": "openai",
        "method": "POST",
        "path": "/v1/audio/speech",
        "body": {"layout": "spaced", "json": {"input": "hi"}}
      },
      "response": {
        "status": 201,
        "headers": [["content-type", "audio/mpeg"], ["x-own", "kept"]],
        "body": {"base64": "AJ+Slv8K"}
      }
    }
    {
      "v": 1,
      "kind": "http",
      "request": {"upstream": "openai", "method": "POST", "path": "/v1/files", "body": {"text": "not JSON"}},
      "response": {
        "status": 201,
        "headers": [["content-type", "text/plain"], ["x-own", "kept"]],
        "body": {"text": "{\"a\":1 }"}
      }
    }
    "#);
}

#[test]
fn a_crash_leaves_what_was_recorded() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "content-type: application/json\r\n", message("ok"));
    configure(&home, &upstream, "");
    let file = cassette(&home, "a.json");
    let mut gateway = Gateway::with_flags(&home, &["--record", &file]);
    for text in ["b", "a"] {
        gateway.post(MESSAGES, &[], &question(text));
    }
    let (partial, whole) = (format!("{file}.partial"), || fs::read_to_string(&file).unwrap());
    let appended = || fs::read_to_string(&partial).unwrap();
    while appended().matches("\"response\"").count() < 2 || !appended().ends_with("}\n") {
        thread::sleep(Duration::from_millis(20));
    }
    gateway.child.kill().unwrap();
    gateway.child.wait().unwrap();
    drop(gateway);
    fs::rename(&partial, &file).unwrap();
    let text = home.run(&["cassette", "check", &file]).expect(1).text();
    assert!(text.contains("number 2 is not in its place"), "{text}");
    replay(&home, &file, |gateway| {
        assert_eq!(gateway.post(MESSAGES, &[], &question("a")).status, 200);
        assert_eq!(gateway.post(MESSAGES, &[], &question("b")).status, 200);
    });
    home.run(&["cassette", "prune", &file]).expect(0);
    home.run(&["cassette", "check", &file]).expect(0);

    let sorted = whole();
    fs::write(&file, &sorted[..sorted.len() - 20]).unwrap();
    let text = home.run(&["cassette", "check", &file, "--json"]).expect(1).json();
    assert_eq!(text[0]["exchanges"], 1);
    assert_eq!(text[0]["problems"][0], "the last exchange is cut off: record it again");
    home.run(&["gateway", "--replay", &file]).expect_failure("the last exchange is cut off");
    // Nothing that was recorded, and nothing else, is replaced by nothing.
    let before = whole();
    record(&home, &file, |_| {});
    assert_eq!(whole(), before);
    assert!(!fs::exists(&partial).unwrap());
    fs::write(&file, "{\"name\": \"package.json\"}").unwrap();
    home.run(&["gateway", "--record", &file]).expect_usage("exists, and is not a cassette");
    assert_eq!(whole(), "{\"name\": \"package.json\"}");
}

/// A client that asks with the variables that it finds.
const CLIENT: &str = r#"
import json, os, sys, urllib.request
body = {"model": "claude-sonnet-4-5", "max_tokens": 100,
        "messages": [{"role": "user", "content": sys.argv[1]}]}
request = urllib.request.Request(
    os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
    {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"})
assert os.environ["OPENAI_BASE_URL"] == os.environ["ANTHROPIC_BASE_URL"] + "/v1"
try:
    print(json.load(urllib.request.urlopen(request))["content"][0]["text"])
except urllib.error.HTTPError as error:
    sys.exit(error.code - 400)
"#;

fn behind(home: &Home, flags: &[&str], asked: &str) -> Command {
    let words = [&["gateway"], flags, &["--", "python3", "-c", CLIENT, asked]].concat();
    home.command(&words)
}

#[test]
fn a_command_runs_behind_the_gateway() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "content-type: application/json\r\n", message("here"));
    configure(&home, &upstream, "");
    let file = cassette(&home, "a.json");
    let recorded = behind(&home, &["--record", &file], "one");
    let recorded = finish({ recorded }.env("ANTHROPIC_API_KEY", KEY.1)).expect(0);
    assert_eq!((recorded.text().as_str(), upstream.connections()), ("here\n", 1));
    assert!(recorded.stderr.contains("recorded 1 exchange in "), "{}", recorded.stderr);
    let replayed =
        finish(behind(&home, &["--replay", &file], "one").env_remove("ANTHROPIC_API_KEY"));
    assert_eq!(replayed.expect(0).text(), "here\n");
    let missed = finish(&mut behind(&home, &["--replay", &file], "two")).expect(24);
    assert_snapshot!(missed.stderr.replace(&file, "FILE"), @r"
    recoup: 1 request not in FILE: answered with status 424
    recoup: not used: 1 of 1 recordings in FILE
    ");
    assert_eq!(upstream.connections(), 1);

    let cached = || finish(behind(&home, &["--ttl", "1h"], "three").env("ANTHROPIC_API_KEY", "x"));
    for _ in 0..2 {
        assert_eq!(cached().expect(0).text(), "here\n");
    }
    assert_eq!(upstream.connections(), 2);

    let missing = home.run(&["gateway", "--record", &file, "--", "no-such-command"]).expect(127);
    assert!(missing.stderr.contains("no-such-command: command not found"), "{}", missing.stderr);
    assert!(fs::metadata(&file).unwrap().len() > 100, "it was not replaced");
    home.run(&["gateway", "--", "sh", "-c", "exit 3"]).expect(3);
}

#[test]
fn signals_reach_a_command_behind_the_gateway() {
    let home = Home::new();
    let script = "trap 'echo told; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = home
        .command(&["gateway", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(std::io::read_to_string(said).unwrap(), "told\n");
}

#[test]
fn cassettes_are_shown_and_pruned() {
    let home = Home::new();
    let upstream = Server::answering(|_| ModelTurn::text("an answer"));
    configure(&home, &upstream, "");
    let file = cassette(&home, "a.json");
    record(&home, &file, |gateway| {
        gateway.post(MESSAGES, &[VERSION], &question("What is the capital of France?"));
        gateway.post(MESSAGES, &[VERSION], &streamed("How far is\nthe moon?"));
        let chat =
            json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": "Hello" }] });
        gateway.post("/v1/chat/completions", &[], &chat);
    });
    let run = |words: &[&str]| home.run(&[&["cassette"], words].concat());
    assert_snapshot!(run(&["show", &file]).expect(0).text(), @r"
    NUMBER  REQUEST                    MODEL              STATUS  ANSWER           ASKED
    1       POST /v1/messages          claude-sonnet-4-5  200     100 + 20 tokens  How far is the moon?
    2       POST /v1/messages          claude-sonnet-4-5  200     100 + 20 tokens  What is the capital of France?
    3       POST /v1/chat/completions  gpt-5              200     100 + 20 tokens  Hello
    ");
    assert_snapshot!(run(&["show", &file, "1"]).expect(0).text(), @r#"
    request   POST /v1/messages
    upstream  anthropic
    header    anthropic-version: 2023-06-01
    status    200
    header    content-type: text/event-stream
    answer    100 + 20 tokens, 8 events

    Asked:
    {
      "max_tokens": 100,
      "messages": [{"content": "How far is\nthe moon?", "role": "user"}],
      "model": "claude-sonnet-4-5",
      "stream": true
    }

    Answered:
    {
      "content": [{"text": "an answer", "type": "text"}],
      "id": "msg_1",
      "role": "assistant",
      "stop_reason": "end_turn",
      "stop_sequence": null,
      "type": "message",
      "usage": {
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 30,
        "input_tokens": 60,
        "output_tokens": 20
      }
    }
    "#);
    run(&["show", &file, "9"]).expect_usage("has no number 9: expected 1 to 3");
    let list: Value = run(&["show", &file, "--json"]).expect(0).json();
    assert_eq!(list[0]["model"], "claude-sonnet-4-5");

    run(&["prune", &file]).expect_usage("was not replayed since it was last changed");
    replay(&home, &file, |gateway| {
        gateway.post(MESSAGES, &[VERSION], &question("What is the capital of France?"));
    });
    let before = fs::read_to_string(&file).unwrap();
    let dry = run(&["prune", &file, "--dry-run"]).expect(0);
    assert_snapshot!(format!("{}{}", dry.text(), dry.stderr.replace(&file, "FILE")), @r"
    NUMBER  REQUEST                    MODEL              STATUS  ANSWER           ASKED
    1       POST /v1/messages          claude-sonnet-4-5  200     100 + 20 tokens  How far is the moon?
    3       POST /v1/chat/completions  gpt-5              200     100 + 20 tokens  Hello
    would remove 2 of 3 exchanges from FILE
    ");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let report = run(&["prune", &file, "--model", "gpt-*", "--json"]).expect(0).json();
    assert_eq!((&report["kept"], &report["removed"][0]["model"]), (&json!(2), &json!("gpt-5")));
    // It has changed: the replay tells nothing about it any more.
    run(&["prune", &file]).expect_usage("was not replayed since it was last changed");
    run(&["prune", &file, "2"]).expect(0);
    let left = fs::read_to_string(&file).unwrap();
    assert!(before.starts_with(&left) && left.contains("the moon?"), "{left}");
    assert_snapshot!(run(&["check", &file]).expect(0).text().replace(&file, "FILE"), @"FILE: ok (1 exchange)");
}

#[test]
fn cassettes_of_runs_are_read_by_the_same_commands() {
    let home = Home::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let file = examples.join("ask-docs.cassette.jsonl");
    let file = file.to_str().unwrap();
    let text = home.run(&["cassette", "show", file]).expect(0).text();
    assert!(text.contains("tools of handbook") && text.contains("POST /v1/messages"), "{text}");
    let checked = home.run(&["cassette", "check", file]).expect(0).text();
    assert!(checked.contains(": ok ("), "{checked}");
    home.run(&["gateway", "--replay", file])
        .expect_usage("was recorded by a run: use `recoup run --replay`");
}

#[test]
fn credentials_of_the_gateway_and_in_bytes_that_are_no_text_are_not_written() {
    let home = Home::new();
    // An API that repeats what it was given.
    let upstream = Server::start(|asked, stream| {
        let head = asked.head.clone().into_bytes();
        let bytes = if asked.head.contains("binary") { [b"\xff\0", &*head].concat() } else { head };
        respond(stream, "401 Unauthorized", "content-type: application/octet-stream\r\n", &bytes);
    });
    configure(&home, &upstream, "");
    let config = home.recoup().join("config.toml");
    let text = fs::read_to_string(&config).unwrap();
    let secret = "Bearer of-the-configuration-1234";
    let keyed =
        format!("[gateway.upstreams.anthropic]\nset_headers = {{ x-internal = \"{secret}\" }}\n");
    fs::write(&config, text.replace("[gateway.upstreams.anthropic]\n", &keyed)).unwrap();
    let file = cassette(&home, "a.json");
    record(&home, &file, |gateway| {
        gateway.post("/anthropic/v1/text", &[], &question("a"));
        gateway.post("/openai/v1/binary", &[KEY], &question("a"));
        gateway.post("/openai/v1/fine", &[], &question("a"));
    });
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.contains("/v1/fine") && !written.contains("/v1/text"), "{written}");
    assert!(!written.contains("/v1/binary") && !written.contains("of-the-conf"), "{written}");
}

#[test]
fn forms_and_bytes_are_told_apart() {
    let home = Home::new();
    let upstream = Server::start(|asked, stream| {
        if asked.head.contains("/v1/files") {
            return respond(stream, "200 OK", "", b"kept");
        }
        if asked.json()["stream"] == true {
            return ModelTurn::text("an answer").perform(asked, stream);
        }
        respond(stream, "500 Internal Server Error", "", b"{}");
    });
    configure(&home, &upstream, "");
    let file = cassette(&home, "a.json");
    let ask = |gateway: &Gateway| {
        let upload = |path: &str, body: &str| {
            gateway.post_text(&format!("/openai/v1/files{path}"), &[], body).status
        };
        [
            gateway.post(MESSAGES, &[], &streamed("a")).status,
            gateway.post(MESSAGES, &[], &question("a")).status,
            upload("?beta=true", "x"),
            upload("", "x"),
        ]
    };
    record(&home, &file, |gateway| assert_eq!(ask(gateway), [200, 500, 200, 200]));
    // A token that other gateways need is not asked for: nothing is behind this one.
    let flags = ["gateway", "--listen", "127.0.0.1:0", "--replay", &file];
    let mut command = home.command(&flags);
    command.env("RECOUP_GATEWAY_TOKEN", "a-token-of-the-tests");
    let replaying = Gateway::spawn(command);
    assert_eq!(ask(&replaying), [200, 500, 200, 200]);
    replaying.stop();
}
