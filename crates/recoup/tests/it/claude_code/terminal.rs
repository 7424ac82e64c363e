//! The client as a person has it: in a terminal, with somebody who types.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{self, Pty};
use regex::Regex;

/// For whatever is waited for.
const PATIENCE: Duration = Duration::from_secs(90);

/// Between two presses of a key, or two looks at whether it has done its work.
const STEP: Duration = Duration::from_millis(300);

/// Where the person types.
const PROMPT: &str = "❯";

pub(crate) struct Terminal {
    pty: Pty,
    child: Child,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts the client, and waits until it can be typed into.
    pub(crate) fn start(command: Command) -> Self {
        let (pty, pts) = blocking::open().unwrap();
        pty.resize(Size::new(40, 120)).unwrap();
        let child = blocking::Command::from(command).spawn(pts).unwrap();
        let screen = watch(&pty);
        let mut this = Self { pty, child, screen };
        this.wait(|this| this.shows(PROMPT), "");
        this
    }

    /// Types a line, and Enter until `done`. (Enter that comes at once after
    /// the text is a new line, as in what is pasted.)
    pub(crate) fn enter(&mut self, line: &str, done: impl Fn() -> bool) {
        self.pty.write_all(line.as_bytes()).unwrap();
        thread::sleep(STEP);
        self.wait(|_| done(), "\r");
    }

    /// Leaves the client as a person does.
    pub(crate) fn leave(mut self) {
        self.pty.write_all(b"/exit").unwrap();
        thread::sleep(STEP);
        self.wait(|this| this.child.try_wait().unwrap().is_some(), "\r");
        assert!(self.child.wait().unwrap().success());
    }

    fn wait(&mut self, done: impl Fn(&mut Self) -> bool, key: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !done(self) {
            assert!(Instant::now() < deadline, "it took too long: {}", self.text());
            // It may just have ended.
            let _ = self.pty.write_all(key.as_bytes());
            thread::sleep(STEP);
        }
    }

    fn shows(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    /// Waits until a line is on the screen. (What is between its words may be a jump.)
    pub(crate) fn wait_for(&mut self, line: &str) {
        let line: String = line.split_whitespace().collect();
        self.wait(|this| this.letters().contains(&line), "");
    }

    /// What is shown, without spaces, line ends and what moves or colours.
    pub(crate) fn letters(&self) -> String {
        let codes = Regex::new("\x1b(\\[[0-9;?<>=]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|.)");
        let text = self.text();
        let text = codes.unwrap().replace_all(&text, "");
        text.split_whitespace().collect()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }
}

/// A test that failed leaves no client behind.
impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Everything that is written to the terminal. Somebody must read it, or the
/// client stops.
fn watch(pty: &Pty) -> Arc<Mutex<Vec<u8>>> {
    let screen = Arc::<Mutex<Vec<u8>>>::default();
    let written = Arc::clone(&screen);
    let mut reader = File::from(rustix::io::dup(pty).unwrap());
    thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(length @ 1..) = reader.read(&mut piece) {
            written.lock().unwrap().extend_from_slice(&piece[..length]);
        }
    });
    screen
}
