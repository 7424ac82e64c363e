//! Servers over HTTP: streamable, and the older transport.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ask, call, cancel, configure, greeted, hear_answer};
use crate::mcp::client::Client;
use crate::support::{Home, RECOUP};

const SCRIPTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/proxy/http.mjs");

/// A home with a scripted server, and the requests that it got.
struct HttpServer {
    home: Home,
    child: Child,
    url: String,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl HttpServer {
    fn start(habits: &[&str]) -> Self {
        let home = Home::new();
        let mut command = home.prepared("node", &[&[SCRIPTED], habits].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.next().unwrap().unwrap();
        let seen = Arc::<Mutex<Vec<Value>>>::default();
        let noted = Arc::clone(&seen);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                noted.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Self { home, child, url, seen }
    }

    /// The server behind the proxy.
    fn proxied(&self, flags: &[&str]) -> Command {
        proxied(&self.home, flags, &self.url)
    }

    /// A client of the proxy, greeted.
    fn client(&self) -> Client {
        greeted(&mut self.proxied(&[]))
    }

    /// A client of the proxy that speaks the newer protocol, and the envelope of its requests.
    fn newer_client(&self) -> (Client, Value) {
        let mut client = Client::spawn(&mut self.proxied(&[]));
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        ask(&mut client, "tools/list", json!({ "_meta": meta }));
        (client, meta)
    }

    /// Requests whose body has this method, once there are that many.
    fn requests(&self, method: &str, least: usize) -> Vec<Value> {
        for _ in 0..500 {
            let found = self.noted_requests(method);
            if found.len() >= least {
                return found;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{method} was not asked {least} times");
    }

    fn noted_requests(&self, method: &str) -> Vec<Value> {
        let is_that = |seen: &&Value| {
            let body: Value =
                serde_json::from_str(seen["body"].as_str().unwrap()).unwrap_or_default();
            body["method"] == method
        };
        self.seen.lock().unwrap().iter().filter(is_that).cloned().collect()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn proxied(home: &Home, flags: &[&str], url: &str) -> Command {
    home.command(&[&["mcp", "proxy", "--name", "http"], flags, &[url]].concat())
}

fn error_of(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn json_and_events_and_line_ends_in_them_pass_as_lines() {
    for habits in [&["sessions"][..], &["sessions", "events"]] {
        let server = HttpServer::start(habits);
        let mut client = server.client();
        assert_eq!(call(&mut client, "count", json!({})), "call 1");
        assert_eq!(call(&mut client, "count", json!({})), "call 2");
        assert_eq!(client.leave().0, Some(0));
        let calls = server.requests("tools/call", 1);
        assert_eq!(calls[0]["headers"]["mcp-session-id"], "s1");
        assert_eq!(calls[0]["headers"]["mcp-protocol-version"], "2025-11-25");
        assert!(calls[0]["headers"]["mcp-method"].is_null(), "not in this version");
        let initialize = &server.requests("initialize", 1)[0]["headers"];
        assert!(initialize["mcp-session-id"].is_null());
        let seen = server.seen.lock().unwrap();
        assert!(seen.iter().any(|it| it["method"] == "DELETE"), "the session is ended");
    }
}

#[test]
fn results_are_cached_as_for_processes() {
    let server = HttpServer::start(&["sessions"]);
    configure(&server.home, "[mcpServers.http]\ncache = \"1h\"\n");
    let mut client = server.client();
    assert_eq!(call(&mut client, "count", json!({})), "call 1");
    assert_eq!(call(&mut client, "count", json!({})), "call 1");
}

#[test]
fn headers_of_the_newer_protocol_are_made_from_the_message() {
    let server = HttpServer::start(&[]);
    let (mut client, meta) = server.newer_client();
    let arguments = json!({ "region": "Zürich" });
    ask(
        &mut client,
        "tools/call",
        json!({ "name": "count", "arguments": arguments, "_meta": meta }),
    );
    let headers = &server.requests("tools/call", 1)[0]["headers"];
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(headers["mcp-method"], "tools/call");
    assert_eq!(headers["mcp-name"], "count");
    assert_eq!(headers["mcp-param-region"], "=?base64?WsO8cmljaA==?=");
    assert!(headers["mcp-session-id"].is_null());
}

#[test]
fn a_lost_session_is_begun_anew_as_a_client_would() {
    let server = HttpServer::start(&["sessions"]);
    let mut client = server.client();
    assert_eq!(call(&mut client, "lose", json!({})), "call 1");
    assert_eq!(call(&mut client, "count", json!({})), "call 2");
    assert_eq!(server.requests("initialize", 2).len(), 2);
    assert_eq!(server.requests("notifications/initialized", 2).len(), 2);
    assert!(client.is_silent_for(Duration::from_millis(200)), "the client hears nothing of it");
}

#[test]
fn calls_while_a_lost_session_is_begun_anew_go_to_the_new_one() {
    let server = HttpServer::start(&["sessions", "slow-renewal"]);
    let mut client = server.client();
    assert_eq!(call(&mut client, "lose", json!({})), "call 1");
    for _ in 0..10 {
        client.ask("tools/call", json!({ "name": "count", "arguments": {} }));
        thread::sleep(Duration::from_millis(30));
    }
    for _ in 0..10 {
        let answer = client.hear();
        assert!(answer["result"].is_object(), "{answer}");
    }
    assert_eq!(server.requests("initialize", 2).len(), 2);
}

#[test]
fn a_refusal_is_reported_with_its_challenge_and_credentials_come_from_variables() {
    let server = HttpServer::start(&["locked"]);
    let mut client = Client::spawn(&mut server.proxied(&[]));
    let refused = ask(&mut client, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    assert!(error_of(&refused).contains("401"), "{refused}");
    let challenge = "Bearer resource_metadata=\"https://x/y\"";
    assert_eq!(refused["error"]["data"], json!({ "status": 401, "wwwAuthenticate": challenge }));
    client.leave();

    let flags = ["--header", "Authorization: Bearer ${MY_TOKEN}"];
    let mut client = greeted(server.proxied(&flags).env("MY_TOKEN", "secret-token"));
    assert_eq!(call(&mut client, "count", json!({})), "call 1");
    let output = crate::support::finish(&mut server.proxied(&flags));
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("MY_TOKEN is not set"), "{}", output.stderr);

    // Neither is on the command line.
    let words = ["mcp", "proxy", "--header-env", "Authorization=MY_HEADER", "--url-env", "MY_URL"];
    let mut command = server.home.command(&words);
    command.env("MY_HEADER", "Bearer secret-token").env("MY_URL", &server.url);
    let mut client = greeted(&mut command);
    assert_eq!(call(&mut client, "count", json!({})), "call 2");
}

/// Started as its client does it: the entry's command, arguments and variables, and nothing else.
#[test]
fn a_wrapped_entry_reaches_its_server() {
    let server = HttpServer::start(&["locked"]);
    let path = server.home.path(".cursor/mcp.json");
    fs::create_dir(path.parent().unwrap()).unwrap();
    let headers = json!({ "Authorization": "Bearer secret-token" });
    let entry = json!({ "url": server.url, "headers": headers });
    fs::write(&path, json!({ "mcpServers": { "x": entry } }).to_string()).unwrap();
    server.home.run(&["mcp", "wrap", "--yes", "--program", RECOUP]).expect(0);
    let servers: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let entry = &servers["mcpServers"]["x"];
    let args: Vec<&str> =
        entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut command = server.home.prepared(entry["command"].as_str().unwrap(), &args);
    for (name, value) in entry["env"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    assert_eq!(call(&mut greeted(&mut command), "count", json!({})), "call 1");
}

#[test]
fn a_stream_that_breaks_off_is_resumed_after_its_last_event() {
    let server = HttpServer::start(&["sessions"]);
    let mut client = server.client();
    assert_eq!(call(&mut client, "break", json!({})), "call 2");
    let cut = ask(&mut client, "tools/call", json!({ "name": "cut" }));
    assert!(error_of(&cut).contains("no answer"), "{cut}");
    assert_eq!(call(&mut client, "count", json!({})), "call 4");
}

#[test]
fn a_stalled_call_stops_no_other_and_ends_at_its_deadline_beside_progress() {
    let server = HttpServer::start(&[]);
    let mut client = greeted(&mut server.proxied(&["--call-timeout", "1500ms"]));
    let begun = Instant::now();
    let stalled = client.ask("tools/call", json!({ "name": "stall" }));
    assert_eq!(call(&mut client, "count", json!({})), "call 2");
    assert!(begun.elapsed() < Duration::from_millis(1400));
    let given_up = hear_answer(&client, stalled);
    assert!(error_of(&given_up).contains("--call-timeout"), "{given_up}");
    assert_eq!(call(&mut client, "count", json!({})), "call 3");
    let cancelled = server.requests("notifications/cancelled", 1);
    assert!(cancelled[0]["body"].as_str().unwrap().contains(&format!("\"requestId\":{stalled}")));
}

#[test]
fn a_call_of_the_newer_protocol_is_cancelled_by_closing_its_stream() {
    let server = HttpServer::start(&[]);
    let (mut client, meta) = server.newer_client();
    let id = client.ask("tools/call", json!({ "name": "stall", "_meta": meta }));
    while client.hear()["method"] != "notifications/message" {}
    cancel(&mut client, id);
    let is_closed = || server.seen.lock().unwrap().iter().any(|seen| seen["closed"] == "stall");
    for _ in 0..500 {
        if is_closed() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert!(is_closed());
    assert!(server.noted_requests("notifications/cancelled").is_empty());
}

#[test]
fn redirects_are_followed_on_the_same_host_only() {
    let server = HttpServer::start(&[]);
    let moved = server.url.replace("/mcp", "/moved");
    let mut client = greeted(&mut proxied(&server.home, &[], &moved));
    assert_eq!(call(&mut client, "count", json!({})), "call 1");
    let elsewhere = server.url.replace("/mcp", "/elsewhere");
    let mut client = Client::spawn(&mut proxied(&server.home, &[], &elsewhere));
    let refused = ask(&mut client, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    assert!(error_of(&refused).contains("it redirects to http://localhost:1/mcp"), "{refused}");
}

#[test]
fn a_server_that_is_not_there_is_an_answer_and_no_hang() {
    let home = Home::new();
    let mut client = Client::spawn(&mut proxied(&home, &[], "http://127.0.0.1:1/mcp"));
    let refused = ask(&mut client, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    assert!(error_of(&refused).contains("no connection"), "{refused}");
    assert_eq!(client.leave().0, Some(0));
}

/// A home with the reference server over HTTP, which ends when it is dropped.
struct Everything {
    home: Home,
    child: Child,
    url: String,
}

impl Everything {
    fn start(transport: &str, path: &str) -> Self {
        let home = Home::new();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        drop(listener);
        let mut command = home.prepared("mcp-server-everything", &[transport]);
        command.env("PORT", &port).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut lines = stderr.lines().map_while(Result::ok);
        lines.find(|line| line.contains(&port)).expect("it listens");
        thread::spawn(move || lines.count());
        Self { home, child, url: format!("http://127.0.0.1:{port}{path}") }
    }

    /// The server behind the proxy.
    fn proxied(&self, flags: &[&str]) -> Command {
        proxied(&self.home, flags, &self.url)
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Everything that the reference server does by itself: progress, logging, questions to the client.
fn everything_over(transport: &str, path: &str) {
    let server = Everything::start(transport, path);
    let mut client = super::greeted_with(&mut server.proxied(&[]), &json!({ "sampling": {} }));
    assert_eq!(call(&mut client, "echo", json!({ "message": "hi" })), "Echo: hi");
    let params = json!({
        "name": "trigger-long-running-operation",
        "arguments": { "duration": 0.3, "steps": 3 },
        "_meta": { "progressToken": "p" },
    });
    let id = client.ask("tools/call", params);
    let mut progress = 0;
    loop {
        let message = client.hear();
        progress += u32::from(message["params"]["progressToken"] == "p");
        if message["id"] == id {
            break;
        }
    }
    assert_eq!(progress, 3);
    let arguments = json!({ "prompt": "x", "maxTokens": 5 });
    let id = client
        .ask("tools/call", json!({ "name": "trigger-sampling-request", "arguments": arguments }));
    let asked = loop {
        let message = client.hear();
        if message["method"] == "sampling/createMessage" {
            break message;
        }
    };
    let text = json!({ "type": "text", "text": "sampled answer" });
    client.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "role": "assistant", "content": text, "model": "m" } }));
    let answer = hear_answer(&client, id);
    assert!(answer.to_string().contains("sampled answer"), "{answer}");
    assert_eq!(client.leave().0, Some(0));
}

#[test]
fn the_reference_server_over_streamable_http() {
    everything_over("streamableHttp", "/mcp");
}

#[test]
fn the_reference_server_over_the_older_transport() {
    everything_over("sse", "/sse");
}

#[test]
fn a_call_over_the_older_transport_has_a_deadline_too() {
    let server = Everything::start("sse", "/sse");
    let mut client = greeted(&mut server.proxied(&["--call-timeout", "500ms"]));
    let arguments = json!({ "duration": 1, "steps": 1 });
    let params = json!({ "name": "trigger-long-running-operation", "arguments": arguments });
    let given_up = ask(&mut client, "tools/call", params);
    assert!(error_of(&given_up).contains("--call-timeout"), "{given_up}");
    assert_eq!(call(&mut client, "echo", json!({ "message": "hi" })), "Echo: hi");
    thread::sleep(Duration::from_secs(1));
    assert!(client.is_silent_for(Duration::from_millis(300)), "a late answer is nobody's");
}

#[test]
fn an_older_server_that_goes_away_ends_the_session() {
    let server = Everything::start("sse", "/sse");
    let mut client = greeted(&mut server.proxied(&[]));
    assert_eq!(call(&mut client, "echo", json!({ "message": "hi" })), "Echo: hi");
    drop(server);
    while client.hear_bytes().is_some() {}
    assert_eq!(client.child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_body_that_is_no_answer_is_a_fault() {
    let server = HttpServer::start(&[]);
    let mut client = server.client();
    for (tool, kind) in [("page", "text/html"), ("other", "application/json")] {
        let answer = ask(&mut client, "tools/call", json!({ "name": tool }));
        let message = error_of(&answer);
        assert!(message.contains("200 OK") && message.contains(kind), "{message}");
        assert_eq!(answer["error"]["data"], json!({ "status": 200, "contentType": kind }));
    }
    client
        .say_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1.0e2,\"method\":\"tools/call\",\"params\":{}}\n");
    let answer = client.hear();
    assert_eq!((&answer["id"], answer["result"].is_object()), (&json!(100), true), "{answer}");
}

#[test]
fn mistakes_in_the_command_line_are_told_without_secrets() {
    let home = Home::new();
    let finish = |words: &[&str]| {
        let output =
            crate::support::finish(&mut home.command(&[&["mcp", "proxy"], words].concat()));
        (output.code, output.stderr)
    };
    let (code, said) = finish(&["https://h/mcp", "--header", "Authorization: Bearer s3cret"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("options go before it") && !said.contains("s3cret"), "{said}");
    let (code, said) = finish(&["https://me:s3cret@h:port/mcp"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("***@h:port/mcp") && !said.contains("s3cret"), "{said}");
    let (code, said) = finish(&["--cred-env", "A,not-a-name", "http://127.0.0.1:1/"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--cred-env"), "{said}");
    for (words, told) in [
        (&["--url-env", "https://h/s3cret"][..], "--url-env: expected the name of a variable"),
        (&["--url-env", "UNSET_URL"], "--url-env: the variable UNSET_URL is not set"),
        (&["--url-env", "PATH"], "--url-env: PATH holds no URL of a server"),
        (&["--url-env", "PATH", "https://h"], "cannot be used with"),
        (&["--header-env", "A", "https://h"], "--header-env: expected NAME=VARIABLE"),
        (&["--header-env", "A=s3cret key", "https://h"], "expected the name of a variable"),
        (&["--header-env", "A=PATH", "--", "x"], "headers are for servers with a URL"),
        (&[], "required"),
    ] {
        let (code, said) = finish(words);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(told) && !said.contains("s3cret"), "{said}");
    }
    let (code, said) = finish(&["--cred-env", "UNSET_TOKEN", "http://127.0.0.1:1/"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("UNSET_TOKEN"), "{said}");
}

#[test]
fn schemes_in_capitals_and_values_with_hyphens_are_accepted() {
    let server = HttpServer::start(&[]);
    let url = server.url.replace("http://", "HTTP://");
    let words = ["mcp", "proxy", "--name", "-x", "--header", "-y: z", &url];
    let mut client = greeted(&mut server.home.command(&words));
    assert_eq!(call(&mut client, "count", json!({})), "call 1");
    assert_eq!(server.requests("tools/call", 1)[0]["headers"]["-y"], "z");
}
