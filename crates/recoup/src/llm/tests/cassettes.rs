//! Exchanges on file: recorded, replayed, resumed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use proptest::prelude::*;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::secrets::SecretValues;
use serde_json::value::to_raw_value;
use tempfile::TempDir;

use super::*;

/// A client of `server` with this cassette.
fn client(provider: ModelProvider, server: &Server, cassette: Cassette) -> ModelClient {
    ModelClient::new(vec![endpoint("a", provider, server)], Some(Arc::new(cassette)))
}

fn record(path: &Path) -> Cassette {
    Cassette::record(path, &SecretValues::default()).unwrap()
}

fn say(client: &ModelClient, text: &str) -> (Result<ChatReply>, Heard) {
    let mut heard = Heard::default();
    let asked = ChatRequest { messages: vec![ChatMessage::User(text.to_owned())], ..request() };
    (client.ask(&[model("a")], &asked, &LIMITS, &mut heard), heard)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_is_the_same_answer_in_the_same_pieces(
        words in prop::collection::vec("\\PC{0,12}", 0..6),
        path in "\\PC{0,12}",
        calls in 0_usize..3,
        thinks: bool,
        is_anthropic: bool,
    ) {
        let provider = BOTH[usize::from(!is_anthropic)];
        let mut turn = ModelTurn::text(&words.join(" "));
        for _ in 0..calls {
            turn = turn.calling("files__read", json!({ "path": path }));
        }
        let turn = if thinks { turn.thinking() } else { turn };
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("a.cassette");
        let server = Server::scripted(vec![turn]);
        let recorded = client(provider, &server, record(&file));
        let (first, heard) = say(&recorded, "hello");
        let first = first.unwrap();
        let replayed = client(provider, &server, Cassette::replay(&file, None).unwrap());
        let (second, heard_again) = say(&replayed, "hello");
        prop_assert_eq!(first, second.unwrap());
        prop_assert_eq!(heard, heard_again);
        prop_assert_eq!(server.connections(), 1);
    }
}

#[test]
fn a_request_that_is_not_known_is_told_with_the_nearest() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("a.cassette");
    let server = Server::answering(|_| ModelTurn::text("ok"));
    let recorded = client(ModelProvider::Anthropic, &server, record(&file));
    say(&recorded, "tell me of the blue house").0.unwrap();
    say(&recorded, "something else entirely, in many other words").0.unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(KEY) && text.contains("\"path\":\"/v1/messages\""), "{text}");

    let replayed =
        client(ModelProvider::Anthropic, &server, Cassette::replay(&file, None).unwrap());
    let reply = say(&replayed, "tell me of the green house").0;
    let words = "does not have this request to some-model: the nearest is number 1, which differs \
                 in messages[0]: differs in word 5: “green”, was “blue”";
    expect_error(reply, ErrorKind::Absent, words);
    let before = server.connections();
    let other = ModelName { model: "another".to_owned(), ..model("a") };
    let asked = |cassette: Cassette| {
        let client = client(ModelProvider::Anthropic, &server, cassette);
        let messages = vec![ChatMessage::User("tell me of the blue house".to_owned())];
        let asked = ChatRequest { messages, ..request() };
        client.ask(std::slice::from_ref(&other), &asked, &LIMITS, &mut Heard::default())
    };
    expect_error(asked(Cassette::replay(&file, None).unwrap()), ErrorKind::Absent, "model: now");
    asked(Cassette::replay(&file, None).unwrap().ignoring_model()).unwrap();
    assert_eq!(server.connections(), before);
    // From the second exchange on, everything is done for real.
    let partly = Cassette::replay(&file, Some(2)).unwrap();
    let partly = client(ModelProvider::Anthropic, &server, partly);
    say(&partly, "tell me of the blue house").0.unwrap();
    say(&partly, "something else entirely, in many other words").0.unwrap();
    assert_eq!(server.connections(), before + 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_replay_goes_on_for_real_from_a_model_answer_and_counts_no_tool_calls() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("a.cassette");
    let server = Server::answering(|_| ModelTurn::text("ok"));
    let recorded = Arc::new(record(&file));
    let endpoints = vec![endpoint("a", ModelProvider::Anthropic, &server)];
    let asking = ModelClient::new(endpoints, Some(Arc::clone(&recorded)));
    let result = to_raw_value(&json!({"content": []})).unwrap();
    recorded.keep_tool_list("files", &[json!({"name": "read"})]).unwrap();
    for (number, word) in ["one", "two", "three"].into_iter().enumerate() {
        say(&asking, word).0.unwrap();
        recorded.keep_tool("files", "read", &json!({ "at": number }), &result).unwrap();
    }
    let partly = Cassette::replay(&file, Some(2)).unwrap();
    assert!(partly.find_tool_list("files").unwrap().is_some());
    assert!(partly.find_tool("files", "read", &json!({"at": 0})).unwrap().is_some());
    assert!(partly.find_tool("files", "read", &json!({"at": 1})).unwrap().is_none());
    let partly = client(ModelProvider::Anthropic, &server, partly);
    for (word, asked) in [("one", 3), ("two", 4), ("three", 5)] {
        say(&partly, word).0.unwrap();
        assert_eq!(server.connections(), asked, "{word}");
    }
}

#[test]
fn equal_requests_are_answered_in_their_order() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("a.cassette");
    let server = Server::scripted(vec![ModelTurn::text("one"), ModelTurn::text("two")]);
    let recorded = client(ModelProvider::OpenAi, &server, record(&file));
    say(&recorded, "again").0.unwrap();
    say(&recorded, "again").0.unwrap();
    let replayed = client(ModelProvider::OpenAi, &server, Cassette::replay(&file, None).unwrap());
    let said = [(); 3].map(|()| say(&replayed, "again").0.unwrap().text());
    assert_eq!(said, ["one", "two", "two"]);
}

#[test]
fn a_run_that_died_goes_on() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("run.journal");
    let journal = |resume| Cassette::journal(&file, resume, &SecretValues::default());
    assert_eq!(journal(true).unwrap_err().kind(), ErrorKind::Usage);
    let server = Server::answering(|_| ModelTurn::text("ok"));
    let first = client(ModelProvider::Anthropic, &server, journal(false).unwrap());
    say(&first, "one").0.unwrap();
    let result = to_raw_value(&json!({"content": []})).unwrap();
    let cassette = Cassette::journal(&file, true, &SecretValues::default()).unwrap();
    cassette.keep_tool("files", "read", &json!({"path": "a"}), &result).unwrap();
    cassette.keep_tool_list("files", &[json!({"name": "read"})]).unwrap();
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();

    let resumed = Arc::new(journal(true).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), whole, "the broken line is gone");
    let arguments = json!({"path": "a"});
    let found = resumed.find_tool("files", "read", &arguments).unwrap().unwrap();
    assert_eq!(found.get(), result.get());
    assert!(resumed.find_tool("files", "read", &arguments).unwrap().is_none(), "only once");
    assert!(resumed.find_tool_list("files").unwrap().is_none(), "the cache remembers lists");
    let endpoints = vec![endpoint("a", ModelProvider::Anthropic, &server)];
    let second = ModelClient::new(endpoints, Some(resumed));
    say(&second, "one").0.unwrap();
    assert_eq!(server.connections(), 1, "nothing is paid twice");
    say(&second, "two").0.unwrap();
    assert_eq!(server.connections(), 2);
    let third = client(ModelProvider::Anthropic, &server, journal(true).unwrap());
    say(&third, "two").0.unwrap();
    assert_eq!(server.connections(), 2);
}

impl<'a> From<&'a str> for CalledServer<'a> {
    fn from(name: &'a str) -> Self {
        Self { name, identity: None }
    }
}

#[test]
fn a_server_that_is_another_one_now_has_not_given_the_result() {
    let dir = TempDir::new().unwrap();
    let (journal, tape) = (dir.path().join("run.journal"), dir.path().join("a.cassette"));
    let by = |text: &str| {
        let identity = Some(Sha256Digest::of(text.as_bytes()));
        CalledServer { name: "files", identity }
    };
    let (nothing, result) = (json!({}), to_raw_value(&json!({"content": []})).unwrap());
    let written = Cassette::journal(&journal, false, &SecretValues::default()).unwrap();
    written.keep_tool(by("then"), "read", &nothing, &result).unwrap();
    assert!(written.omissions().is_empty(), "a digest is no secret");
    let resumed = Cassette::journal(&journal, true, &SecretValues::default()).unwrap();
    assert!(resumed.find_tool(by("now"), "read", &nothing).unwrap().is_none());
    assert!(resumed.find_tool(by("then"), "read", &nothing).unwrap().is_some());
    // Recordings are for everybody.
    record(&tape).keep_tool(by("then"), "read", &nothing, &result).unwrap();
    assert!(!fs::read_to_string(&tape).unwrap().contains("identity"));
    let replayed = Cassette::replay(&tape, None).unwrap();
    assert!(replayed.find_tool(by("now"), "read", &nothing).unwrap().is_some());
}

#[test]
fn a_replay_needs_no_key_and_knows_its_fallbacks() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("a.cassette");
    let refusing = Server::answering(|_| ModelTurn::refused("401 Unauthorized", "", "no"));
    let good = Server::answering(|_| ModelTurn::text("here"));
    let mut endpoints = vec![
        endpoint("a", ModelProvider::Anthropic, &refusing),
        endpoint("b", ModelProvider::OpenAi, &good),
    ];
    let models = [model("a"), model("b")];
    let ask = |endpoints: &[ProviderEndpoint], cassette: Cassette| {
        let client = ModelClient::new(endpoints.to_vec(), Some(Arc::new(cassette)));
        client.ask(&models, &request(), &LIMITS, &mut Heard::default())
    };
    ask(&endpoints, record(&file)).unwrap();
    for endpoint in &mut endpoints {
        endpoint.key = None;
        endpoint.url = endpoint.provider.default_url();
    }
    let reply = ask(&endpoints, Cassette::replay(&file, None).unwrap()).unwrap();
    assert_eq!(reply.model, model("b"));
}

#[test]
fn secrets_are_not_written_even_in_pieces() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("a.cassette");
    let password = "correct-horse-battery-9";
    let withheld = SecretValues::of_values([password]);
    let cassette = Arc::new(Cassette::record(&file, &withheld).unwrap());
    let token = ["ghp_", "x9Kq2ZmT4vLw8RbN6cYd1HsJ3fGp5AeU0iOQ"].concat();
    let server = Server::scripted(vec![
        ModelTurn::text("I log in").calling("login", json!({ "with": password })),
        ModelTurn::text("I log in").calling("login", json!({ "with": token })),
        ModelTurn::text("nothing").thinking(),
    ]);
    let endpoints = vec![endpoint("a", ModelProvider::OpenAi, &server)];
    let client = ModelClient::new(endpoints, Some(Arc::clone(&cassette)));
    for asked in ["a", "b", "c"] {
        say(&client, asked).0.unwrap();
    }
    let result = to_raw_value(&json!({"text": password})).unwrap();
    cassette.keep_tool("files", "read", &json!({}), &result).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let omissions = cassette.omissions();
    assert_eq!(omissions.len(), 3, "{omissions:?}");
    assert!(omissions.iter().any(|it| it.contains("this call of files__read: it holds a secret")));
}

#[test]
fn results_stay_as_they_were_and_on_one_line() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("a.cassette");
    let raw = "{\n  \"big\": 123456789012345678901234567890, \"text\": \"a\\nb\"\n}";
    let raw: Box<serde_json::value::RawValue> = serde_json::from_str(raw).unwrap();
    record(&file).keep_tool("s", "t", &json!({"x": 1}), &raw).unwrap();
    let replayed = Cassette::replay(&file, None).unwrap();
    let found = replayed.find_tool("s", "t", &json!({"x": 1})).unwrap().unwrap();
    assert_eq!(found.get(), raw.get().replace('\n', " "));
    let missing = replayed.find_tool("s", "t", &json!({"x": 2})).unwrap_err();
    assert!(missing.to_string().contains("arguments.x: now “2”, was “1”"), "{missing}");
}

#[test]
fn only_a_cassette_is_replaced_or_read() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("notes.txt");
    fs::write(&file, "my notes\n").unwrap();
    let refused = Cassette::record(&file, &SecretValues::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Usage, "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "my notes\n");
    let list = "{\"v\":1,\"kind\":\"tool-list\",\"server\":\"s\",\"tools\":[]}\n";
    for wrong in [
        "broken",
        "{\"v\":1,\"kind\":\"tool\",\"server\":\"s\",\"tool\":\"t\",\"arguments\":{}}",
        "{\"v\":1,\"kind\":\"model\"}",
        "{\"v\":1,\"kind\":\"other\"}",
        "{\"v\":0,\"kind\":\"tool-list\",\"server\":\"s\",\"tools\":[]}",
    ] {
        fs::write(&file, format!("{list}{wrong}\n{list}")).unwrap();
        let wrong = Cassette::replay(&file, None).unwrap_err();
        assert!(
            wrong.to_string().contains("notes.txt:2: not an exchange of a cassette"),
            "{wrong}"
        );
    }
    record(&file);
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    fs::write(&file, "{\"v\":2,\"kind\":\"tool\"}\n").unwrap();
    let newer = Cassette::replay(&file, None).unwrap_err();
    assert_eq!(newer.kind(), ErrorKind::TooNew);
    assert!(newer.to_string().ends_with(":1: written by a newer recoup (format 2)"), "{newer}");
    fs::write(&file, format!("{list}{{\"v\":1,")).unwrap();
    let wrong = Cassette::replay(&file, None).unwrap_err();
    assert!(wrong.to_string().contains("the last exchange is cut off"), "{wrong}");
}
