//! Hooks against `/bin/true`, with few and with very many notes, and the end of an answer
//! with a short and with a very long transcript.

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::project::Project;
use recoup_core::memory::inject::estimate;
use recoup_core::memory::topic::topic;
use recoup_core::memory::{Memory, Note, NoteId, NoteKind, NoteScope, Source, Status, Waits};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::measure::{Ratio, compare};
use crate::retrieval;
use crate::scene::NoFaults;

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const TRUE: &str = "/bin/true";
const ROUNDS: usize = 200;

/// At most so many times what starting any program costs.
const COST: f64 = 6.0;
/// Whatever the number of notes.
const FLAT: f64 = 1.5;

pub(crate) fn session_against_true() -> Ratio {
    against_true(session)
}

pub(crate) fn session_flat() -> Ratio {
    flat(session)
}

pub(crate) fn prompt_against_true() -> Ratio {
    against_true(prompt)
}

pub(crate) fn prompt_flat() -> Ratio {
    flat(prompt)
}

pub(crate) fn before_call_against_true() -> Ratio {
    against_true(before_call)
}

pub(crate) fn before_call_flat() -> Ratio {
    flat(before_call)
}

pub(crate) fn after_call_against_true() -> Ratio {
    against_true(after_call)
}

pub(crate) fn after_call_flat() -> Ratio {
    flat(after_call)
}

pub(crate) fn failure_against_true() -> Ratio {
    against_true(failure)
}

pub(crate) fn stop_against_true() -> Ratio {
    against_true(stop)
}

pub(crate) fn stop_flat() -> Ratio {
    flat(stop)
}

/// 50 MB of transcript against 50 KB.
pub(crate) fn stop_whatever_the_transcript() -> Ratio {
    let scene = Scene::with_notes(200);
    let (short, long) = (scene.transcript("short", 50_000), scene.transcript("long", 50_000_000));
    let stop = |path: &Path| {
        scene.fire(&json!({"transcript_path": path, "hook_event_name": "Stop",
                           "stop_hook_active": false, "last_assistant_message": "Done."}));
    };
    compare(2.0, ROUNDS, 1, || stop(&short), || stop(&long))
}

fn against_true(event: fn(usize) -> Value) -> Ratio {
    let scene = Scene::with_notes(5_000);
    compare(COST, ROUNDS, 1, || scene.start(TRUE, &[], "{}"), || scene.fire(&event(scene.next())))
}

fn flat(event: fn(usize) -> Value) -> Ratio {
    let (few, many) = (Scene::with_notes(200), Scene::with_notes(100_000));
    compare(FLAT, ROUNDS, 1, || few.fire(&event(few.next())), || many.fire(&event(many.next())))
}

fn session(n: usize) -> Value {
    json!({"session_id": format!("s{n}"), "hook_event_name": "SessionStart", "source": "startup"})
}

fn prompt(n: usize) -> Value {
    let prompt = format!("please look at the failing login test {n} and fix the session handling");
    json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt, "prompt_id": n.to_string()})
}

fn before_call(n: usize) -> Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": n.to_string(),
           "tool_input": {"command": "cargo test --workspace --locked"}})
}

fn after_call(n: usize) -> Value {
    json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": n.to_string(),
           "tool_input": {"command": "cargo test --workspace --locked"},
           "tool_response": {"stdout": "test result: ok. 12 passed", "stderr": "",
                             "interrupted": false}, "duration_ms": 5})
}

fn failure(n: usize) -> Value {
    json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
           "tool_use_id": n.to_string(), "tool_input": {"command": "cargo build"},
           "error": "Exit code 101\nerror[E0308]: mismatched types", "is_interrupt": false})
}

/// Without a transcript: what the worker does then is not the hook's time.
fn stop(_: usize) -> Value {
    json!({"hook_event_name": "Stop", "stop_hook_active": false,
           "last_assistant_message": "It works now; all tests pass."})
}

/// A home, a project, and notes about it.
struct Scene {
    dir: TempDir,
    fired: Cell<usize>,
}

impl Scene {
    fn with_notes(count: usize) -> Self {
        let scene = Self { dir: TempDir::new().unwrap(), fired: Cell::new(0) };
        fs::create_dir_all(scene.project().join(".git")).unwrap();
        fs::create_dir(scene.home()).unwrap();
        let project = Project::find(&scene.project()).unwrap();
        let scope = NoteScope::Project(project.id().clone());
        let corpus = retrieval::notes();
        let (now, faults) = (SystemClock.now(), Arc::new(NoFaults));
        let path = scene.home().join("memory.db");
        let memory = Memory::at(path, Waits::default(), Arc::new(SystemClock), faults);
        let notes: Vec<Note> = (0..count)
            .map(|n| {
                let text = format!("{} (service{n})", corpus[n % corpus.len()].text);
                Note {
                    id: NoteId::fresh(),
                    kind: NoteKind::Preference,
                    quote: None,
                    source: Source::User,
                    scope: scope.clone(),
                    paths: None,
                    topic: topic(&text),
                    status: Status::Active,
                    evidence: 1,
                    tokens: estimate(&text),
                    created: now,
                    updated: now,
                    superseded_by: None,
                    idle: false,
                    text,
                }
            })
            .collect();
        memory.import(&notes).unwrap();
        scene
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn next(&self) -> usize {
        self.fired.set(self.fired.get() + 1);
        self.fired.get()
    }

    /// A transcript of about that length.
    fn transcript(&self, name: &str, length: usize) -> PathBuf {
        let path = self.dir.path().join(name);
        let line = json!({"type": "assistant", "message": {"role": "assistant",
                          "content": [{"type": "text", "text": "word ".repeat(200)}]}});
        let line = format!("{line}\n");
        fs::write(&path, line.repeat(length.div_ceil(line.len()))).unwrap();
        path
    }

    /// A client fires an event.
    fn fire(&self, event: &Value) {
        let mut payload = json!({"session_id": "session", "cwd": self.project()});
        for (name, value) in event.as_object().unwrap() {
            payload[name] = value.clone();
        }
        self.start(RECOUP, &["hook"], &payload.to_string());
    }

    fn start(&self, program: &str, args: &[&str], stdin: &str) {
        let mut child = Command::new(program)
            .args(args)
            .current_dir(self.project())
            .env("RECOUP_HOME", self.home())
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // `true` does not read it.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        assert!(child.wait().unwrap().success());
    }
}
