//! The identity of an agent: one edit each, and a hit or a miss.

use std::fs;

use serde_json::json;

use super::AgentScene;

/// An agent that has everything that can be edited.
fn scene() -> AgentScene {
    let scene = AgentScene::counting();
    scene.home.write("part.md", "Be brief.");
    scene.agent("helper.md", "description: Helps\n", "You help.");
    scene.agent("adviser.md", "", "You advise.");
    write_agent(&scene, "cache: 1h\ntemperature: 0\nagents: [helper.md]\n");
    scene
}

fn write_agent(scene: &AgentScene, front: &str) {
    scene.agent("a.md", front, "You answer.\n{% include 'part.md' %}");
}

#[test]
fn edits_that_change_the_answer_are_misses() {
    for (what, edit) in [
        ("the prompt", (|scene| scene.agent("a.md", "cache: 1h\n", "You ask.")) as fn(&AgentScene)),
        ("an included file", |scene| drop(scene.home.write("part.md", "Be long."))),
        ("the temperature", |scene| {
            write_agent(scene, "cache: 1h\ntemperature: 1\nagents: [helper.md]\n");
        }),
        ("the agents", |scene| write_agent(scene, "cache: 1h\ntemperature: 0\n")),
        ("a sub-agent's prompt", |scene| {
            scene.agent("helper.md", "description: Helps\n", "You hinder.");
        }),
        ("a sub-agent's description", |scene| {
            scene.agent("helper.md", "description: Hinders\n", "You help.");
        }),
        ("an advisor", |scene| {
            write_agent(
                scene,
                "cache: 1h\ntemperature: 0\nagents: [helper.md]\nadvisors: [adviser.md]\n",
            );
        }),
        ("the format", |scene| {
            write_agent(
                scene,
                "cache: 1h\ntemperature: 0\nagents: [helper.md]\noutput: {format: markdown}\n",
            );
        }),
        ("the size of answers", |scene| {
            write_agent(
                scene,
                "cache: 1h\ntemperature: 0\nagents: [helper.md]\nmax_output_tokens: 99\n",
            );
        }),
        ("the model", |scene| {
            let text = fs::read_to_string(scene.home.project().join("a.md")).unwrap();
            scene.home.write("a.md", text.replace("sonnet-4-5", "opus-4-1"));
        }),
        ("memory", |scene| {
            scene.home.run(&["memory", "add", "use pnpm, not npm"]).expect(0);
            write_agent(scene, "cache: 1h\ntemperature: 0\nagents: [helper.md]\nmemory: true\n");
        }),
    ] {
        let scene = scene();
        let first = scene.answer(&["a.md", "why?"]);
        edit(&scene);
        assert_ne!(scene.answer(&["a.md", "why?"]), first, "{what}");
    }
}

#[test]
fn edits_that_do_not_change_the_answer_are_hits() {
    for (what, edit) in [
        (
            "time limits, retries and TTL",
            (|scene| {
                write_agent(
                    scene,
                    "cache: 2h\ntemperature: 0\nagents: [helper.md]\nllm_timeout: 5m\n\
                 tool_timeout: 9s\nmax_retries: 1\n",
                );
            }) as fn(&AgentScene),
        ),
        ("the order of keys", |scene| {
            write_agent(scene, "agents: [helper.md]\ntemperature: 0\ncache: 1h\n");
        }),
        ("tags", |scene| {
            write_agent(scene, "cache: 1h\ntemperature: 0\nagents: [helper.md]\ntags: [x]\n");
        }),
        ("a file that is not included", |scene| drop(scene.home.write("other.md", "x"))),
    ] {
        let scene = scene();
        let first = scene.answer(&["a.md", "why?"]);
        edit(&scene);
        assert_eq!(scene.answer(&["a.md", "why?"]), first, "{what}");
    }
}

#[test]
fn neither_path_nor_name_counts() {
    let scene = scene();
    let first = scene.answer(&["a.md", "why?"]);
    let project = scene.home.project();
    fs::rename(project.join("a.md"), project.join("b.md")).unwrap();
    assert_eq!(scene.answer(&["b.md", "why?"]), first);
}

#[test]
fn variables_history_and_sources_count() {
    let scene = AgentScene::counting();
    scene.home.write("data.txt", "1");
    scene.agent("a.md", "cache: 1h\nsources: [data.txt]\n", "You greet ${who}.");
    let ask = |more: &[&str]| scene.answer(&[&["a.md", "hi", "--var", "who=Ann"], more].concat());
    let first = ask(&[]);
    assert_eq!(ask(&["--var", "unused=x"]), first, "a variable that no prompt has");
    assert_ne!(scene.answer(&["a.md", "hi", "--var", "who=Bob"]), first);
    let history =
        json!([{ "role": "user", "content": "a" }, { "role": "assistant", "content": "b" }]);
    scene.home.write("history.json", history.to_string());
    let after = ask(&["--history", "history.json"]);
    assert_ne!(after, first);
    assert_eq!(ask(&["--history", "history.json"]), after);
    scene.home.write("data.txt", "2");
    assert_ne!(ask(&[]), first, "a source was edited");
    scene.agent("ignoring.md", "cache: 1h\nhistory: ignore\n", "You answer.");
    let first = scene.answer(&["ignoring.md", "hi"]);
    assert_eq!(scene.answer(&["ignoring.md", "hi", "--history", "history.json"]), first);
}

#[test]
fn a_correction_makes_the_answer_stale_and_explain_names_it() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\nmemory: true\n", "You answer.");
    scene.home.run(&["memory", "add", "use pnpm, not npm"]).expect(0);
    let first = scene.answer(&["a.md", "how to install?"]);
    let system = scene.server.received()[0].json()["system"].to_string();
    assert!(system.contains("use pnpm, not npm"), "{system}");
    assert_eq!(scene.answer(&["a.md", "how to install?"]), first);
    scene.home.run(&["memory", "add", "never use sudo here"]).expect(0);
    let stale = scene.run(&["a.md", "how to install?", "--explain"]).expect(0);
    assert_ne!(stale.text().trim_end(), first);
    assert!(stale.stderr.contains("never use sudo here"), "{}", stale.stderr);
}

#[test]
fn what_other_agents_depend_on_counts_for_the_one_that_may_call_them() {
    let scene = AgentScene::counting();
    scene.home.write("data.txt", "1");
    scene.agent("deep.md", "sources: [data.txt]\n", "You greet ${who}.");
    scene.agent("middle.md", "agents: [deep.md]\n", "You pass on.");
    scene.agent("a.md", "cache: 1h\nagents: [middle.md]\n", "You answer.");
    let ask = |who: &str| scene.answer(&["a.md", "hi", "--var", who]);
    let first = ask("who=Ann");
    assert_eq!(ask("who=Ann"), first);
    assert_ne!(ask("who=Bob"), first, "a variable of another agent");
    scene.home.write("data.txt", "2");
    let second = ask("who=Ann");
    assert_ne!(second, first, "a source of another agent");
    let output = "sources: [data.txt]\noutput: {format: json}\n";
    scene.agent("deep.md", output, "You greet ${who}.");
    assert_ne!(ask("who=Ann"), second, "the format of another agent");
}
