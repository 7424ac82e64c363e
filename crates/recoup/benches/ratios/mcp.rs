//! The MCP server as its clients feel it: how soon it says hello, what a call takes among
//! 5,000 notes, and what it takes in memory.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::measure::{Figure, Ratio, Size, compare};
use crate::notes;
use crate::retrieval;
use crate::scene::in_clean_environment;

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const NOTES: usize = 5_000;
const CALLS: usize = 10_000;
const GOAL: Duration = Duration::from_millis(1);

/// From the start of the process to its answer to `initialize`, and its end.
pub(crate) fn hello_against_true() -> Ratio {
    let home = TempDir::new().unwrap();
    let run_true = || assert!(in_clean_environment("/bin/true").status().unwrap().success());
    compare(10.0, 500, 1, run_true, || drop(Client::greeted(&home)))
}

/// The median of 1,000 searches.
pub(crate) fn search() -> Figure {
    let home = with_notes();
    let mut client = Client::greeted(&home);
    let questions = retrieval::questions();
    let mut ask = |n: usize| {
        let text = &questions[n % questions.len()].text;
        client.call("search_memory", &json!({ "query": text }));
    };
    median((0..1_000).map(|n| timed(|| ask(n))).collect())
}

/// The median of 1,000 new notes.
pub(crate) fn store() -> Figure {
    let home = with_notes();
    let mut client = Client::greeted(&home);
    let mut keep = |n: usize| {
        let content = format!("the job number{n} runs in queue {}", n % 7);
        client.call("store_memory", &json!({ "content": content }));
    };
    median((0..1_000).map(|n| timed(|| keep(n))).collect())
}

/// After 10,000 calls of all sorts.
pub(crate) fn resident() -> Size {
    let home = with_notes();
    let mut client = Client::greeted(&home);
    client.mix(CALLS);
    Size { bytes: client.resident(), goal: 20 << 20 }
}

/// What the second half of 10,000 calls adds to that.
pub(crate) fn growth() -> Size {
    let home = with_notes();
    let mut client = Client::greeted(&home);
    client.mix(CALLS / 2);
    let half = client.resident();
    client.mix(CALLS / 2);
    Size { bytes: client.resident().saturating_sub(half), goal: 1 << 20 }
}

fn timed(mut act: impl FnMut()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Figure {
    times.sort_unstable();
    Figure { time: times[times.len() / 2], goal: GOAL }
}

/// A home with notes of the user's, in the project that it is itself.
fn with_notes() -> TempDir {
    let home = TempDir::new().unwrap();
    notes::remember(home.path(), home.path(), NOTES);
    home
}

/// A server, and our ends of its streams.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    fn greeted(home: &TempDir) -> Self {
        let mut command = in_clean_environment(RECOUP);
        Self::start(command.arg("mcp").env("RECOUP_HOME", home.path()).current_dir(home.path()))
    }

    /// A server of any kind, greeted.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, stdin, stdout };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
                             "clientInfo": { "name": "bench", "version": "1" } });
        client.request("initialize", &params);
        client
    }

    pub(crate) fn notify(&mut self, method: &str) {
        let message = json!({ "jsonrpc": "2.0", "method": method });
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) {
        let result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert_ne!(result["isError"], true, "{result}");
    }

    /// So many calls, of which each sort is a part.
    fn mix(&mut self, calls: usize) {
        for n in 0..calls {
            let key = format!("key{}", n % 100);
            match n % 5 {
                0 => self.call("search_memory", &json!({ "query": format!("service{n}") })),
                1 => self
                    .call("store_memory", &json!({ "content": format!("use port {}", n % 500) })),
                2 => self.call("cache_store", &json!({ "key": key, "result": { "n": n } })),
                3 => self.call("cache_lookup", &json!({ "key": key })),
                _ => self.call("load_rules", &json!({})),
            }
        }
    }

    /// What it takes in memory.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
    }

    /// How many files, pipes and sockets it holds.
    pub(crate) fn handles(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.child.wait().unwrap();
    }
}
