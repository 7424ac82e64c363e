//! Gemini CLI lists its servers, and greets each; with our hooks, what it asks a model has the rules.

use serde_json::json;

use super::{Client, RULE, pinned};
use crate::hooks::happened;
use crate::model_server::{Server, respond};
use crate::support::finish;

fn client() -> Client {
    let manifest = include_str!("../../../../../xtask/clients/gemini/package.json");
    Client::new("gemini", &pinned(manifest, "@google/gemini-cli"))
}

#[test]
#[ignore = "needs the real Gemini CLI: cargo xtask test --full"]
fn it_is_connected_by_one_command_and_has_no_server_after_the_other() {
    let client = client();
    let trusted = json!({ client.project(): "TRUST_FOLDER" });
    client.machine.write(".gemini/trustedFolders.json", trusted.to_string());
    for level in ["--user", "--project"] {
        assert!(client.servers().contains("No MCP servers configured"), "{level}: before");
        client.machine.init(&[level, "--client", "gemini"]);
        let said = client.servers();
        let ours = said.lines().find(|line| line.contains("recoup: ")).unwrap_or_default();
        assert!(ours.contains("✓") && ours.ends_with("(stdio) - Connected"), "{level}: {said}");
        client.machine.uninstall(&[level]);
        assert!(client.servers().contains("No MCP servers configured"), "{level}: after");
    }
}

/// As `recoup init` tells those who use it.
#[test]
#[ignore = "needs the real Gemini CLI: cargo xtask test --full"]
fn in_a_folder_that_is_not_trusted_it_starts_no_server() {
    let client = client();
    let told = client.machine.init(&["--client", "gemini"]).stderr;
    assert!(
        told.contains("Gemini CLI: it starts servers only in folders that you trust"),
        "{told}"
    );
    let said = client.servers();
    assert!(said.contains("recoup: ") && said.contains("- Disabled"), "{said}");
}

/// Gemini's API: a route, a call of the shell that fails, and an answer.
fn scripted_model() -> Server {
    Server::start(|request, stream| {
        let is_stream = request.head.contains(":streamGenerateContent");
        let part = match (is_stream, request.body.contains("nonexistent-dir")) {
            (false, _) => {
                json!({"text": json!({"complexity_score": 1, "complexity_reasoning": ""}).to_string()})
            }
            (true, false) => {
                let command = json!({"command": "ls /nonexistent-dir"});
                json!({"functionCall": {"name": "run_shell_command", "args": command}})
            }
            (true, true) => json!({"text": "Done."}),
        };
        let content = json!({"role": "model", "parts": [part]});
        let answer = json!({"candidates": [{"content": content, "finishReason": "STOP"}]});
        let (kind, body) = if is_stream {
            ("Content-Type: text/event-stream\r\n", format!("data: {answer}\n\n"))
        } else {
            ("Content-Type: application/json\r\n", answer.to_string())
        };
        respond(stream, "200 OK", kind, body.as_bytes());
    })
}

#[test]
#[ignore = "needs the real Gemini CLI: cargo xtask test --full"]
fn its_hooks_give_the_rules_and_tell_what_was_said_and_what_failed() {
    let client = client();
    let settings = json!({"security": {
        "auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false},
    }});
    client.machine.write(".gemini/settings.json", settings.to_string());
    client.remember_the_rule();
    let model = scripted_model();
    let ask = |prompt: &str| {
        let mut command = client.command(&["-p", prompt, "--approval-mode", "yolo"]);
        command.env("GEMINI_API_KEY", "k").env("GOOGLE_GEMINI_BASE_URL", model.url());
        let said = finish(&mut command).expect(0);
        (said, model.received().pop().unwrap().body)
    };
    client.machine.init(&["--client", "gemini"]);
    let (said, asked) = ask("from now on use pnpm");
    let told = said.text() + &said.stderr;
    assert!(told.contains("will remember: use pnpm"), "{told}");
    assert_eq!(happened(&client.machine.home, "failed")[0].0, "ls");
    assert_eq!(asked.matches(RULE).count(), 1, "{asked}");
    let (_, asked) = ask("go on");
    assert!(asked.contains("\\n- use pnpm\\n"), "{asked}");
    client.machine.uninstall(&[]);
    assert_eq!(ask("hello").1.matches(RULE).count(), 0, "nobody tells it any more");
}
