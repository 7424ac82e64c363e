//! HTTP/1.1 in its plainest form, for a model API that costs nothing and for its clients.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

pub(super) const API_PATH: &str = "/v1/chat/completions";
/// Token of all clients. LiteLLM refuses those that look like a toy.
pub(super) const TOKEN: &str = "sk-4dd30f2b7c1e9a86";
/// Events of a slow stream, and the pause before each.
const SLOW_EVENTS: usize = 10;
const PAUSE: Duration = Duration::from_secs(1);
/// Enough for a thread that only reads and writes: there are many.
const STACK: usize = 128 << 10;

/// One end of a connection.
pub(super) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(super) fn open(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).unwrap())
    }

    fn of(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    /// Sends a question.
    pub(super) fn send(&mut self, body: &str) {
        let request = format!(
            "POST {API_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Authorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
    }

    /// The head, and the length of the body if it is told; none at the end of the connection.
    pub(super) fn read_head(&mut self) -> Option<(String, Option<usize>)> {
        let (mut head, mut len) = (String::new(), None);
        loop {
            let start = head.len();
            if self.0.read_line(&mut head).ok()? == 0 {
                return None;
            }
            let line = &head[start..];
            if line.trim_end().is_empty() {
                return Some((head, len));
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                len = value.trim().parse().ok();
            }
        }
    }

    pub(super) fn read_body(&mut self, len: Option<usize>) -> Vec<u8> {
        let mut body = Vec::new();
        let mut left = len.unwrap_or(0);
        loop {
            if len.is_none() {
                let mut size = String::new();
                self.0.read_line(&mut size).unwrap();
                // With the end of the line.
                left = usize::from_str_radix(size.trim_end(), 16).unwrap() + 2;
            }
            let start = body.len();
            body.resize(start + left, 0);
            self.0.read_exact(&mut body[start..]).unwrap();
            if len.is_some() || left == 2 {
                return body;
            }
        }
    }

    /// Asks, and returns the head of the answer and how long all of it took.
    pub(super) fn ask(&mut self, body: &str) -> (String, Duration) {
        let start = Instant::now();
        self.send(body);
        let (head, len) = self.read_head().unwrap();
        self.read_body(len);
        let took = start.elapsed();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        (head, took)
    }
}

/// A model API that answers at once with `len` bytes, or slowly where a stream is asked for.
pub(super) fn start_upstream(len: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let body = completion(len);
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let serve = move || {
        for stream in listener.incoming() {
            let (connection, answer) = (Connection::of(stream.unwrap()), answer.clone());
            let serve = move || serve_client(connection, &answer);
            thread::Builder::new().stack_size(STACK).spawn(serve).unwrap();
        }
    };
    thread::spawn(serve);
    address
}

fn serve_client(mut connection: Connection, answer: &str) {
    while let Some((_, len)) = connection.read_head() {
        let question = connection.read_body(len.or(Some(0)));
        let is_stream = String::from_utf8_lossy(&question).contains("\"stream\":true");
        let stream = connection.0.get_mut();
        let sent = if is_stream {
            send_events(stream, question.len().is_multiple_of(2))
        } else {
            stream.write_all(answer.as_bytes())
        };
        if sent.is_err() {
            return;
        }
    }
}

fn send_events(stream: &mut TcpStream, is_slow: bool) -> std::io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    let chunk = |delta: serde_json::Value, finish: Option<&str>| {
        let event = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "bench",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        format!("data: {event}\n\n")
    };
    let words = (0..SLOW_EVENTS).map(|n| chunk(json!({ "content": format!("word {n} ") }), None));
    let end = [chunk(json!({}), Some("stop")), "data: [DONE]\n\n".to_owned()];
    for event in words.chain(end) {
        if is_slow {
            thread::sleep(PAUSE);
        }
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
    }
    stream.write_all(b"0\r\n\r\n")
}

fn completion(len: usize) -> String {
    let answer = |text: &str| {
        json!({ "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "bench",
            "choices": [{ "index": 0, "finish_reason": "stop",
                "message": { "role": "assistant", "content": text } }],
            "usage": { "prompt_tokens": 250, "completion_tokens": 450, "total_tokens": 700 } })
        .to_string()
    };
    let rest = len - answer("").len();
    answer(&"some words ".repeat(rest / 11 + 1)[..rest])
}

/// A question of about 1 KB. One with an even length has a slow stream as its answer.
pub(super) fn question(number: &str, is_stream: bool, is_slow: bool) -> String {
    let text = |filler: &str| {
        let content = format!("{number} {}{filler}", "Summarise what follows. ".repeat(40));
        let mut body = json!({ "model": "bench", "temperature": 0,
            "messages": [{ "role": "user", "content": content }] });
        if is_stream {
            body["stream"] = json!(true);
        }
        body.to_string()
    };
    let plain = text("");
    if plain.len().is_multiple_of(2) == is_slow { plain } else { text("x") }
}
