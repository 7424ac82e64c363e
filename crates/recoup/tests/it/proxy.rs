//! `recoup mcp proxy`, in front of servers from the package registries and of scripted ones.

mod caching;
mod conformance;
mod http;
mod life;
mod passing;
mod real_servers;
mod stats;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::support::Home;

const SCRIPTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/proxy/scripted.mjs");

/// A home with a scripted server in it.
struct Scene {
    home: Home,
    habits: Vec<&'static str>,
}

impl Scene {
    fn new() -> Self {
        Self { home: Home::new(), habits: Vec::new() }
    }

    fn with_habits(habits: &[&'static str]) -> Self {
        Self { home: Home::new(), habits: habits.to_vec() }
    }

    /// One with this configuration of the server.
    fn configured(settings: &str) -> Self {
        let scene = Self::new();
        scene.configure(settings);
        scene
    }

    fn configure(&self, settings: &str) {
        configure(&self.home, &format!("[mcpServers.scripted]\n{settings}\n"));
    }

    fn log(&self) -> PathBuf {
        self.home.path("server.log")
    }

    /// Lines that the server was told.
    fn heard(&self) -> Vec<String> {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Number of requests for this method that the server was told.
    fn asked(&self, method: &str) -> usize {
        let part = format!("\"method\":\"{method}\"");
        self.heard().iter().filter(|line| line.contains(&part)).count()
    }

    fn server(&self) -> Vec<String> {
        let mut words = vec!["node".to_owned(), SCRIPTED.to_owned()];
        words.push(self.log().display().to_string());
        words.extend(self.habits.iter().map(|habit| (*habit).to_owned()));
        words
    }

    /// The server itself.
    fn direct(&self) -> Command {
        let words = self.server();
        self.home.prepared(&words[0], &words[1..])
    }

    /// The server behind the proxy.
    fn proxied(&self, flags: &[&str]) -> Command {
        proxied(&self.home, "scripted", flags, &self.server())
    }

    fn start(&self) -> Client {
        self.start_with(&[])
    }

    /// A client of the proxy, greeted.
    fn start_with(&self, flags: &[&str]) -> Client {
        greeted(&mut self.proxied(flags))
    }
}

/// The user's own configuration.
fn configure(home: &Home, text: &str) {
    fs::create_dir_all(home.recoup()).unwrap();
    fs::write(home.recoup().join("config.toml"), text).unwrap();
}

fn proxied(home: &Home, name: &str, flags: &[&str], server: &[String]) -> Command {
    let mut words = vec!["mcp", "proxy", "--name", name];
    words.extend(flags);
    words.push("--");
    words.extend(server.iter().map(String::as_str));
    home.command(&words)
}

/// A client that has said hello, in the older way.
fn greeted(command: &mut Command) -> Client {
    greeted_with(command, &json!({}))
}

fn greeted_with(command: &mut Command, capabilities: &Value) -> Client {
    let mut client = Client::spawn(command);
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    });
    let id = client.ask("initialize", params);
    assert!(hear_answer(&client, id)["result"].is_object());
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client
}

/// The answer to that question, whatever comes before it.
fn hear_answer(client: &Client, id: u64) -> Value {
    loop {
        let message = client.hear();
        if message["id"] == id && message["method"].is_null() {
            return message;
        }
    }
}

fn ask(client: &mut Client, method: &str, params: Value) -> Value {
    let id = client.ask(method, params);
    hear_answer(client, id)
}

/// Cancels a request.
fn cancel(client: &mut Client, id: u64) {
    let params = json!({ "requestId": id });
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
}

/// The text that a tool returned.
fn call(client: &mut Client, tool: &str, arguments: Value) -> String {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    let answer = ask(client, "tools/call", params);
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}
