//! The server on HTTP: who is let in, and who is not.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Client;
use super::hostile::{memory_of, once_steady};
use crate::support::Home;

/// A server on a port of its own, which ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(home: &Home) -> Self {
        Self::start_with(home, &[], &[])
    }

    fn start_with(home: &Home, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut child = home
            .command(&[&["mcp", "--http", "127.0.0.1:0"], args].concat())
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn authority(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap()
    }

    /// Posts a message with more headers; returns the status and the body.
    fn post(&self, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.authority()).unwrap();
        let mut request =
            "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
            Accept: application/json, text/event-stream\r\n"
                .to_owned();
        if !headers.iter().any(|(name, _)| *name == "Host") {
            write!(request, "Host: {}\r\n", self.authority()).unwrap();
        }
        for (name, value) in headers {
            write!(request, "{name}: {value}\r\n").unwrap();
        }
        write!(request, "Content-Length: {}\r\n\r\n", body.len()).unwrap();
        // A server that refuses does not read all of it.
        let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or(0), answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello() -> Vec<u8> {
    let hello: Value = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    hello.to_string().into_bytes()
}

/// The token that the server has made.
pub(crate) fn token(home: &Home) -> String {
    std::fs::read_to_string(home.recoup().join("mcp-token")).unwrap().trim().to_owned()
}

#[test]
fn a_token_is_made_once_and_is_nobody_elses_to_read() {
    let home = Home::new();
    drop(Server::start(&home));
    let first = token(&home);
    drop(Server::start(&home));
    assert_eq!(first, token(&home));
    assert!(first.len() >= 64);
    let mode = std::fs::metadata(home.recoup().join("mcp-token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn only_who_knows_the_token_is_let_in() {
    let home = Home::new();
    let server = Server::start(&home);
    let right = format!("Bearer {}", token(&home));
    let (status, answer) = server.post(&[("Authorization", &right)], &hello());
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("\"name\":\"recoup\""), "{answer}");
    assert_eq!(server.post(&[], &hello()).0, 401);
    let longer = format!("{right}0");
    for wrong in ["", "Bearer", "Bearer ", "Basic abc", &right[..right.len() - 1], &longer] {
        assert_eq!(server.post(&[("Authorization", wrong)], &hello()).0, 401, "{wrong}");
    }
}

#[test]
fn the_token_may_come_from_the_environment_or_a_file() {
    let home = Home::new();
    let mine = "0123456789abcdef";
    let file = home.write("token", format!("{mine}\n"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let file = file.to_str().unwrap();
    let servers = [
        Server::start_with(&home, &[], &[("RECOUP_MCP_TOKEN", mine)]),
        Server::start_with(
            &home,
            &["--token-file", file],
            &[("RECOUP_MCP_TOKEN", "another-of-16-letters")],
        ),
    ];
    for server in servers {
        let right = format!("Bearer {mine}");
        assert_eq!(server.post(&[("Authorization", &right)], &hello()).0, 200);
    }
    assert!(!home.recoup().join("mcp-token").exists(), "none was needed");
}

#[test]
fn a_token_that_others_may_read_is_refused() {
    let home = Home::new();
    drop(Server::start(&home));
    let own = home.recoup().join("mcp-token");
    let named = home.write("token", "0123456789abcdef\n");
    for (file, args) in [
        (&own, &["mcp", "--http", "0"][..]),
        (&named, &["mcp", "--http", "0", "--token-file", named.to_str().unwrap()]),
    ] {
        for mode in [0o644, 0o640, 0o620] {
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
            let output = home.run(args).expect(1);
            let remedy = format!("chmod 600 {}", file.display());
            assert!(output.stderr.contains(&remedy), "{mode:o}: {}", output.stderr);
            assert!(!output.stderr.contains("0123456789abcdef"), "{}", output.stderr);
        }
    }
}

#[test]
fn web_pages_and_rebound_names_are_kept_out_even_with_the_token() {
    let home = Home::new();
    let server = Server::start(&home);
    let right = format!("Bearer {}", token(&home));
    let post = |name, value| server.post(&[("Authorization", &right), (name, value)], &hello()).0;
    for origin in ["https://evil.example", "http://localhost.evil.example", "null", "nonsense"] {
        assert_eq!(post("Origin", origin), 403, "{origin}");
    }
    for host in ["evil.example", "evil.example:7333", "localhost.evil.example"] {
        assert_eq!(post("Host", host), 403, "{host}");
    }
    let twice = ["http://localhost:6274", "https://evil.example"].map(|it| ("Origin", it));
    let headers = [&[("Authorization", right.as_str())][..], &twice].concat();
    assert_eq!(server.post(&headers, &hello()).0, 400);
    assert_eq!(post("Origin", "http://localhost:6274"), 200);
    assert_eq!(post("Host", "localhost"), 200);
}

#[test]
fn bodies_that_are_no_messages_or_too_large_are_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let right = format!("Bearer {}", token(&home));
    let post = |body: &[u8]| server.post(&[("Authorization", &right)], body).0;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in ["", "hello", "[]", "{}", &deep] {
        assert!((400..500).contains(&post(body.as_bytes())), "{} bytes", body.len());
    }
    for (body, code) in [("hello", -32_700), ("[]", -32_600), (deep.as_str(), -32_600)] {
        let (status, answer) = server.post(&[("Authorization", &right)], body.as_bytes());
        assert_eq!(status, 400, "{answer}");
        assert!(answer.contains(&format!("\"code\":{code}")), "{answer}");
    }
    assert_eq!(post(&vec![b' '; 17 << 20]), 413);
    assert_eq!(post(&hello()), 200, "it is none the worse for it");
}

#[test]
fn who_shows_no_token_keeps_out_nobody_who_has_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let strangers: Vec<TcpStream> =
        (0..300).map(|_| TcpStream::connect(server.authority()).unwrap()).collect();
    let begun = Instant::now();
    let bearer = format!("Bearer {}", token(&home));
    assert_eq!(server.post(&[("Authorization", &bearer)], &hello()).0, 200);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    // And they do not stay.
    for mut stranger in strangers {
        stranger.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let gone = stranger.read(&mut [0]);
        let reset = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionReset;
        assert!(
            gone.as_ref().is_ok_and(|read| *read == 0) || gone.as_ref().is_err_and(reset),
            "{gone:?}"
        );
    }
}

#[test]
fn what_is_sent_and_never_finished_is_not_kept_without_end() {
    let home = Home::new();
    let server = Server::start(&home);
    let megabyte = vec![b' '; 1 << 20];
    let mut unfinished = Vec::new();
    for _ in 0..30 {
        let mut stream = TcpStream::connect(server.authority()).unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n",
            server.authority(),
            token(&home),
            16 << 20
        );
        stream.write_all(head.as_bytes()).unwrap();
        // Whoever is not read from can't write more.
        for _ in 0..15 {
            if stream.write_all(&megabyte).is_err() {
                break;
            }
        }
        unfinished.push(stream);
    }
    let kilobytes = memory_of(server.child.id(), "VmHWM:");
    assert!(kilobytes < 200_000, "{kilobytes} kB");
}

#[test]
fn answers_that_nobody_reads_are_not_kept_without_end() {
    let home = Home::new();
    let named = json!({ "key": "k" });
    let mut client = Client::greeted(&home);
    client.data("cache_store", json!({ "key": "k", "result": "y".repeat(4 << 20) }));
    let server = Server::start(&home);
    let bearer = format!("Bearer {}", token(&home));
    let (_, greeting) = server.post(&[("Authorization", &bearer)], &hello());
    let session = session(&greeting);
    let mut unread = Vec::new();
    for id in 0..40 {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "cache_lookup", "arguments": named } })
        .to_string();
        let mut stream = TcpStream::connect(server.authority()).unwrap();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\n\
             Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-11-25\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            server.authority(),
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        unread.push(stream);
    }
    let kilobytes = once_steady(|| memory_of(server.child.id(), "VmRSS:"));
    assert!(kilobytes < 250_000, "{kilobytes} kB");
    // Who leaves, or reads, makes room.
    drop(unread);
    let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }).to_string();
    let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", session.as_str())];
    assert_eq!(server.post(&headers, ping.as_bytes()).0, 200);
}

#[test]
fn sessions_that_were_left_behind_make_room_and_those_in_use_stay() {
    let home = Home::new();
    let server = Server::start(&home);
    let right = format!("Bearer {}", token(&home));
    let begin = || session(&server.post(&[("Authorization", &right)], &hello()).1);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let asks = |session: &str| {
        let headers = [
            ("Authorization", &*right),
            ("Mcp-Session-Id", session),
            ("MCP-Protocol-Version", "2025-11-25"),
        ];
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        server.post(&headers, initialized.to_string().as_bytes());
        server.post(&headers, list.as_bytes()).0
    };
    let (first, second) = (begin(), begin());
    for n in 0..70 {
        begin();
        if n % 10 == 0 {
            assert_eq!(asks(&first), 200, "it is in use");
        }
    }
    assert_eq!(asks(&first), 200);
    assert_eq!(asks(&second), 404, "nobody has used it for long");
}

/// Each looks at files twice a second, in whichever way a client follows.
#[test]
fn only_so_many_resources_are_followed_at_once() {
    let home = Home::new();
    let server = Server::start(&home);
    let right = format!("Bearer {}", token(&home));
    let ask = |session: &str, method: &str| {
        let headers = [
            ("Authorization", &*right),
            ("Mcp-Session-Id", session),
            ("MCP-Protocol-Version", "2025-11-25"),
        ];
        let params = json!({ "uri": "recoup://rules" });
        let message = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
        server.post(&headers, message.to_string().as_bytes()).1
    };
    let begin = || {
        let id = session(&server.post(&[("Authorization", &right)], &hello()).1);
        ask(&id, "notifications/initialized");
        id
    };
    let sessions: Vec<String> = (0..40).map(|_| begin()).collect();
    let answers: Vec<bool> = sessions
        .iter()
        .map(|id| !ask(id, "resources/subscribe").contains("too many subscriptions"))
        .collect();
    assert_eq!(answers.iter().filter(|followed| **followed).count(), 32);
    // The same again is no other; and whoever stops makes room.
    assert!(!ask(&sessions[0], "resources/subscribe").contains("too many"));
    assert!(ask(&sessions[39], "resources/subscribe").contains("too many"));
    ask(&sessions[1], "resources/unsubscribe");
    assert!(!ask(&sessions[39], "resources/subscribe").contains("too many"));
}

/// The session that an answer begins.
fn session(answer: &str) -> String {
    let header = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    header.expect(answer).trim().to_owned()
}

#[test]
fn methods_that_the_stateless_protocol_has_no_more_are_not_found() {
    let home = Home::new();
    let server = Server::start(&home);
    let right = format!("Bearer {}", token(&home));
    let ask = |method: &str, params: Value| {
        let mut params = params;
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} });
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let headers = [
            ("Authorization", right.as_str()),
            ("Mcp-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        server.post(&headers, body.to_string().as_bytes())
    };
    let hello = json!({ "protocolVersion": "2026-07-28", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } });
    for (method, params) in [
        ("initialize", hello),
        ("initialize", json!({})),
        ("ping", json!({})),
        ("logging/setLevel", json!({ "level": "info" })),
        ("resources/subscribe", json!({ "uri": "recoup://rules" })),
        ("resources/unsubscribe", json!({ "uri": "recoup://rules" })),
        ("tasks/get", json!({ "taskId": "1" })),
        ("no/such", json!({})),
    ] {
        let (status, answer) = ask(method, params);
        assert_eq!(status, 404, "{method}: {answer}");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&body["id"], &body["error"]["code"]), (&json!(7), &json!(-32601)), "{method}");
    }
    assert_eq!(ask("tools/list", json!({})).0, 200);
}
