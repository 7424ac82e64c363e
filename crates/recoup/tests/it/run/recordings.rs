//! Recordings, and runs that go on after a failure.

use std::fs;

use serde_json::json;

use super::AgentScene;
use crate::model_server::ModelTurn;
use crate::support::finish;

/// An agent whose first answer calls a sub-agent, and whose second fails until `works`.
fn interrupted() -> AgentScene {
    let scene = AgentScene::scripted(vec![
        ModelTurn::text("").calling("worker", json!({ "prompt": "count" })),
        ModelTurn::text("42"),
        ModelTurn::refused("400 Bad Request", "", "out of luck"),
        ModelTurn::text("the worker says 42"),
    ]);
    scene.agent("worker.md", "", "You are the worker.");
    scene.agent("boss.md", "agents: [worker.md]\n", "You are the boss.");
    scene
}

#[test]
fn a_run_that_died_goes_on_and_pays_for_nothing_twice() {
    let scene = interrupted();
    scene.run(&["boss.md", "how many?"]).expect(1);
    assert_eq!(scene.asked(), 3);
    assert_eq!(scene.answer(&["boss.md", "how many?", "--resume"]), "the worker says 42");
    assert_eq!(scene.asked(), 4, "only the last request was repeated");
    let left = fs::read_dir(scene.home.recoup().join("runs")).unwrap().count();
    assert_eq!(left, 0, "nothing to resume");
    let nothing = scene.run(&["boss.md", "how many?", "--resume"]).expect(2);
    assert!(nothing.stderr.contains("nothing to resume"), "{}", nothing.stderr);
}

#[test]
fn a_recording_answers_without_network_and_key() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\n", "You answer.");
    assert_eq!(scene.answer(&["a.md", "why?", "--record", "tape.jsonl"]), "answer 1");
    let replay = |args: &[&str]| {
        let mut command = scene.command(args);
        command.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9").env_remove("ANTHROPIC_API_KEY");
        finish(&mut command)
    };
    let output = replay(&["a.md", "why?", "--replay", "tape.jsonl"]).expect(0);
    assert_eq!(output.text(), "answer 1\n");
    scene.home.cache(&["clear", "--yes"]).expect(0);
    replay(&["a.md", "why?", "--replay", "tape.jsonl"]).expect(0);
    replay(&["a.md", "why?", "--only-if-cached"]).expect(124);
    replay(&["a.md", "why?", "--replay", "tape.jsonl", "--refresh"]).expect(0);
    assert_eq!(replay(&["a.md", "why?", "--only-if-cached"]).expect(0).text(), "answer 1\n");
    let unknown = replay(&["a.md", "why not?", "--replay", "tape.jsonl"]).expect(1);
    assert!(unknown.stderr.contains("the nearest is number 1"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("not"), "{}", unknown.stderr);
    assert_eq!(scene.asked(), 1);
}

#[test]
fn a_recording_goes_on_for_real_from_a_request_and_with_another_model() {
    let scene = AgentScene::scripted(vec![
        ModelTurn::text("").calling("worker", json!({ "prompt": "count" })),
        ModelTurn::text("42"),
        ModelTurn::text("it is 42"),
        ModelTurn::text("it is indeed 42"),
    ]);
    scene.agent("worker.md", "", "You are the worker.");
    scene.agent("boss.md", "agents: [worker.md]\n", "You are the boss.");
    scene.answer(&["boss.md", "how many?", "--record", "tape.jsonl"]);
    let model = "anthropic/claude-opus-4-1";
    let args = ["boss.md", "how many?", "--replay", "tape.jsonl", "--from", "3", "--model", model];
    assert_eq!(scene.answer(&args), "it is indeed 42");
    assert_eq!(scene.asked(), 4);
    assert_eq!(scene.server.received()[3].json()["model"], "claude-opus-4-1");
}

#[test]
fn nothing_secret_is_recorded() {
    let scene = AgentScene::answering(|_| {
        ModelTurn::text("the key is ghp_9aZk3LmQ7xT2vB8nR5wY1cD4eF6gH0jK2pSu")
    });
    scene.agent("a.md", "cache: 1h\n", "You answer.");
    let run = scene.run(&["a.md", "why?", "--record", "tape.jsonl"]).expect(0);
    assert!(run.stderr.contains("holds a secret"), "{}", run.stderr);
    let tape = fs::read_to_string(scene.home.project().join("tape.jsonl")).unwrap();
    assert!(!tape.contains("ghp_") && !tape.contains("test-key-of-nobody"), "{tape}");
    scene.run(&["a.md", "why?", "--only-if-cached"]).expect(124);
}
