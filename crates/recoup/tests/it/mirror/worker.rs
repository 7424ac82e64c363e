//! The worker keeps it in step at the end of an answer, and says so in one line.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{RULES, SKILLS, Scene};
use crate::hooks::worker::settled;
use crate::support::tree;

fn hook(scene: &Scene, event: &str, more: &Value) -> String {
    let mut payload = json!({
        "session_id": "s1", "hook_event_name": event, "cwd": scene.home.project(),
        "transcript_path": scene.home.path("t.jsonl"),
    });
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    let mut command = scene.command(&["hook"]);
    command.env("CLAUDE_CODE_ENTRYPOINT", "cli").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn wait_for(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_mins(1), "it never came to be");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn at_the_end_of_an_answer_rules_and_skills_are_in_step() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    fs::write(scene.home.path("t.jsonl"), "").unwrap();
    for prompt in [
        "from now on use vitest", "from now on put tests in `t/`",
        "from now on name every test after behaviour",
    ] {
        hook(&scene, "UserPromptSubmit", &json!({"prompt": prompt}));
    }
    assert!(!scene.memory().exists(), "not before the answer is over");
    hook(&scene, "Stop", &json!({}));
    wait_for(|| scene.memory().join("MEMORY.md").exists() && scene.skills().exists());
    let told = || hook(&scene, "UserPromptSubmit", &json!({"prompt": "go on"}));
    let mut line = String::new();
    let began = Instant::now();
    while line.is_empty() && began.elapsed() < Duration::from_secs(30) {
        line = told();
        thread::sleep(Duration::from_millis(20));
    }
    assert!(
        line.contains("updated 3 rules and 1 skill in the files that Claude Code reads"),
        "{line}"
    );
    assert!(scene.index().contains("use vitest"));
}

#[test]
fn with_nothing_asked_for_the_worker_puts_nothing_anywhere() {
    let scene = Scene::in_git(&[]);
    fs::write(scene.home.path("t.jsonl"), "").unwrap();
    hook(&scene, "UserPromptSubmit", &json!({"prompt": "from now on use vitest"}));
    hook(&scene, "Stop", &json!({}));
    settled(&scene.home);
    assert!(!scene.home.recoup().join("mirrors.json").exists());
    assert!(tree(&scene.home.path(".claude")).is_empty());
}

#[test]
fn rules_are_in_step_although_another_job_has_to_wait() {
    let scene = Scene::in_git(&[RULES]);
    fs::write(scene.home.path("t.jsonl"), "").unwrap();
    hook(&scene, "Stop", &json!({}));
    settled(&scene.home);
    hook(&scene, "UserPromptSubmit", &json!({"prompt": "from now on use vitest"}));
    settled(&scene.home);
    let queues = scene.home.recoup().join("queue");
    let queue = fs::read_dir(queues).unwrap().next().unwrap().unwrap().path();
    let id = queue.file_name().unwrap().to_str().unwrap();
    let from = json!({"client": "claude-code", "session": "two", "scope": format!("project:{id}"),
                      "root": scene.home.project(), "cwd": scene.home.project()});
    let sweep = json!({"sweep": {"transcript": scene.home.path("t.jsonl"), "why": "stop"}});
    let waits = json!({"remember": {"at": 1, "once": null, "said": []}});
    for (name, what) in [("0001.0.json", sweep), ("0002.0.json", waits)] {
        fs::write(queue.join(name), json!({"from": from, "what": what}).to_string()).unwrap();
    }
    let memory = rusqlite::Connection::open(scene.home.recoup().join("memory.db")).unwrap();
    let refuse = "CREATE TRIGGER refused BEFORE INSERT ON events WHEN NEW.what = 'prompted'
                  BEGIN SELECT RAISE(ABORT, 'no'); END";
    memory.execute_batch(refuse).unwrap();
    scene.run(&["hook", "--work", id]);
    assert!(queue.join("0002.0.json").exists(), "it waits");
    assert!(scene.memory().join("MEMORY.md").exists(), "nobody comes back to what has ended");
    assert!(scene.index().contains("use vitest"));
}
