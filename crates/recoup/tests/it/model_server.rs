//! A model's API of the tests' own: a real HTTP server that answers as it is told, and
//! remembers what it was asked. It speaks both APIs, and streams where it is asked to.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// One request, as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// The first line and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The value of a header; its name in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        self.head.lines().find(named).map(|line| line[name.len() + 1..].trim())
    }
}

/// A server that runs until the tests end.
#[derive(Debug)]
pub(crate) struct Server {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    /// Answers each request by `act`, which may write what it likes, or nothing.
    pub(crate) fn start(act: impl Fn(&Received, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { port, received: Arc::default(), connections: Arc::default() };
        let (received, connections) =
            (Arc::clone(&server.received), Arc::clone(&server.connections));
        let act = Arc::new(act);
        thread::spawn(move || {
            for stream in listener.incoming() {
                *connections.lock().unwrap() += 1;
                let (received, act) = (Arc::clone(&received), Arc::clone(&act));
                thread::spawn(move || serve(stream.unwrap(), &received, &*act));
            }
        });
        server
    }

    /// Answers everything with this status, these headers and this body.
    pub(crate) fn saying(status: &'static str, headers: &'static str, body: String) -> Self {
        Self::start(move |_, stream| respond(stream, status, headers, body.as_bytes()))
    }

    /// Gives these answers, one after the other, to whoever asks.
    pub(crate) fn scripted(turns: Vec<ModelTurn>) -> Self {
        let turns = Mutex::new(turns.into_iter());
        Self::answering(move |_| {
            let next = turns.lock().unwrap().next();
            next.unwrap_or_else(|| ModelTurn::refused("500 Oops", "", "the script is over"))
        })
    }

    /// Gives the answer that `turn` makes of a request.
    pub(crate) fn answering(turn: impl Fn(&Received) -> ModelTurn + Send + Sync + 'static) -> Self {
        Self::start(move |asked, stream| turn(asked).perform(asked, stream))
    }

    /// A good answer of Anthropic's: the verdicts as a tool's input.
    pub(crate) fn anthropic(verdicts: &Value) -> Self {
        Self::saying("200 OK", "", anthropic(&json!({ "verdicts": verdicts }), 120, 30))
    }

    /// A good answer of everybody else's: `text` is what the model said.
    pub(crate) fn openai(text: &str) -> Self {
        Self::saying("200 OK", "", openai(text, Some((120, 30))))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    /// Everything that was asked.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// The one thing that was asked.
    #[track_caller]
    pub(crate) fn question(&self) -> Received {
        let mut all = self.received();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }
}

/// Looks as signatures of thinking do, and is no secret.
pub(crate) const SIGNATURE: &str = "EqoBCkgIARABGAIiQL8zq2TjvZ1Yt7mNc4Xw0Rk9pUeHf3sGd6aLbVnMx5JqWyEr\
    2TuIoPzKlHjFgSdAmBvCxNqW8eRt7YuI9oP0aSdFgHjKlZxCvBnM1QwErTyUiOpLkJhGfDsEgwZ3Vh5Tb8QaWx2Nc6Mp0KsGg==";

/// An answer of a model that says what a script has.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelTurn {
    pieces: Vec<String>,
    calls: Vec<(String, Value)>,
    has_thought: bool,
    stop: Option<&'static str>,
    /// Status, headers and message of a refusal.
    refusal: Option<(&'static str, &'static str, &'static str)>,
    /// Error in the middle of the stream: its type, or its code.
    error: Option<&'static str>,
    pause: Duration,
    cut_after: Option<usize>,
    keeps_open: bool,
}

impl ModelTurn {
    /// Says this, a word in each piece.
    pub(crate) fn text(text: &str) -> Self {
        let pieces = text.split_inclusive(' ').map(str::to_owned).collect();
        Self { pieces, ..Self::default() }
    }

    /// Calls this tool, too.
    pub(crate) fn calling(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push((name.to_owned(), arguments));
        self
    }

    /// Refuses to answer with this status, these headers and this message.
    pub(crate) fn refused(
        status: &'static str,
        headers: &'static str,
        message: &'static str,
    ) -> Self {
        Self { refusal: Some((status, headers, message)), ..Self::default() }
    }

    /// Thinks first, and signs it.
    pub(crate) fn thinking(self) -> Self {
        Self { has_thought: true, ..self }
    }

    /// Gives this reason for the end, in the API's own words.
    pub(crate) fn stopping(self, stop: &'static str) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Ends the stream with this error in place of its end.
    pub(crate) fn failing(self, error: &'static str) -> Self {
        Self { error: Some(error), ..self }
    }

    /// Waits before each event.
    pub(crate) fn slow(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Breaks off after that many events.
    pub(crate) fn cut_after(self, events: usize) -> Self {
        Self { cut_after: Some(events), ..self }
    }

    /// Says nothing of the end of the connection.
    pub(crate) fn keeping_open(self) -> Self {
        Self { keeps_open: true, ..self }
    }

    /// Answers a request.
    pub(crate) fn perform(&self, asked: &Received, stream: &mut TcpStream) {
        if let Some((status, headers, message)) = self.refusal {
            let body = json!({"type": "error", "error": {"message": message}}).to_string();
            return respond(stream, status, headers, body.as_bytes());
        }
        let is_anthropic = asked.head.starts_with("POST /v1/messages ");
        let events = if is_anthropic { self.anthropic_events() } else { self.openai_events() };
        let close = if self.keeps_open { "" } else { "Connection: close\r\n" };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
             Transfer-Encoding: chunked\r\n{close}\r\n"
        );
        let _ = stream.write_all(head.as_bytes());
        for event in events.iter().take(self.cut_after.unwrap_or(usize::MAX)) {
            thread::sleep(self.pause);
            let chunk = format!("{:x}\r\n{event}\r\n", event.len());
            if stream.write_all(chunk.as_bytes()).is_err() {
                return;
            }
        }
        if self.cut_after.is_none() {
            let _ = stream.write_all(b"0\r\n\r\n");
        }
    }

    fn anthropic_events(&self) -> Vec<String> {
        let mut events = vec![
            json!({"type": "ping"}),
            json!({"type": "message_start", "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "content": [],
                "stop_reason": null, "usage": {
                    "input_tokens": 60, "cache_read_input_tokens": 30,
                    "cache_creation_input_tokens": 10, "output_tokens": 1}}}),
        ];
        let mut index = 0;
        let mut block = |start: Value, deltas: Vec<Value>| {
            events.push(
                json!({"type": "content_block_start", "index": index, "content_block": start}),
            );
            events.extend(deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
            events.push(json!({"type": "content_block_stop", "index": index}));
            index += 1;
        };
        if self.has_thought {
            block(
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": "hm, "}),
                    json!({"type": "thinking_delta", "thinking": "yes"}),
                    json!({"type": "signature_delta", "signature": SIGNATURE}),
                ],
            );
        }
        if !self.pieces.is_empty() {
            let delta = |piece: &String| json!({"type": "text_delta", "text": piece});
            block(json!({"type": "text", "text": ""}), self.pieces.iter().map(delta).collect());
        }
        for (number, (name, arguments)) in self.calls.iter().enumerate() {
            let delta = |piece| json!({"type": "input_json_delta", "partial_json": piece});
            block(
                json!({"type": "tool_use", "id": format!("toolu_01A09q90qw90lq917835lq{number}"), "name": name, "input": {}}),
                halves(&arguments.to_string()).map(delta).to_vec(),
            );
        }
        if let Some(kind) = self.error {
            events.push(json!({"type": "error", "error": {"type": kind, "message": "Overloaded"}}));
        } else {
            let stop = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
            events.push(json!({"type": "message_delta", "usage": {"output_tokens": 20},
                "delta": {"stop_reason": self.stop.unwrap_or(stop), "stop_sequence": null}}));
            events.push(json!({"type": "message_stop"}));
        }
        let named = |event: &Value| {
            format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
        };
        events.iter().map(named).collect()
    }

    fn openai_events(&self) -> Vec<String> {
        let chunk = |delta: Value, finish: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]})
        };
        let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
        if self.has_thought {
            events.push(chunk(json!({"reasoning_content": "hm, "}), Value::Null));
            events.push(chunk(json!({"reasoning_content": "yes"}), Value::Null));
        }
        let pieces = self.pieces.iter();
        events.extend(pieces.map(|piece| chunk(json!({"content": piece}), Value::Null)));
        for (index, (name, arguments)) in self.calls.iter().enumerate() {
            let call = |call: Value| chunk(json!({"tool_calls": [call]}), Value::Null);
            events.push(call(
                json!({"index": index, "id": format!("call_a9Xm2Qv7LkT4bR8sWz1Nc5Jd{index}"),
                "type": "function", "function": {"name": name, "arguments": ""}}),
            ));
            for piece in halves(&arguments.to_string()) {
                events.push(call(json!({"index": index, "function": {"arguments": piece}})));
            }
        }
        let mut end = String::new();
        if let Some(code) = self.error {
            events.push(json!({"error": {"message": "Overloaded", "code": code}}));
        } else {
            let stop = if self.calls.is_empty() { "stop" } else { "tool_calls" };
            events.push(chunk(json!({}), self.stop.unwrap_or(stop).into()));
            events.push(json!({"id": "chatcmpl-1", "choices": [], "usage": {
                "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 30}}}));
            "data: [DONE]\n\n".clone_into(&mut end);
        }
        let mut events: Vec<String> =
            events.iter().map(|event| format!("data: {event}\n\n")).collect();
        events.extend(Some(end).filter(|end| !end.is_empty()));
        events
    }
}

fn halves(text: &str) -> [&str; 2] {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at));
    text.split_at(middle.unwrap_or_default()).into()
}

pub(crate) fn anthropic(input: &Value, read: u64, written: u64) -> String {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "text", "text": "I will report."},
            {"type": "tool_use", "id": "toolu_1", "name": "report", "input": input},
        ],
        "usage": {"input_tokens": read, "output_tokens": written, "service_tier": "standard"},
    })
    .to_string()
}

pub(crate) fn openai(text: &str, usage: Option<(u64, u64)>) -> String {
    let mut answer = json!({
        "id": "chatcmpl-1", "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": text, "refusal": null}}],
    });
    if let Some((read, written)) = usage {
        answer["usage"] = json!({"prompt_tokens": read, "completion_tokens": written,
                                 "total_tokens": read + written});
    }
    answer.to_string()
}

pub(crate) fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let length = body.len();
    // One request is answered for each connection.
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
    );
    // Who has seen enough may be gone.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

/// Waits until the other side has had enough.
pub(crate) fn wait_for_the_end(stream: &mut TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

fn serve(
    mut stream: TcpStream,
    received: &Mutex<Vec<Received>>,
    act: &dyn Fn(&Received, &mut TcpStream),
) {
    // Small pieces are not held back.
    let _ = stream.set_nodelay(true);
    if let Some(request) = receive(&mut stream) {
        received.lock().unwrap().push(request.clone());
        act(&request, &mut stream);
    }
}

/// The next request; none if there is no other.
pub(crate) fn receive(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8_192];
    loop {
        let count = stream.read(&mut chunk).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        if let Some(request) = whole(&bytes) {
            return Some(request);
        }
    }
}

/// The request, once all of it is there.
fn whole(bytes: &[u8]) -> Option<Received> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let request = Received { head: head.to_owned(), body: body.to_owned() };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    (body.len() >= length).then_some(request)
}
