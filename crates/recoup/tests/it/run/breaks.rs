//! Attempts to get wrong answers kept, secrets out, and runs stuck.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::AgentScene;
use crate::model_server::ModelTurn;
use crate::support::finish;

/// A server whose tool `look` answers with `said`, in the language of the shell.
fn server(scene: &AgentScene, said: &str, env: &str) -> String {
    let script = format!(
        r#"answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
while IFS= read -r line; do
  id=${{line#*\"id\":}}; id=${{id%%,*}}
  case "$line" in
    *'"method":"initialize"'*) answer '{{"protocolVersion":"2025-11-25","capabilities":{{}}}}' ;;
    *'"method":"tools/list"'*) answer '{{"tools":[{{"name":"look","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true}}}}]}}' ;;
    *'"method":"tools/call"'*) answer "{{\"content\":[{{\"type\":\"text\",\"text\":\"{said}\"}}]}}" ;;
  esac
done
"#
    );
    scene.home.write("server.sh", script);
    format!("mcp_servers: {{shell: {{command: [sh, server.sh], env: {{{env}}}}}}}\n")
}

fn look() -> ModelTurn {
    ModelTurn::text("").calling("shell__look", json!({}))
}

#[test]
fn servers_do_not_get_the_models_key() {
    let scene =
        AgentScene::scripted(vec![look(), ModelTurn::text("a"), look(), ModelTurn::text("b")]);
    let said = "key: ${ANTHROPIC_API_KEY-none}, path: ${PATH:+some}";
    scene.agent("a.md", &server(&scene, said, ""), "You look.");
    scene.answer(&["a.md", "what?"]);
    assert!(scene.last_prompt(1).contains("key: none, path: some"), "{}", scene.last_prompt(1));
    scene.agent("b.md", &server(&scene, said, "ANTHROPIC_API_KEY: given"), "You look.");
    scene.answer(&["b.md", "what?"]);
    assert!(scene.last_prompt(3).contains("key: given"), "{}", scene.last_prompt(3));
}

#[test]
fn a_resumed_run_asks_a_server_that_has_changed() {
    let refused = || ModelTurn::refused("400 Bad Request", "", "out of luck");
    let scene = AgentScene::scripted(vec![look(), refused(), refused(), ModelTurn::text("done")]);
    let front = |name: &str| server(&scene, "${NAME}", &format!("NAME: {name}"));
    scene.agent("a.md", &front("Ann"), "You look.");
    scene.run(&["a.md", "who?"]).expect(1);
    scene.run(&["a.md", "who?", "--resume"]).expect(1);
    assert!(scene.last_prompt(2).contains("Ann"), "{}", scene.last_prompt(2));
    scene.agent("a.md", &front("Bob"), "You look.");
    scene.run(&["a.md", "who?", "--resume"]).expect(0);
    assert!(scene.last_prompt(3).contains("Bob"), "{}", scene.last_prompt(3));
    assert_eq!(scene.asked(), 4);
}

#[test]
fn credentials_of_an_agents_own_servers_are_not_stored() {
    let token = "Zq81-abc-77x-mine";
    let scene = AgentScene::answering(move |_| ModelTurn::text(&format!("it is {token}")));
    let front = server(&scene, "hi", &format!("LOGIN: 'Bearer {token}', MODE: production"));
    scene.agent("worker.md", &front, "You look.");
    scene.agent("boss.md", "cache: 1h\nagents: [worker.md]\n", "You lead.");
    let run = scene.run(&["boss.md", "what?", "--record", "tape.jsonl"]).expect(0);
    assert!(run.stderr.contains("holds a secret"), "{}", run.stderr);
    let tape = fs::read_to_string(scene.home.project().join("tape.jsonl")).unwrap();
    assert!(!tape.contains(token), "{tape}");
    scene.run(&["boss.md", "what?", "--only-if-cached"]).expect(124);
}

#[test]
fn a_life_cycle_of_an_agent_outside_of_the_project_needs_trust() {
    let scene = AgentScene::counting();
    scene.home.write("recoup.toml", "");
    scene.home.write("../outside/o.agent.md", "---\nname: o\n---\nYou answer.\n");
    let text = "agent: ../outside/o\nmodel: claude-sonnet-4-5\nprompt: why?\n";
    scene.home.write("a.lifecycle.yaml", text);
    let refused = scene.run(&["a.lifecycle.yaml"]).expect(2);
    let expected = "needs your trust, because of agent: run `recoup trust a.lifecycle.yaml`";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    scene.home.run(&["trust", "--yes", "a.lifecycle.yaml"]).expect(0);
    assert_eq!(scene.answer(&["a.lifecycle.yaml"]), "answer 1");
}

#[test]
fn included_files_use_only_variables_that_the_agent_file_names() {
    let scene = AgentScene::counting();
    scene.home.write("recoup.toml", "");
    scene.home.write("../recoup/config.toml", "[agents]\nvariables = ['TEAM', 'TOKEN']\n");
    let run = |args: &[&str]| {
        let mut command = scene.command(args);
        finish(command.env("TEAM", "core").env("TOKEN", "of-nobody"))
    };
    scene.home.write("part.md", "You are of ${TEAM}.");
    scene.agent("a.md", "key: k-${TEAM}\n", "{% include 'part.md' %}");
    let refused = run(&["a.md", "why?"]).expect(2);
    let expected = "needs your trust, because of ${TEAM}: run";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    scene.home.run(&["trust", "--yes", "a.md"]).expect(0);
    run(&["a.md", "why?"]).expect(0);
    let sent = scene.server.received()[0].json()["system"].to_string();
    assert!(sent.contains("You are of core."), "{sent}");
    scene.home.write("part.md", "You say ${TOKEN}.");
    let refused = run(&["a.md", "why?"]).expect(2);
    assert!(refused.stderr.contains("the variable TOKEN has no value"), "{}", refused.stderr);
    assert_eq!(scene.asked(), 1);
}

#[test]
fn files_that_include_each_other_again_and_again_are_too_large() {
    let scene = AgentScene::counting();
    for at in 0..7 {
        let tag = format!("{{% include 'f{}.md' %}}\n", at + 1);
        scene.home.write(&format!("f{at}.md"), tag.repeat(30));
    }
    scene.home.write("f7.md", "x");
    scene.agent("a.md", "", "{% include 'f0.md' %}");
    let began = Instant::now();
    let refused = scene.run(&["a.md", "why?"]).expect(2);
    let expected = "the prompt has more than 1.0 MiB with this file";
    assert_eq!(refused.stderr.matches(expected).count(), 1, "{}", refused.stderr);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
