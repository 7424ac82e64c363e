//! A model's API of the tests' own: a real HTTP server that answers as it is told, and
//! remembers what it was asked.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

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
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n");
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
    let mut bytes = Vec::new();
    let mut chunk = [0; 8_192];
    while let Ok(count) = stream.read(&mut chunk) {
        if count == 0 {
            return;
        }
        bytes.extend_from_slice(&chunk[..count]);
        let Some(request) = whole(&bytes) else { continue };
        received.lock().unwrap().push(request.clone());
        return act(&request, &mut stream);
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
