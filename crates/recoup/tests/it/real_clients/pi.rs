//! Pi with our extension and our server: it lists the one, and what it asks a model tells
//! whether the other is there.

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
