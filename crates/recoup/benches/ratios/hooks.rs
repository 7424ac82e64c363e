//! Hooks against `/bin/true`, with few and with very many notes, and the end of an answer
//! with a short and with a very long transcript; and what they take in memory.
//!
//! Each event is measured with all numbers of notes and `/bin/true` in one go, turn by turn.

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::measure::{Ratio, Size, compare, medians};
use crate::notes;
use crate::report::Report;
use crate::scene::in_clean_environment;

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const TRUE: &str = "/bin/true";
const ROUNDS: usize = 200;

/// How many notes there are.
const NOTES: [usize; 3] = [200, 5_000, 100_000];
/// At most so many times what starting any program costs.
const COST: f64 = 4.0;
/// The same where there is nothing to do.
const IDLE_COST: f64 = 1.6;
/// Whatever the number of notes.
const FLAT: f64 = 1.5;
/// How often memory is looked at, and how much it may be.
const LOOKS: usize = 20;
const PEAK: u64 = 12 << 20;
/// What a pipe has room for, and when a process that has not grown waits for more.
const PIPE: usize = 64 << 10;
const SETTLED: Duration = Duration::from_millis(200);

/// An event by its name: the `n`th of its kind, and what it may cost.
type Fired = (&'static str, fn(usize) -> Value, f64);

const EVENTS: [Fired; 12] = [
    ("hook: nothing to do", notification, IDLE_COST),
    ("hook: session start", session, COST),
    ("hook: after a compaction", compacted, COST),
    ("hook: sub-agent start", agent_start, COST),
    ("hook: prompt", prompt, COST),
    ("hook: statement", statement, COST),
    ("hook: before a call", before_call, COST),
    ("hook: after a call", after_call, COST),
    ("hook: after a failure", failure, COST),
    ("hook: stop", stop, COST),
    ("hook: sub-agent stop", agent_stop, COST),
    ("hook: session end", end, COST),
];
const CHECKS: &str = "hook: before a call, 1,000 rules with checks / without";
/// How many rules have checks, and what they may add.
const CHECKED: usize = 1_000;
const CHECK_COST: f64 = 1.05;
const TRANSCRIPTS: &str = "hook: stop, 50 MB read / 50 KB";

/// All hooks whose name has `wanted` in it.
pub(crate) fn all(wanted: &str, report: &mut Report) {
    let chosen: Vec<Fired> = EVENTS.into_iter().filter(|it| it.0.contains(wanted)).collect();
    if !chosen.is_empty() {
        let scenes = NOTES.map(Scene::with_notes);
        for event in chosen {
            measure(event, &scenes, report);
        }
    }
    if CHECKS.contains(wanted) {
        report.add_ratio(CHECKS, checked_against_unchecked());
    }
    if TRANSCRIPTS.contains(wanted) {
        report.add_ratio(TRANSCRIPTS, stop_whatever_the_transcript());
    }
}

fn measure((name, event, goal): Fired, scenes: &[Scene; 3], report: &mut Report) {
    let [few, more, most] = scenes;
    let fire = |scene: &Scene| scene.fire(&event(scene.next()));
    let times = medians(
        ROUNDS,
        &mut [
            &mut || few.start(TRUE, &[], "{}"),
            &mut || fire(few),
            &mut || fire(more),
            &mut || fire(most),
        ],
    );
    let (bare, ours) = (times[0], &times[1..]);
    for (notes, time) in NOTES.iter().zip(ours) {
        let ratio = Ratio { baseline: bare, subject: *time, goal };
        report.add_ratio(format!("{name}, {notes} notes / true"), ratio);
    }
    let least = ours.iter().min().copied().unwrap_or_default();
    let longest = ours.iter().max().copied().unwrap_or_default();
    let flat = Ratio { baseline: least, subject: longest, goal: FLAT };
    report.add_ratio(format!("{name}, most / least of these"), flat);
    let bytes = (0..LOOKS).map(|_| most.peak(&event(most.next()))).max().unwrap_or_default();
    report.add_size(format!("{name}, peak memory"), Size { bytes, goal: PEAK });
}

/// As many rules that are compared with each call as rules that are not.
fn checked_against_unchecked() -> Ratio {
    let checked = Scene::with_texts(|n| format!("never use tool{n}, use helper{n} instead"));
    let unchecked = Scene::with_texts(|n| format!("prefer short names for part{n} of helper{n}"));
    let fire = |scene: &Scene| scene.fire(&before_call(scene.next()));
    compare(CHECK_COST, ROUNDS, 1, || fire(&unchecked), || fire(&checked))
}

/// 50 MB of transcript against 50 KB.
fn stop_whatever_the_transcript() -> Ratio {
    let scene = Scene::with_notes(200);
    let (short, long) = (scene.transcript("short", 50_000), scene.transcript("long", 50_000_000));
    let stop = |path: &Path| {
        scene.fire(&json!({"transcript_path": path, "hook_event_name": "Stop",
                           "stop_hook_active": false, "last_assistant_message": "Done."}));
    };
    compare(2.0, ROUNDS, 1, || stop(&short), || stop(&long))
}

fn notification(_: usize) -> Value {
    json!({"hook_event_name": "Notification", "message": "waiting for your input"})
}

/// A prompt that is remembered, so that a worker is started.
fn statement(n: usize) -> Value {
    let prompt = format!("from now on the job number{n} runs in queue {}", n % 7);
    json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt, "prompt_id": format!("s{n}")})
}

fn session(n: usize) -> Value {
    json!({"session_id": format!("s{n}"), "hook_event_name": "SessionStart", "source": "startup"})
}

fn compacted(_: usize) -> Value {
    json!({"hook_event_name": "SessionStart", "source": "compact"})
}

fn agent_start(n: usize) -> Value {
    json!({"hook_event_name": "SubagentStart", "agent_id": format!("a{n}"),
           "agent_type": "Explore"})
}

fn agent_stop(n: usize) -> Value {
    json!({"hook_event_name": "SubagentStop", "agent_id": format!("a{n}"),
           "agent_type": "Explore", "stop_hook_active": false,
           "last_assistant_message": "Found it in src/login.rs."})
}

fn end(n: usize) -> Value {
    json!({"session_id": format!("s{n}"), "hook_event_name": "SessionEnd", "reason": "exit"})
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
        let scene = Self::new();
        notes::remember(&scene.home(), &scene.project(), count);
        scene
    }

    fn with_texts(text: fn(usize) -> String) -> Self {
        let scene = Self::new();
        notes::remember_texts(&scene.home(), &scene.project(), (0..CHECKED).map(text));
        scene
    }

    fn new() -> Self {
        let scene = Self { dir: TempDir::new().unwrap(), fired: Cell::new(0) };
        fs::create_dir_all(scene.project().join(".git")).unwrap();
        fs::create_dir(scene.home()).unwrap();
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
        self.start(RECOUP, &["hook"], &self.payload(event));
    }

    fn payload(&self, event: &Value) -> String {
        let mut payload = json!({"session_id": "session", "cwd": self.project()});
        for (name, value) in event.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload.to_string()
    }

    fn start(&self, program: &str, args: &[&str], stdin: &str) {
        let mut child = self.spawn(program, args, Stdio::null());
        // `true` does not read it.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        assert!(child.wait().unwrap().success());
    }

    /// The most memory that a hook had. What it says at its end has no room in its pipe, so
    /// that it can be looked at; where it says nothing, it is looked at while it runs.
    fn peak(&self, event: &Value) -> u64 {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&vec![0; PIPE]).unwrap();
        let mut child = self.spawn(RECOUP, &["hook"], writer.into());
        let _ = child.stdin.take().unwrap().write_all(self.payload(event).as_bytes());
        let (mut peak, mut grown) = (0, Instant::now());
        while child.try_wait().unwrap().is_none() && grown.elapsed() < SETTLED {
            let now = resident(child.id());
            if now > peak {
                (peak, grown) = (now, Instant::now());
            }
        }
        drop(reader);
        assert!(child.wait().unwrap().success());
        peak
    }

    fn spawn(&self, program: &str, args: &[&str], stdout: Stdio) -> Child {
        in_clean_environment(program)
            .args(args)
            .current_dir(self.project())
            .env("RECOUP_HOME", self.home())
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }
}

/// The most memory that a process has had so far; 0 once it is gone.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}
