//! A client that says exactly what a test wants said, and hears everything.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Home;

/// Longer than any answer takes on a loaded machine.
pub(crate) const PATIENT: Duration = Duration::from_secs(30);

/// A server, and our ends of its streams.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    next: u64,
}

impl Client {
    /// A server that has not been greeted.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        Self::spawn(&mut home.command(&[&["mcp"], args].concat()))
    }

    /// One that a script has started, and greeted.
    pub(crate) fn headless(home: &Home, capabilities: &Value) -> Self {
        Self::headless_as("test", home, capabilities)
    }

    /// One that a script has started, and a client of that name greeted.
    pub(crate) fn headless_as(name: &str, home: &Home, capabilities: &Value) -> Self {
        let mut command = home.command(&["mcp"]);
        let mut client = Self::spawn(command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"));
        client.greet_as(name, capabilities);
        client
    }

    /// One that was started in another directory, and greeted.
    pub(crate) fn in_dir(home: &Home, dir: &std::path::Path) -> Self {
        let mut client = Self::spawn(home.command(&["mcp"]).current_dir(dir));
        client.greet(&json!({}));
        client
    }

    /// Any server, not greeted.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (heard, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).unwrap() > 0 {
                if heard.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines, next: 1 }
    }

    /// One that has, by a client that can do nothing.
    pub(crate) fn greeted(home: &Home) -> Self {
        Self::greeted_with(home, &[], &json!({}))
    }

    pub(crate) fn greeted_with(home: &Home, args: &[&str], capabilities: &Value) -> Self {
        let mut client = Self::start(home, args);
        client.greet(capabilities);
        client
    }

    /// One that was greeted by a client of that name.
    pub(crate) fn named(home: &Home, name: &str) -> Self {
        let mut client = Self::start(home, &[]);
        client.greet_as(name, &json!({}));
        client
    }

    pub(crate) fn greet(&mut self, capabilities: &Value) {
        self.greet_as("test", capabilities);
    }

    fn greet_as(&mut self, name: &str, capabilities: &Value) {
        let hello = self.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": { "name": name, "version": "1" },
            }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "recoup", "{hello}");
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.say_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    /// The next line, to the byte; none at the end.
    pub(crate) fn hear_bytes(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENT) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing, and does not end"),
        }
    }

    /// Closes the server's stdin.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// The next message, whatever it is. Each line is one, and nothing else is.
    pub(crate) fn hear(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENT).expect("the server answers");
        serde_json::from_slice(&line).expect("a line is a message")
    }

    /// Whether nothing comes for a while.
    pub(crate) fn is_silent_for(&self, time: Duration) -> bool {
        self.lines.recv_timeout(time).is_err()
    }

    /// Asks, and returns the answer to that very question.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Asks without waiting; says which id that was.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.say(&message);
        id
    }

    /// Calls a tool, and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        let answer = self.request("tools/call", params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed, and returns its data.
    pub(crate) fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must fail, and returns what it says.
    pub(crate) fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        text(&result)
    }

    /// Closes our end, and waits for the server's.
    pub(crate) fn leave(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

/// The text of a tool's result.
pub(crate) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
