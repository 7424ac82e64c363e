//! The real client behind `recoup gateway`: what it sends is what the model gets, so that the
//! provider's own prompt cache works as without it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use super::client::Client;
use super::hooks::Hook;
use crate::gateway::{Gateway, configure_url};
use crate::model::{Answer, Script};
use crate::support::Home;

/// Passes connections on, and keeps what was sent through each.
struct Relay {
    address: String,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Relay {
    fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sent, target) = (Arc::new(Mutex::new(Vec::new())), target.to_owned());
        let kept = Arc::clone(&sent);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&target).unwrap());
                let mut all = kept.lock().unwrap();
                all.push(Vec::new());
                let at = all.len() - 1;
                drop(all);
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let kept = Arc::clone(&kept);
                thread::spawn(move || {
                    pump(from, to, |bytes| kept.lock().unwrap()[at].extend_from_slice(bytes));
                });
                thread::spawn(move || pump(server, client, |_| ()));
            }
        });
        Self { address, sent }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests, as they were sent, without the host: their heads, and their bodies.
    fn requests(&self) -> Vec<(Vec<String>, String)> {
        let mut requests = Vec::new();
        for connection in self.sent.lock().unwrap().iter() {
            let mut rest = connection.as_slice();
            while let Some(end) = rest.windows(4).position(|it| it == b"\r\n\r\n") {
                let head = String::from_utf8(rest[..end].to_vec()).unwrap();
                let is = |line: &str, name: &str| {
                    line.to_ascii_lowercase().starts_with(&format!("{name}:"))
                };
                let length = head.lines().find(|line| is(line, "content-length"));
                let length = length.map_or(0, |line| line[15..].trim().parse().unwrap());
                let lines =
                    head.lines().filter(|line| !is(line, "host") && !is(line, "connection"));
                let lines = lines.map(str::to_owned).collect();
                let body = String::from_utf8(rest[end + 4..][..length].to_vec()).unwrap();
                requests.push((lines, body));
                rest = &rest[end + 4 + length..];
            }
        }
        requests.sort();
        requests
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, mut see: impl FnMut(&[u8])) {
    let mut room = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut room) {
        see(&room[..length]);
        if to.write_all(&room[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn what_the_client_sends_reaches_the_model_byte_for_byte() {
    let command = serde_json::json!({ "command": "echo from the tool", "description": "a test" });
    let script = Script::default().on("use a tool", Answer::tool("Bash", command));
    let client = Client::new(&Hook::None, script);
    let behind = Relay::start(client.model_url().strip_prefix("http://").unwrap());
    let home = Home::new();
    configure_url(&home, &behind.url(), "ttl = \"1h\"\n");
    let gateway = Gateway::resumed(&home, &[]);
    let before = Relay::start(&gateway.address);
    for prompt in ["hello", "use a tool"] {
        let events = client.ask_at(&before.url(), prompt);
        let result = events.iter().find(|event| event["type"] == "result").unwrap();
        assert_eq!(result["is_error"], Value::Bool(false), "{result}");
    }
    let (sent, arrived) = (before.requests(), behind.requests());
    assert!(arrived.len() >= 3, "{} requests", arrived.len());
    let has_mark = |(_, body): &(Vec<String>, String)| body.contains("cache_control");
    assert!(arrived.iter().any(has_mark), "the client marks what the provider is to cache");
    assert_eq!(sent, arrived);
    gateway.stop();
    let report = home.run(&["explain", "--prompt-cache", "--json"]).text();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["requests"].as_u64().unwrap() >= 3, "{report}");
}
