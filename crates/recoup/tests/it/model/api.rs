//! The model APIs on loopback: Anthropic's messages, answered from a script, the responses
//! that Codex asks for, each a word, and a record of all that was asked.

use std::io::{BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::request::Request;
use super::script::{self, Script};

/// It answers for as long as the test's process lives.
#[derive(Debug)]
pub(crate) struct Api {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Api {
    pub(crate) fn start(script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<_>>>::default();
        let (script, record) = (Arc::new(script), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, record) = (Arc::clone(&script), Arc::clone(&record));
                thread::spawn(move || serve(&stream, &script, &record));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests to the model so far, in order.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

/// One request for each connection: the client opens as many as it likes. One
/// that goes away in the middle of an answer is no fault of ours.
fn serve(mut stream: &TcpStream, script: &Script, asked: &Mutex<Vec<Request>>) {
    let Some(request) = Request::read(&mut BufReader::new(stream)) else { return };
    let answer = match request.path.split('?').next() {
        Some("/v1/messages") => {
            let answer = script.answer(&request);
            let model = request.body["model"].clone();
            let mut asked = asked.lock().unwrap();
            asked.push(request);
            response("200 OK", "text/event-stream", &answer.events(&model, asked.len()))
        }
        Some("/v1/responses") => {
            let mut asked = asked.lock().unwrap();
            asked.push(request);
            response("200 OK", "text/event-stream", &script::a_word_in_response(asked.len()))
        }
        Some("/v1/messages/count_tokens") => {
            response("200 OK", "application/json", r#"{"input_tokens":100}"#)
        }
        _ => response("404 Not Found", "application/json", "{}"),
    };
    let _ = stream.write_all(answer.as_bytes());
}

fn response(status: &str, content: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}
