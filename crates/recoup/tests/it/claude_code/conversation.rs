//! A running client, spoken to and listened to in lines of JSON.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// For one answer. It takes a second or two; other tests take their share.
const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Debug)]
pub(crate) struct Conversation {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    heard: Vec<Value>,
    stderr: File,
}

impl Conversation {
    pub(crate) fn start(command: &mut Command) -> Self {
        let stderr = tempfile::tempfile().unwrap();
        command.stdout(Stdio::piped()).stderr(stderr.try_clone().unwrap());
        let mut child = command.spawn().unwrap();
        let lines = listen(child.stdout.take().unwrap());
        Self { stdin: child.stdin.take(), child, lines, heard: Vec::new(), stderr }
    }

    /// Says something, where stdin is a pipe, and waits until it is answered. (What is said before
    /// the answer, the client would put together into one message.)
    pub(crate) fn say(&mut self, prompt: &str) {
        let message = json!({ "role": "user", "content": prompt });
        let line = json!({ "type": "user", "message": message });
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.wait_for_the_answer();
    }

    pub(crate) fn wait_for_the_answer(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while let Some(line) = self.next(deadline) {
            if line["type"] == "result" {
                assert_eq!(line["subtype"], "success", "{line}");
                return;
            }
        }
        self.fail("it ended without an answer");
    }

    /// Says no more, and waits until the client has ended, and well. Gives
    /// everything that it has said.
    pub(crate) fn end(mut self) -> Vec<Value> {
        drop(self.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while self.next(deadline).is_some() {}
        let status = self.child.wait().unwrap();
        if !status.success() {
            self.fail(&status.to_string());
        }
        std::mem::take(&mut self.heard)
    }

    /// The next thing that it says; nothing at its end.
    fn next(&mut self, deadline: Instant) -> Option<Value> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => {
                self.heard.push(line.clone());
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => self.fail("it took too long"),
        }
    }

    fn fail(&mut self, reason: &str) -> ! {
        let mut stderr = String::new();
        self.stderr.rewind().unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        panic!("{reason}\nstderr: {stderr}\nheard: {:#?}", self.heard);
    }
}

/// A test that failed leaves no client behind.
impl Drop for Conversation {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A thread of its own, so that waiting can have a limit.
fn listen(stdout: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let line = serde_json::from_str(&line).unwrap_or(Value::String(line));
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
