//! `recoup mcp --agents`: agent files as tools, with a scripted model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, text};
use crate::model_server::{self, ModelTurn, Server};
use crate::support::{Home, finish};

const MODEL: &str = "models: openai/gpt-4.1";

fn agent(home: &Home, name: &str, front: &str, body: &str) {
    home.write(&format!("agents/{name}"), format!("---\n{MODEL}\n{front}\n---\n{body}\n"));
}

/// A client of a server of the agents in `agents`, whose models are all at `server`.
fn serve(home: &Home, server: &Server, args: &[&str]) -> Client {
    let mut command = home.command(&[&["mcp", "--agents", "agents"], args].concat());
    command.env("OPENAI_BASE_URL", format!("{}/v1", server.url())).env("OPENAI_API_KEY", "k");
    let mut client = Client::spawn(&mut command);
    client.greet(&json!({}));
    client
}

/// The tools that are agents, by name.
fn listed(client: &mut Client) -> Vec<Value> {
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let is_agent = |tool: &Value| tool["annotations"]["openWorldHint"] == true;
    tools.as_array().unwrap().iter().filter(|tool| is_agent(tool)).cloned().collect()
}

#[test]
fn agents_are_listed_beside_the_other_tools() {
    let home = Home::new();
    agent(&home, "review.md", "description: Reviews a diff\nusage: Give it the diff.", "Review.");
    home.write("agents/reporter.agent.md", "---\nname: reporter\nmodel: gpt-4.1\n---\nReport.\n");
    home.write(
        "agents/report.lifecycle.yaml",
        "agent: reporter\nname: report\nprompt: Report\noutput: [{type: file, path: report.md}]\n",
    );
    let mut client = serve(&home, &Server::openai(""), &[]);
    let all = client.request("tools/list", json!({}))["result"].clone();
    assert!(all["tools"].to_string().contains("load_rules"), "{all}");
    let tools = listed(&mut client);
    assert_eq!(tools.len(), 3, "{tools:?}");
    let hints: Vec<_> = tools.iter().map(|it| &it["annotations"]["readOnlyHint"]).collect();
    assert_eq!((&tools[0]["name"], hints[0]), (&json!("report"), &json!(false)));
    assert_eq!((&tools[1]["name"], hints[1]), (&json!("reporter"), &json!(true)));
    assert_eq!((&tools[2]["name"], hints[2]), (&json!("review"), &json!(true)));
    assert_eq!(tools[2]["description"], "Reviews a diff\nGive it the diff.");
    assert_eq!(tools[2]["inputSchema"]["required"], json!(["prompt"]));
    assert_eq!(client.leave(), (Some(0), String::new()));
}

#[test]
fn the_second_call_is_a_hit() {
    let home = Home::new();
    agent(&home, "review.md", "cache: 1h\noutput: {format: json}", "Review.");
    let server = Server::scripted(vec![ModelTurn::text(r#"{"ok": true}"#)]);
    let mut client = serve(&home, &server, &[]);
    let call = json!({ "prompt": "a diff", "reason": "curiosity" });
    let miss = client.call("review", call);
    assert_eq!(miss["isError"], false, "{miss}");
    assert_eq!(miss["structuredContent"], json!({ "ok": true }));
    assert!(miss["_meta"].is_null(), "{miss}");
    // The reason does not count.
    let hit = client.call("review", json!({ "prompt": "a diff" }));
    assert_eq!(text(&hit), text(&miss));
    assert_eq!(hit["structuredContent"], miss["structuredContent"]);
    assert!(hit["_meta"]["io.recoup/age"].is_u64(), "{hit}");
    assert!(hit["_meta"]["io.recoup/key"].is_string(), "{hit}");
    let asked = server.question().json();
    assert_eq!(asked["messages"][1]["content"], "a diff", "{asked}");
    // The file is read anew for each call.
    agent(&home, "review.md", "cache: 1h", "Review strictly.");
    assert!(client.failure("review", json!({ "prompt": "a diff" })).contains("the script is over"));
}

#[test]
fn a_failure_is_a_result_without_secrets() {
    let home = Home::new();
    agent(&home, "review.md", "cache: 1h", "Review.");
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let server = Server::answering(move |_| {
        ModelTurn::refused("401 Unauthorized", "", "bad ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    });
    let mut client = serve(&home, &server, &[]);
    let failure = client.failure("review", json!({ "prompt": "x" }));
    assert!(failure.contains("review") && !failure.contains(secret), "{failure}");
    let failure = client.failure("review", json!({ "promt": "x" }));
    assert_eq!(failure, "the argument \"prompt\" is missing");
    assert_eq!(server.received().len(), 1);
}

#[test]
fn progress_tells_what_is_called() {
    let home = Home::new();
    agent(&home, "plan.md", "agents: [check.md]", "Plan.");
    agent(&home, "check.md", "", "Check.");
    let server = Server::scripted(vec![
        ModelTurn::default()
            .calling("check", json!({ "prompt": "is it?", "reason": "to be sure" })),
        ModelTurn::text("it is"),
        ModelTurn::text("done"),
    ]);
    let mut client = serve(&home, &server, &[]);
    let params = json!({ "name": "plan", "arguments": { "prompt": "go" },
                         "_meta": { "progressToken": "t1" } });
    let id = client.ask("tools/call", params);
    let progress = client.hear();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    let expected =
        json!({ "progressToken": "t1", "progress": 1.0, "message": "check: to be sure" });
    assert_eq!(progress["params"], expected);
    let answer = client.hear();
    assert_eq!((answer["id"].as_u64(), text(&answer["result"])), (Some(id), "done".to_owned()));
}

#[test]
fn a_cancelled_call_ends_the_run() {
    let home = Home::new();
    agent(&home, "slow.md", "cache: 1h", "Think.");
    let has_hung_up = Arc::new(AtomicBool::new(false));
    let hangs_up = Arc::clone(&has_hung_up);
    let server = Server::start(move |_, stream| {
        model_server::wait_for_the_end(stream);
        hangs_up.store(true, Ordering::Relaxed);
    });
    let mut client = serve(&home, &server, &[]);
    let call = json!({ "name": "slow", "arguments": { "prompt": "x".repeat(7 << 20) } });
    let ids = [0; 3].map(|_| client.ask("tools/call", call.clone()));
    let begun = Instant::now();
    let wait = |is_done: &dyn Fn() -> bool| {
        while !is_done() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it never comes");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait(&|| !server.received().is_empty());
    // Others are served meanwhile.
    let ping = client.request("ping", Value::Null);
    assert!(ping["result"].is_object(), "{ping}");
    client.call("load_rules", json!({}));
    for id in ids {
        let params = json!({ "requestId": id, "reason": "enough" });
        client.say(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        );
    }
    wait(&|| has_hung_up.load(Ordering::Relaxed));
    assert!(client.is_silent_for(Duration::from_millis(500)), "a cancelled call gets no answer");
    assert_eq!(server.received().len(), 1, "nothing more is asked");
    // A client that leaves wants nothing any more, either.
    client.ask("tools/call", json!({ "name": "slow", "arguments": { "prompt": "y" } }));
    wait(&|| server.received().len() == 2);
    let begun = Instant::now();
    assert_eq!(client.leave(), (Some(0), String::new()));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn a_faulty_file_is_left_out() {
    let home = Home::new();
    agent(&home, "good.md", "", "Help.");
    agent(&home, "bad.ai", "modls: x", "Help.");
    agent(&home, "untrusted.md", "mcp_servers: {fs: {command: [npx, server]}}", "Help.");
    home.write(".git/HEAD", "ref: refs/heads/main\n");
    let mut client = serve(&home, &Server::openai(""), &[]);
    let tools = listed(&mut client);
    assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!("good")), "{tools:?}");
    let (code, warnings) = client.leave();
    assert_eq!(code, Some(0));
    for words in ["agents/bad.ai:3: modls", "recoup trust agents/untrusted.md"] {
        assert!(warnings.contains(words), "{warnings}");
    }
}

#[test]
fn names_must_differ() {
    let home = Home::new();
    agent(&home, "one.md", "tool_name: same", "Help.");
    agent(&home, "sub/two.md", "tool_name: same", "Help.");
    let start = |args: &[&str]| finish(&mut home.command(&[&["mcp"], args].concat()));
    let said = start(&["--agents", "agents"]).expect(2).stderr;
    assert!(said.contains("one.md") && said.contains("two.md"), "{said}");
    // The same file in two directories is one agent.
    start(&["--agents", "agents/sub", "--agents", "agents/sub/two.md"]).expect(0);
    agent(&home, "sub/two.md", "tool_name: load_rules", "Help.");
    let said = start(&["--agents", "agents"]).expect(2).stderr;
    assert!(said.contains("the tool load_rules is already served by recoup itself"), "{said}");
    start(&["--agents", "gone"]).expect_usage("--agents: no such directory");
    start(&["--allow", "*"]).expect_usage("--agents");
}

#[test]
fn tools_that_may_write_are_refused_unless_allowed() {
    let home = Home::new();
    let poked = Server::saying("200 OK", "", "poked".to_owned());
    std::fs::create_dir_all(home.recoup()).unwrap();
    let tool = format!("[restTools.poke]\nurl = '{}/poke'\nmethod = 'POST'\n", poked.url());
    std::fs::write(home.recoup().join("config.toml"), tool).unwrap();
    agent(&home, "poker.md", "tools: [poke]", "Poke.");
    let turns =
        || vec![ModelTurn::default().calling("rest__poke", json!({})), ModelTurn::text("ok")];
    for (args, is_read_only, pokes) in [
        (&[][..], true, 0),
        (&["--allow", "other__*"], false, 0),
        (&["--allow", "rest__*"], false, 1),
    ] {
        let server = Server::scripted(turns());
        let mut client = serve(&home, &server, args);
        assert_eq!(listed(&mut client)[0]["annotations"]["readOnlyHint"], is_read_only);
        assert_eq!(text(&client.call("poker", json!({ "prompt": "go" }))), "ok");
        assert_eq!(poked.received().len(), pokes);
        let told = server.received()[1].json()["messages"][3]["content"].to_string();
        let words = if pokes == 1 { "poked" } else { "--allow 'rest__poke'" };
        assert!(told.contains(words), "{told}");
    }
}
