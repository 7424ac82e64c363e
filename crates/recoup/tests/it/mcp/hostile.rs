//! Clients that mean no good, or are only broken. Whatever has an id is answered.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, PATIENT};
use crate::support::Home;

const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

#[test]
fn unknown_methods_are_answered_at_once_before_and_after_hello() {
    let home = Home::new();
    let mut clients = [Client::start(&home, &[]), Client::greeted(&home)];
    for client in &mut clients {
        for (method, code) in [
            ("nope", METHOD_NOT_FOUND),
            ("logging/setLevel", METHOD_NOT_FOUND),
            ("tools/call", INVALID_PARAMS),
        ] {
            let answer = client.request(method, json!({ "name": 7 }));
            assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
        }
    }
}

#[test]
fn lines_that_are_no_messages_do_no_harm() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    let wrong: [(&[u8], i64); 12] = [
        (b"hello\n", PARSE_ERROR),
        (b"{\"jsonrpc\":\n", PARSE_ERROR),
        (b"\xff\xfe\x00\n", PARSE_ERROR),
        (b"[]\n", INVALID_REQUEST),
        (b"42\n", INVALID_REQUEST),
        (b"[{\"id\":1,\"method\":\"ping\"},{\"id\":2,\"method\":\"ping\"}]\n", INVALID_REQUEST),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", INVALID_REQUEST),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n", INVALID_REQUEST),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}\n", INVALID_REQUEST),
        (b"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}\n", INVALID_REQUEST),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":18446744073709551615,\"method\":\"ping\"}\n",
            INVALID_REQUEST,
        ),
        (b"{\"jsonrpc\":\"2.0\"}\n", INVALID_REQUEST),
    ];
    for (line, code) in wrong {
        client.say_bytes(line);
        assert_eq!(client.hear()["error"]["code"], code, "{}", line.escape_ascii());
    }
    client.say_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"id\":\"b\",\"method\":\"ping\"}\n");
    let twice = client.hear()["error"]["message"].to_string();
    assert!(twice.contains("not an MCP message") && !twice.contains("batches"), "{twice}");
    client.say_bytes(b"\n\r\n   \n");
    client.say_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nonsense\",\"params\":7}\n");
    client.say_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n");
    client.say_bytes(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\r\n");
    assert_eq!(client.hear(), json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
}

#[test]
fn what_is_nested_too_deep_is_refused_with_its_id() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    for depth in [200, 1_000_000] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        client.say_bytes(
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{depth},\"method\":\"tools/call\",\"params\":{{\"name\":\"cache_store\",\"arguments\":{{\"result\":{open}{close}}}}}}}\n")
                .as_bytes(),
        );
        let answer = client.hear();
        assert_eq!(answer["id"], depth);
        assert_eq!(answer["error"]["code"], INVALID_REQUEST, "{answer}");
    }
    assert_eq!(client.data("cache_stats", json!({}))["entries"], 0);
}

#[test]
fn huge_arguments_are_refused_or_kept_and_huge_lines_refused_with_their_id() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    let long = "x".repeat(1 << 20);
    assert!(client.failure("store_memory", json!({ "content": long })).contains("characters"));
    assert_eq!(client.data("search_memory", json!({ "query": long }))["count"], 0);
    let named = json!({ "paths": "a", "query": "q", "operation": "o" });
    let mut store = named.clone();
    store["result"] = json!("y".repeat(8 << 20));
    assert_eq!(client.data("cache_store", store.clone())["stored"], true);
    assert_eq!(client.data("cache_lookup", named)["result"], store["result"]);
    store["result"] = json!("z".repeat(40 << 20));
    let answer = client.request("tools/call", json!({ "name": "cache_store", "arguments": store }));
    assert_eq!(answer["error"]["code"], INVALID_REQUEST, "{answer}");
    assert_eq!(client.data("cache_stats", json!({}))["entries"], 1);
}

#[test]
fn wrong_types_are_named_to_the_model() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    let wrong = [
        ("search_memory", json!({}), "query"),
        ("search_memory", json!({ "query": 5 }), "string"),
        ("search_memory", json!({ "query": "a", "limit": "ten" }), "ten"),
        ("search_memory", json!({ "query": "a", "limt": 3 }), "limt"),
        ("search_memory", json!({ "query": " " }), "query"),
        ("search_memory", json!({ "query": "a", "projectId": "my-folder" }), "projectId"),
        ("store_memory", json!({ "content": "a b", "metadata": { "type": "rumour" } }), "rumour"),
        ("store_memory", json!({ "content": "a b", "scope": "galaxy" }), "galaxy"),
        ("save_checkpoint", json!({ "completed": [1] }), "completed[0]"),
        ("save_checkpoint", json!({}), "the checkpoint is empty"),
        ("delete_memory", json!({ "id": "../../etc" }), "not the id"),
        ("cache_lookup", json!({ "paths": ["a"] }), "query and operation missing"),
        ("cache_store", json!({ "key": "abc" }), "result: missing"),
        ("cache_store", json!({ "key": "abc", "result": 1, "ttl": "soon" }), "ttl"),
        ("cache_store", json!({ "key": "abc", "result": 1, "cost": { "seconds": -1 } }), "cost"),
        ("cache_store", json!({ "key": "abc", "result": 1, "sources": ["gone"] }), "gone"),
        ("cache_invalidate", json!({}), "which results"),
        ("cache_lookup", json!({ "key": "abc", "max_age": -1 }), "30m, 12h, 7d"),
        ("cache_lookup", json!({ "key": "abc", "max_age": 3600 }), "30m, 12h, 7d"),
        ("cache_store", json!({ "key": "abc", "result": 1, "ttl": "3600" }), "with a unit"),
        ("save_checkpoint", json!({ "completed": vec![""; 1_001] }), "at most 1000 strings"),
        ("cache_stats", json!({ "all": true }), "all"),
    ];
    for (tool, arguments, words) in wrong {
        let said = client.failure(tool, arguments.clone());
        assert!(said.contains(words), "{tool} {arguments}: {said}");
    }
    let answer = client.request("tools/call", json!({ "name": "rm" }));
    assert_eq!(answer["error"]["code"], INVALID_PARAMS);
}

#[test]
fn a_glob_that_no_compiler_bears_is_refused_and_repeated_nowhere() {
    let home = Home::new();
    home.write("a", "one");
    let mut client = Client::greeted(&home);
    let nested = |levels: usize, inner: &str| {
        format!("{}{inner}{}", "{a,".repeat(levels), "}".repeat(levels))
    };
    let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    for glob in [nested(10_000, ""), nested(300, key), "*a".repeat(100_000)] {
        let said = client.failure("cache_invalidate", json!({ "paths": glob }));
        assert!(said.contains("paths") || said.contains("invalid glob"), "{said}");
        assert!(said.len() < 1_500 && !said.contains(key), "{said}");
    }
    for glob in [nested(800, ""), nested(300, key), "*a".repeat(2_000)] {
        let named = json!({ "paths": "a", "query": "q", "operation": "o", "sources": [glob] });
        let said = client.failure("cache_lookup", named);
        assert!(said.contains("invalid glob") || said.contains("matches no file"), "{said}");
    }
    // Joined they would be what none of them is.
    let halves = [vec!["{".repeat(4_000); 20], vec!["}".repeat(4_000); 20]].concat();
    for paths in [json!(halves), json!(nested(300, key))] {
        let named = json!({ "paths": paths, "query": "q", "operation": "o" });
        assert_eq!(client.data("cache_lookup", named)["status"], "miss");
    }
    let (code, stderr) = client.leave();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_name_that_nobody_knows_is_repeated_without_secrets() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    for (method, params) in [
        (format!("a {key}"), json!({})),
        ("tools/call".to_owned(), json!({ "name": key })),
        ("prompts/get".to_owned(), json!({ "name": key })),
        ("resources/read".to_owned(), json!({ "uri": format!("x://{key}") })),
    ] {
        let error = client.request(&method, params)["error"].to_string();
        assert!(error.contains("[redacted: ") && !error.contains("16C7e42"), "{error}");
    }
}

#[test]
fn a_client_that_stops_reading_is_not_kept_in_memory() {
    let home = Home::new();
    let named = a_large_result(&home);
    // 150 MB of answers, and some copies of each, if they were all made; nobody reads any of
    // them until no more is done.
    let mut deaf = Deaf::start(&home);
    for id in 0..150 {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
                           "params": { "name": "cache_lookup", "arguments": named } });
        deaf.say(&call);
    }
    let kilobytes = once_steady(|| memory_of(deaf.child.id(), "VmRSS:"));
    assert!(kilobytes < 80_000, "{kilobytes} kB");
    assert_eq!(deaf.read_answers(150), 150, "and when it reads again, all is there");
}

/// What a figure is when it has not changed for some seconds.
pub(super) fn once_steady(look: impl Fn() -> u64) -> u64 {
    let (mut figure, mut since) = (look(), Instant::now());
    while since.elapsed() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(100));
        let now = look();
        if now != figure {
            (figure, since) = (now, Instant::now());
        }
    }
    figure
}

#[test]
fn a_client_that_leaves_without_reading_is_not_waited_for() {
    let home = Home::new();
    let named = a_large_result(&home);
    let mut deaf = Deaf::start(&home);
    for id in 0..40 {
        deaf.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
                          "params": { "name": "cache_lookup", "arguments": named } }));
    }
    drop(deaf.child.stdin.take());
    let until = Instant::now() + PATIENT;
    while deaf.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it waits for somebody who has left");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_id_of_any_length_is_not_kept() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    let long = "x".repeat(60 << 20);
    for id in [format!("\"{long}\""), format!("[{}1]", "1,".repeat(30 << 20)), "7".repeat(60 << 20)]
    {
        client.say_bytes(
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes(),
        );
        let answer = client.hear();
        assert_eq!(answer["error"]["code"], INVALID_REQUEST);
        assert!(answer["id"].is_null(), "nothing that could be said back");
    }
    let peak = memory_of(client.child.id(), "VmHWM:");
    assert!(peak < 100_000, "{peak} kB");
}

#[test]
fn what_is_cancelled_before_its_turn_is_not_done_and_not_kept() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    client.data("store_memory", json!({ "content": "use tabs" }));
    let other = rusqlite::Connection::open(home.recoup().join("memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let padding = "x".repeat(1 << 20);
    for n in 0..100 {
        let id = client.ask(
            "tools/call",
            json!({ "name": "store_memory", "_meta": { "p": padding },
            "arguments": { "content": format!("rule number {n}") } }),
        );
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id } }));
    }
    let last = client.ask("ping", Value::Null);
    assert_eq!(client.hear()["id"], last, "the client is still heard");
    let peak = memory_of(client.child.id(), "VmHWM:");
    assert!(peak < 100_000, "{peak} kB");
    let found = client.data("search_memory", json!({ "query": "tabs" }));
    assert_eq!(found["count"], 1, "who reads does not wait for those who write");
    other.execute_batch("ROLLBACK").unwrap();
    client.data("store_memory", json!({ "content": "use pnpm" }));
    let found = client.data("search_memory", json!({ "query": "rule number", "limit": 100 }));
    assert!(found["count"].as_u64().unwrap() <= 2, "those alone that had begun: {found}");
}

#[test]
fn it_ends_with_its_stdin_while_another_has_the_database() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    client.data("store_memory", json!({ "content": "use tabs" }));
    let other = rusqlite::Connection::open(home.recoup().join("memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for n in 0..15 {
        let content = format!("rule number {n}");
        client.ask(
            "tools/call",
            json!({ "name": "store_memory", "arguments": { "content": content } }),
        );
    }
    let begun = Instant::now();
    assert_eq!(client.leave().0, Some(0));
    assert!(begun.elapsed() < PATIENT, "15 times 10 s is how long they would wait");
}

/// Keeps a megabyte; returns what to ask for.
fn a_large_result(home: &Home) -> Value {
    let named = json!({ "paths": "a", "query": "q", "operation": "o" });
    let mut store = named.clone();
    store["result"] = json!("y".repeat(1 << 20));
    Client::greeted(home).data("cache_store", store);
    named
}

/// What a line of a process's status says, in kB.
pub(super) fn memory_of(process: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A client that reads nothing until it is told to.
struct Deaf {
    child: std::process::Child,
}

impl Deaf {
    fn start(home: &Home) -> Self {
        use std::process::Stdio;
        let child =
            home.command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut deaf = Self { child };
        deaf.say(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "deaf", "version": "1" } } }));
        deaf
    }

    fn say(&mut self, message: &Value) {
        use std::io::Write as _;
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Reads all there is, and says how many calls were answered.
    fn read_answers(mut self, calls: usize) -> usize {
        use std::io::{BufRead as _, BufReader};
        let stdout = BufReader::new(self.child.stdout.take().unwrap());
        let answers = stdout
            .lines()
            .take(calls + 1)
            .filter(|line| line.as_ref().unwrap().contains("structuredContent"));
        let count = answers.count();
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        count
    }
}
