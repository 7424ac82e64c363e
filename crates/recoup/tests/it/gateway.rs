//! `recoup gateway` in front of a server of the tests' own.

mod answers;
mod callers;
mod flights;
mod hostile;
mod lifecycle;
mod observed;
mod operations;
mod requests;
mod scripted_api;
mod sdks;
mod streams;
mod team;
mod traces;

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model_server::Server;
use crate::support::Home;

/// A gateway on a port of its own, which ends with the test.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) address: String,
}

/// An answer, as it came.
#[derive(Debug, Clone)]
struct Answer {
    status: u16,
    head: String,
    /// Without the marks of chunks.
    body: Vec<u8>,
}

impl Gateway {
    /// A gateway that keeps everything for an hour.
    fn caching(home: &Home, upstream: &Server) -> Self {
        Self::start(home, upstream, "ttl = \"1h\"\n")
    }

    /// A gateway with these settings, and one upstream for both APIs.
    fn start(home: &Home, upstream: &Server, settings: &str) -> Self {
        Self::start_with(home, upstream, settings, &[])
    }

    fn start_with(home: &Home, upstream: &Server, settings: &str, env: &[(&str, &str)]) -> Self {
        configure(home, upstream, settings);
        Self::resumed(home, env)
    }

    /// A gateway with the settings that are there.
    pub(crate) fn resumed(home: &Home, env: &[(&str, &str)]) -> Self {
        let mut child = home
            .command(&["gateway", "--listen", "127.0.0.1:0"])
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().strip_prefix("http://").unwrap_or_default().to_owned();
        Self { child, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    /// Posts JSON.
    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        self.post_text(path, headers, &body.to_string())
    }

    fn post_text(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        write!(head, "Content-Length: {}\r\nConnection: close\r\n\r\n", body.len()).unwrap();
        self.exchange(&format!("{head}{body}"))
    }

    fn get(&self, path: &str) -> Answer {
        let host = &self.address;
        self.exchange(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    /// Sends these bytes, and reads all that comes back.
    fn exchange(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        // One that refuses does not read all of it.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::parse(&bytes)
    }

    /// Ends it as a person would, and waits until it has ended.
    pub(crate) fn stop(mut self) {
        self.signal("TERM");
        assert!(self.child.wait().unwrap().success());
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(
            std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success()
        );
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else {
            return Self {
                status: 0,
                head: String::from_utf8_lossy(bytes).into(),
                body: Vec::new(),
            };
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut answer = Self { status, head, body: bytes[end + 4..].to_vec() };
        if answer.header("transfer-encoding").is_some() {
            answer.body = without_chunks(&answer.body);
        }
        answer
    }

    /// The value of a header; its name in small letters.
    fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        self.head.lines().find(named).map(|line| line[name.len() + 1..].trim())
    }

    /// What became of the request: the first word of `Recoup-Cache`.
    fn outcome(&self) -> &str {
        let all = self.header("recoup-cache").unwrap_or_default();
        all.split(';').next().unwrap_or_default()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

fn without_chunks(mut bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = bytes.windows(2).position(|it| it == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        let rest = &bytes[end + 2..];
        if size == 0 || rest.len() < size {
            break;
        }
        all.extend_from_slice(&rest[..size]);
        bytes = &rest[(size + 2).min(rest.len())..];
    }
    all
}

/// Writes the user's configuration.
fn configure(home: &Home, upstream: &Server, settings: &str) {
    configure_url(home, &upstream.url(), settings);
}

pub(crate) fn configure_url(home: &Home, url: &str, settings: &str) {
    let upstreams = format!(
        "\n[gateway.upstreams.anthropic]\nurl = \"{url}\"\nanswer_timeout = \"5s\"\nidle_timeout = \"5s\"\n\
         [gateway.upstreams.openai]\nurl = \"{url}\"\n"
    );
    std::fs::create_dir_all(home.recoup()).unwrap();
    let text = format!("[gateway]\n{settings}{upstreams}");
    std::fs::write(home.recoup().join("config.toml"), text).unwrap();
}

/// A question to Anthropic's API.
fn question(text: &str) -> Value {
    json!({ "model": "claude-sonnet-4-5", "max_tokens": 100,
            "messages": [{ "role": "user", "content": text }] })
}

/// The same question, to be answered as a stream.
fn streamed(text: &str) -> Value {
    let mut question = question(text);
    question["stream"] = json!(true);
    question
}

/// A plain answer of Anthropic's.
fn message(text: &str) -> String {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn",
        "stop_sequence": null, "usage": { "input_tokens": 1000, "output_tokens": 200 },
    })
    .to_string()
}

const MESSAGES: &str = "/v1/messages";
