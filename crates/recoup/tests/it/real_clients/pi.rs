//! Pi with our extension and our server: it lists the one, and what it asks a model tells
//! whether the other is there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::model::{Answer, Api, Request, Script};
use crate::support::finish;

use super::{Client, RULE};

/// One prompt, in a project that its user trusts, and the last request to the model.
fn ask(client: &Client, api: &Api, prompt: &str) -> Request {
    let provider = json!({ "providers": { "anthropic": { "baseUrl": api.url() } } });
    client.machine.write(".pi/agent/models.json", provider.to_string());
    let args = ["--approve", "--print", "--model", "anthropic/claude-sonnet-4-5", prompt];
    let mut command = client.command(&args);
    let answer = finish(command.env("ANTHROPIC_API_KEY", "none").env("PI_OFFLINE", "1")).expect(0);
    assert_eq!((answer.text().trim(), &*answer.stderr), ("Fine.", ""));
    api.asked().pop().expect("the model was asked")
}

/// How often the model was given the rule.
fn told(client: &Client, api: &Api) -> usize {
    ask(client, api, "hello").count(RULE)
}

/// What it says of each of its servers.
fn servers(client: &Client) -> Vec<Value> {
    let mut command = client.command(&["mcp", "list", "--json"]);
    let said = finish(command.env("PI_OFFLINE", "1")).expect(0).json();
    assert_eq!(said["errors"], json!([]), "{said}");
    said["servers"].as_array().unwrap().clone()
}

fn client() -> Client {
    let list = include_str!("../../../../../xtask/clients/pi/packages.txt");
    let (_, version) = list.lines().next().unwrap().rsplit_once('@').unwrap();
    Client::new("pi", version)
}

#[test]
#[ignore = "needs the real Pi: cargo xtask test --full"]
fn its_extension_and_server_come_by_one_command_and_go_by_another() {
    let client = client();
    client.remember_the_rule();
    let api = Api::start(Script::default());
    for level in ["--user", "--project"] {
        client.machine.init(&[level, "--client", "pi"]);
        assert_eq!(told(&client, &api), 1, "{level}: the extension has told it");
        if level == "--user" {
            let servers = servers(&client);
            let [ours] = servers.as_slice() else { panic!("{servers:#?}") };
            assert_eq!((&ours["name"], &ours["state"]), (&"recoup".into(), &"connected".into()));
            assert_eq!(ours["tools"].as_array().unwrap().len(), 8, "{ours}");
        }
        client.machine.uninstall(&[level]);
        assert_eq!(told(&client, &api), 0, "{level}: nobody tells it any more");
        assert_eq!(servers(&client), Vec::<Value>::new(), "{level}");
    }
}

#[test]
#[ignore = "needs the real Pi: cargo xtask test --full"]
fn a_server_behind_the_proxy_is_connected_as_before() {
    let client = client();
    let settings =
        json!({ "mcpServers": { "everything": { "command": "mcp-server-everything" } } });
    client.machine.write(".pi/agent/mcp.json", settings.to_string());
    let before = servers(&client);
    assert_eq!(before[0]["state"], "connected", "{before:#?}");
    client.wrap("pi");
    let behind = servers(&client);
    assert_eq!(
        (&behind[0]["state"], &behind[0]["tools"]),
        (&"connected".into(), &before[0]["tools"])
    );
    client.machine.run(&["mcp", "unwrap", "--yes"]).expect(0);
    assert_eq!(servers(&client), before);
}

#[test]
#[ignore = "needs the real Pi: cargo xtask test --full"]
fn a_rule_refuses_a_call_there_too() {
    let client = client();
    let npm = Answer::tool("bash", json!({ "command": "npm root; echo by-npm" }));
    // The newest message is the one with the rules.
    let api = Api::start(Script::default().on("never npm", npm));
    client.machine.init(&["--user", "--client", "pi"]);
    client.machine.run(&["memory", "add", "use pnpm, never npm"]).expect(0);
    let rules = client.machine.run(&["memory", "list", "--json"]).expect(0).json();
    let enforce = ["memory", "enforce", rules[0]["id"].as_str().unwrap(), "block"];
    client.machine.run(&enforce).expect(0);
    let request = ask(&client, &api, "install the packages");
    assert_eq!(request.count("Use pnpm instead"), 1, "{}", request.body);
    assert_eq!(request.count("by-npm"), 1, "only the call: {}", request.body);
}

/// A suite that leaves a mark whenever it really runs, named in the user's configuration.
fn with_suite(client: &Client, end: &str) -> Api {
    let home = &client.machine.home;
    client.machine.init(&["--user", "--client", "pi"]);
    let config = home.path("recoup/config.toml");
    let before = fs::read_to_string(&config).unwrap_or_default();
    fs::write(config, format!("{before}\n[commands]\n\"./check\" = {{ failures = true }}\n"))
        .unwrap();
    let suite = format!("#!/bin/sh\necho run >> \"$HOME/runs\"\ncat data.txt\n{end}\n");
    let suite = home.write("check", suite);
    fs::set_permissions(suite, fs::Permissions::from_mode(0o755)).unwrap();
    home.write("data.txt", "one\n");
    finish(&mut home.prepared("git", &["init", "-q"])).expect(0);
    let check = Answer::tool("bash", json!({ "command": "./check" }));
    Api::start(Script::default().on("check", check))
}

/// What the model is told of the suite, and how often it has run.
fn check(client: &Client, api: &Api) -> (String, usize) {
    let result = ask(client, api, "check").results().pop().expect("the result of the call");
    let marks = fs::read_to_string(client.machine.path("runs")).unwrap_or_default();
    (result.text, marks.lines().count())
}

#[test]
#[ignore = "needs the real Pi: cargo xtask test --full"]
fn a_suite_comes_from_the_cache_until_something_changes() {
    let client = client();
    let api = with_suite(&client, "");
    assert_eq!(check(&client, &api), ("one\n".to_owned(), 1));
    let (text, runs) = check(&client, &api);
    assert!(text.starts_with("one\nrecoup: from cache, "), "{text}");
    assert!(text.trim_end().ends_with("; RECOUP=off ./check runs it again"), "{text}");
    assert_eq!((runs, api.asked().pop().unwrap().count("recoup replay")), (1, 0));
    client.machine.home.write("data.txt", "two\n");
    assert_eq!(check(&client, &api), ("two\n".to_owned(), 2));
    assert!(check(&client, &api).0.starts_with("two\nrecoup: from cache, "));
}

#[test]
#[ignore = "needs the real Pi: cargo xtask test --full"]
fn a_failure_is_replayed_as_a_failure_there_too() {
    let client = client();
    let api = with_suite(&client, "exit 3");
    let (first, runs) = check(&client, &api);
    assert_eq!((first.trim_end().ends_with("exited with code 3"), runs), (true, 1), "{first}");
    let (second, runs) = check(&client, &api);
    assert!(second.starts_with("one\nrecoup: from cache, "), "{second}");
    assert!(second.trim_end().ends_with("exited with code 3"), "{second}");
    assert_eq!(runs, 1);
}
