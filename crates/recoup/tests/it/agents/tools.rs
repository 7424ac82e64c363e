//! Tools of agents, through the command line: a model on loopback asks for a tool of a scripted MCP
//! server, whose log tells how often it was called and started.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::model::{Answer, Api, Script};
use crate::support::{Home, Output, finish};

const SCRIPTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/proxy/scripted.mjs");

/// A home with a scripted server, a model that calls its tool `count` or `write`, and an agent whose
/// own answers are not cached.
struct Scene {
    home: Home,
    api: Api,
}

impl Scene {
    fn new(settings: &str) -> Self {
        let home = Home::new();
        let script = Script::default()
            .on("please count", Answer::tool("scripted__count", json!({})))
            .on("please write", Answer::tool("scripted__write", json!({})));
        let log = home.path("server.log");
        fs::create_dir_all(home.recoup()).unwrap();
        let configuration = format!(
            "[mcpServers.scripted]\ncommand = \"node\"\nargs = [{SCRIPTED:?}, {:?}]\n{settings}\n",
            log.display().to_string()
        );
        fs::write(home.recoup().join("config.toml"), configuration).unwrap();
        home.write(
            "count.md",
            "---\nmodels: anthropic/claude-haiku-4-5\ntools: [scripted]\n---\nYou count.\n",
        );
        Self { home, api: Api::start(script) }
    }

    fn run(&self, prompt: &str, flags: &[&str]) -> Output {
        let mut words = vec!["run", "count.md", prompt];
        words.extend(flags);
        let mut command = self.home.command(&words);
        command.env("ANTHROPIC_API_KEY", "test-key").env("ANTHROPIC_BASE_URL", self.api.url());
        finish(&mut command)
    }

    /// Lines of the server's log with this text: messages that it was told.
    fn told(&self, text: &str) -> usize {
        let log = fs::read_to_string(self.home.path("server.log")).unwrap_or_default();
        log.lines().filter(|line| line.contains(text)).count()
    }

    fn calls(&self) -> usize {
        self.told("\"tools/call\"")
    }

    fn starts(&self) -> usize {
        self.told("\"initialize\"")
    }
}

#[test]
fn tool_hit() {
    let scene = Scene::new("cache = \"1h\"");
    scene.run("please count", &[]).expect(0);
    let second = scene.run("please count", &["-v"]).expect(0);
    assert!(second.stderr.contains("scripted__count: from the cache"), "{second:?}");
    assert_eq!((scene.calls(), scene.starts()), (1, 1), "a hit starts no server");
    let asked = scene.api.asked();
    assert_eq!(asked.len(), 4, "the agent's own answers are not cached");
    assert_eq!(asked[1].count("call 1, state 0"), 1);
    assert_eq!(asked[3].count("call 1, state 0"), 1);
}

#[test]
fn tool_miss() {
    let scene = Scene::new("");
    scene.run("please count", &[]).expect(0);
    scene.run("please count", &[]).expect(0);
    assert_eq!(scene.calls(), 2, "nothing is cached without a TTL");
    let scene = Scene::new("cache = \"1h\"");
    scene.run("please count", &[]).expect(0);
    scene.run("please count", &["--no-cache"]).expect(0);
    scene.run("please count", &["--refresh"]).expect(0);
    assert_eq!(scene.calls(), 3);
}

#[test]
fn tool_expiry() {
    let scene = Scene::new("cache = \"500ms\"");
    scene.run("please count", &[]).expect(0);
    thread::sleep(Duration::from_millis(600));
    scene.run("please count", &[]).expect(0);
    assert_eq!(scene.calls(), 2);
}

#[test]
fn per_tool_override() {
    let scene = Scene::new("cache = \"1h\"\ntoolsCache.count = \"off\"");
    scene.run("please count", &[]).expect(0);
    scene.run("please count", &[]).expect(0);
    assert_eq!(scene.calls(), 2, "`off` wins over the server's TTL");
    let scene = Scene::new("toolsCache.count = \"1h\"");
    scene.run("please count", &[]).expect(0);
    scene.run("please count", &[]).expect(0);
    assert_eq!(scene.calls(), 1);
}

#[test]
fn a_tool_that_may_write_runs_only_if_it_is_allowed() {
    let scene = Scene::new("");
    let refused = scene.run("please write", &[]).expect(0);
    assert_eq!(scene.calls(), 0);
    assert!(refused.stderr.contains("--allow 'scripted__write'"), "the user is told: {refused:?}");
    assert_eq!(scene.api.asked()[1].count("--allow 'scripted__write'"), 1, "the model is told");
    scene.run("please write", &["--allow", "scripted__*"]).expect(0);
    assert_eq!(scene.calls(), 1);
}

#[test]
fn a_server_that_does_not_start_is_a_clear_failure() {
    let scene = Scene::new("");
    let configuration = "[mcpServers.scripted]\ncommand = \"recoup-no-such-program\"\n";
    fs::write(scene.home.recoup().join("config.toml"), configuration).unwrap();
    let failed = scene.run("please count", &[]).expect(2);
    assert!(failed.stderr.contains("MCP server scripted"), "{failed:?}");
    assert!(scene.api.asked().is_empty(), "nothing was paid for");
}

#[test]
fn a_call_that_a_recording_does_not_know_ends_the_run() {
    let scene = Scene::new("");
    scene.run("please count", &["--record", "tape.jsonl"]).expect(0);
    let tape = scene.home.project().join("tape.jsonl");
    let recorded = fs::read_to_string(&tape).unwrap();
    assert!(recorded.contains("\"arguments\":{}"), "{recorded}");
    fs::write(&tape, recorded.replace("\"arguments\":{}", "\"arguments\":{\"by\":2}")).unwrap();
    let unknown = scene.run("please count", &["--replay", "tape.jsonl"]);
    unknown.expect_failure("the nearest is number");
    assert_eq!((scene.calls(), scene.api.asked().len()), (1, 2), "nothing was done for real");
}

#[test]
fn explain_names_the_tool_that_has_changed() {
    let scene = Scene::new("");
    scene.run("please count", &["--cache", "1h"]).expect(0);
    let file = scene.home.recoup().join("config.toml");
    let schema = "toolSchemas.count = { type = \"object\", title = \"Counts\" }\n";
    let configuration = fs::read_to_string(&file).unwrap() + schema;
    fs::write(&file, configuration).unwrap();
    let changed = scene.run("please count", &["--cache", "1h", "--explain"]).expect(0);
    assert!(changed.stderr.contains("tool scripted__count: "), "{}", changed.stderr);
    assert!(!changed.stderr.contains("scripted__write"), "{}", changed.stderr);
}
