//! Which answers come from the cache, and what makes them stale.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Scene, ask, call, cancel, configure, greeted, greeted_with, hear_answer};
use crate::mcp::client::Client;
use crate::support::tree;

const FIRST: &str = "call 1, state 0";
const SECOND: &str = "call 2, state 0";

fn count(client: &mut Client) -> String {
    call(client, "count", json!({}))
}

#[test]
fn nothing_is_cached_without_a_duration() {
    let scene = Scene::new();
    let mut client = scene.start();
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, SECOND]);
    assert_eq!(scene.asked("tools/list"), 0);
}

#[test]
fn a_repeated_call_is_answered_from_the_cache_also_in_later_sessions() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    let first = ask(&mut client, "tools/call", json!({ "name": "count", "arguments": {} }));
    assert!(first["result"]["_meta"].is_null(), "the server's own answer is as it is: {first}");
    let hit = ask(&mut client, "tools/call", json!({ "name": "count", "arguments": {} }));
    assert_eq!(hit["result"]["content"], first["result"]["content"]);
    assert!(hit["result"]["_meta"]["io.recoup/age"].is_u64(), "{hit}");
    assert!(hit["result"]["_meta"]["io.recoup/key"].is_string(), "{hit}");
    assert_eq!(call(&mut client, "count", json!({ "other": 1 })), SECOND);
    client.leave();
    let mut later = scene.start();
    assert_eq!(count(&mut later), FIRST);
    assert_eq!(
        (scene.asked("tools/call"), scene.asked("tools/list")),
        (2, 1),
        "{:?}",
        scene.heard()
    );
}

#[test]
fn ids_of_hits_are_the_clients_own() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    count(&mut client);
    for id in ["\"text\"", "12345678901234567890", "-1"] {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"count\",\"arguments\":{{}}}}}}\n"
        );
        client.say_bytes(line.as_bytes());
        let answer = String::from_utf8(client.hear_bytes().unwrap()).unwrap();
        assert!(answer.contains(&format!("\"id\":{id},")), "{answer}");
        assert!(answer.contains("io.recoup/age"), "{answer}");
    }
}

#[test]
fn a_tools_own_setting_wins_and_off_is_off() {
    let scene = Scene::configured("cache = \"1h\"\ntoolsCache.count = \"off\"");
    let mut client = scene.start();
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, SECOND]);
    client.leave();
    scene.configure("toolsCache.\"co*\" = \"1h\"");
    let mut client = scene.start();
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, FIRST]);
    assert_eq!(call(&mut client, "write", json!({})), "state 1", "nothing else is cached");
    assert_eq!(call(&mut client, "write", json!({})), "state 2");
}

#[test]
fn a_result_expires() {
    let scene = Scene::configured("cache = \"300ms\"");
    let mut client = scene.start();
    assert_eq!(count(&mut client), FIRST);
    thread::sleep(Duration::from_millis(400));
    assert_eq!(count(&mut client), SECOND);
}

#[test]
fn failures_are_never_kept() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    assert_eq!(call(&mut client, "fail", json!({})), "failed 1");
    assert_eq!(call(&mut client, "fail", json!({})), "failed 2");
    for number in [3, 4] {
        let answer = ask(&mut client, "tools/call", json!({ "name": "refuse", "arguments": {} }));
        assert_eq!(answer["error"]["message"], format!("refused {number}"));
    }
}

#[test]
fn an_edit_of_a_source_makes_a_result_stale() {
    let scene = Scene::configured("toolsCache.count = { ttl = \"1h\", sources = [\"{path}\"] }");
    scene.home.write("a.txt", "1");
    let mut client = scene.start();
    let mut read = || call(&mut client, "count", json!({ "path": "a.txt" }));
    assert_eq!([read(), read()], [FIRST, FIRST]);
    scene.home.write("a.txt", "22");
    assert_eq!(read(), SECOND);
}

#[test]
fn a_call_that_writes_drops_what_it_makes_stale() {
    let scene = Scene::configured(
        "toolsCache.count = \"1h\"\ntoolsCache.write = { invalidates = [\"c*\"] }",
    );
    let mut client = scene.start();
    let mut other = scene.start();
    assert_eq!([count(&mut client), count(&mut other)], [FIRST, FIRST]);
    assert_eq!(call(&mut client, "write", json!({})), "state 1");
    assert_eq!(count(&mut client), "call 3, state 1");
}

#[test]
fn read_only_tools_are_cached_by_one_setting_until_anything_is_written() {
    let scene = Scene::configured("readOnlyTools = true");
    let mut client = scene.start();
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, FIRST]);
    assert_eq!(call(&mut client, "now", json!({})), SECOND);
    assert_eq!(call(&mut client, "now", json!({})), "call 3, state 0", "a clock is not cached");
    assert_eq!(call(&mut client, "write", json!({})), "state 1");
    assert_eq!(count(&mut client), "call 5, state 1");
}

#[test]
fn other_credentials_other_results() {
    let scene = Scene::configured("cache = \"1h\"");
    let start = |token: &str| {
        greeted(scene.proxied(&["--cred-env", "SOME_TOKEN"]).env("SOME_TOKEN", token))
    };
    assert_eq!(count(&mut start("token-one")), FIRST);
    let (mut one, mut two) = (start("token-one"), start("token-two"));
    call(&mut two, "fail", json!({}));
    assert_eq!(count(&mut one), FIRST);
    assert_eq!(count(&mut two), SECOND);
    one.leave();
    for file in tree(&scene.home.recoup()).iter().filter(|path| path.is_file()) {
        let bytes = fs::read(file).unwrap();
        assert!(!bytes.windows(9).any(|part| part == b"token-one"), "{}", file.display());
    }
}

#[test]
fn results_with_a_credential_are_not_kept() {
    let scene = Scene::configured("cache = \"1h\"\ncredentials = [\"THEIRS\"]");
    for (variable, flags) in [("OURS", &["--cred-env", "OURS"][..]), ("THEIRS", &[])] {
        let mut client = greeted(scene.proxied(flags).env(variable, FIRST));
        assert_eq!([count(&mut client), count(&mut client)], [FIRST, SECOND], "{variable}");
    }
}

#[test]
fn roots_are_part_of_the_identity_and_unknown_ones_are_not_cached() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = greeted_with(&mut scene.proxied(&[]), &json!({ "roots": {} }));
    assert_eq!(count(&mut client), FIRST);
    let tell = |client: &mut Client, root: &str| {
        let id = client.ask("ask/roots", json!({}));
        while client.hear()["method"] != "roots/list" {}
        let roots = json!([{ "uri": root }]);
        client.say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": roots } }));
    };
    tell(&mut client, "file:///a");
    assert_eq!([count(&mut client), count(&mut client)], [SECOND, SECOND]);
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    assert_eq!(count(&mut client), "call 3, state 0");
    tell(&mut client, "file:///a");
    assert_eq!(count(&mut client), SECOND);
}

#[test]
fn changes_that_the_server_announces_drop_what_they_concern() {
    let scene = Scene::configured(
        "toolsCache.\"resources/read\" = \"1h\"\ntoolsCache.count = \"1h\"\ntoolsCache.\"tools/list\" = \"1h\"",
    );
    let mut client = scene.start();
    let read = |client: &mut Client, uri: &str| {
        ask(client, "resources/read", json!({ "uri": uri }))["result"]["contents"][0]["text"]
            .clone()
    };
    assert_eq!(read(&mut client, "x://a"), "read 1");
    assert_eq!(read(&mut client, "x://b"), "read 2");
    assert_eq!(read(&mut client, "x://a"), "read 1");
    ask(&mut client, "change/resource", json!({ "uri": "x://a" }));
    assert_eq!(read(&mut client, "x://a"), "read 3");
    assert_eq!(read(&mut client, "x://b"), "read 2");
    let list = |client: &mut Client| ask(client, "tools/list", json!({}));
    list(&mut client);
    list(&mut client);
    assert_eq!(scene.asked("tools/list"), 1);
    ask(&mut client, "change/tools", json!({}));
    list(&mut client);
    assert_eq!(scene.asked("tools/list"), 2);
}

#[test]
fn lists_are_not_cached_by_a_default() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    for number in 1..=2 {
        ask(&mut client, "tools/list", json!({}));
        assert_eq!(scene.asked("tools/list"), number);
    }
}

#[test]
fn several_pages_of_tools_are_asked_for_as_the_client_would() {
    let mut scene = Scene::configured("cache = \"1h\"");
    scene.habits = vec!["pages"];
    let mut client = scene.start();
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, FIRST]);
    assert_eq!(scene.asked("tools/list"), 8);
}

/// A scene with one client, and the parameters of a slow call, which a file ends.
fn slow_scene() -> (Scene, Client, Value) {
    let scene = Scene::configured("cache = \"1h\"");
    let arguments = json!({ "until": scene.home.path("until") });
    let client = scene.start();
    (scene, client, json!({ "name": "slow", "arguments": arguments }))
}

fn wait_for_calls(scene: &Scene, calls: usize) {
    for _ in 0..500 {
        if scene.asked("tools/call") >= calls {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("the server was not asked: {:?}", scene.heard());
}

#[test]
fn identical_calls_at_once_are_made_once_also_across_proxies() {
    let (scene, mut one, params) = slow_scene();
    let mut two = scene.start();
    let first = [one.ask("tools/call", params.clone())];
    wait_for_calls(&scene, 1);
    let again = [one.ask("tools/call", params.clone()), two.ask("tools/call", params)];
    thread::sleep(Duration::from_millis(300));
    fs::write(scene.home.path("until"), "").unwrap();
    let mut answers: Vec<Value> = (0..2).map(|_| one.hear()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!([&answers[0]["id"], &answers[1]["id"]], [first[0], again[0]]);
    answers.push(hear_answer(&two, again[1]));
    for answer in answers {
        assert_eq!(answer["result"]["content"][0]["text"], "slow 1", "{answer}");
    }
    assert_eq!(scene.asked("tools/call"), 1);
}

#[test]
fn machines_that_share_a_server_make_a_call_once() {
    let redis = crate::redis_server::shared();
    let prefix = crate::redis_server::fresh_prefix();
    let settings = format!(
        "store = \"redis://127.0.0.1:{}/?prefix={prefix}\"\nscope = \"tenant:us\"\n[mcpServers.scripted]\ntoolsCache.slow = {{ ttl = \"1h\", sources = [\"common\"] }}\n",
        redis.port
    );
    let (here, there) = (Scene::new(), Scene::new());
    configure(&here.home, &settings);
    configure(&there.home, &settings);
    // The same command, in the same directory of the project, with the same files.
    here.home.write("common", "1");
    there.home.write("common", "1");
    let until = here.home.path("until");
    let words = here.server();
    let mut one = greeted(&mut super::proxied(&here.home, "scripted", &[], &words));
    let mut two = greeted(&mut super::proxied(&there.home, "scripted", &[], &words));
    let params = json!({ "name": "slow", "arguments": { "until": until } });
    let first = one.ask("tools/call", params.clone());
    wait_for_calls(&here, 1);
    let second = two.ask("tools/call", params);
    thread::sleep(Duration::from_millis(300));
    fs::write(until, "").unwrap();
    for answer in [hear_answer(&one, first), hear_answer(&two, second)] {
        assert_eq!(answer["result"]["content"][0]["text"], "slow 1", "{answer}");
    }
    assert_eq!(here.asked("tools/call"), 1, "{:?}", here.heard());
}

#[test]
fn progress_goes_to_every_caller_under_its_own_token() {
    let (scene, mut client, mut params) = slow_scene();
    let mut ask_with = |token: Value| {
        params["_meta"] = json!({ "progressToken": token });
        client.ask("tools/call", params.clone())
    };
    ask_with(json!("first"));
    wait_for_calls(&scene, 1);
    ask_with(json!(17));
    let mut tokens = std::collections::BTreeSet::new();
    for _ in 0..60 {
        tokens.insert(client.hear()["params"]["progressToken"].to_string());
    }
    assert_eq!(tokens.into_iter().collect::<Vec<_>>(), ["\"first\"", "17"]);
    assert_eq!(scene.asked("tools/call"), 1);
}

#[test]
fn ones_cancellation_does_not_cancel_the_others() {
    let (scene, mut client, params) = slow_scene();
    let leader = client.ask("tools/call", params.clone());
    wait_for_calls(&scene, 1);
    let (follower, last) =
        (client.ask("tools/call", params.clone()), client.ask("tools/call", params));
    thread::sleep(Duration::from_millis(200));
    cancel(&mut client, follower);
    cancel(&mut client, leader);
    wait_for_calls(&scene, 2);
    fs::write(scene.home.path("until"), "").unwrap();
    let answer = client.hear();
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(last), &json!("slow 2"))
    );
    assert!(client.is_silent_for(Duration::from_millis(300)), "nobody else is answered");
    assert_eq!(scene.asked("notifications/cancelled"), 1, "the server never saw the follower");
    assert_eq!(scene.asked("tools/call"), 2);
}

#[test]
fn a_cancelled_call_is_stored_nowhere() {
    let (scene, mut client, params) = slow_scene();
    let id = client.ask("tools/call", params.clone());
    wait_for_calls(&scene, 1);
    cancel(&mut client, id);
    fs::write(scene.home.path("until"), "").unwrap();
    assert_eq!(call(&mut client, "slow", params["arguments"].clone()), "slow 2");
}

#[test]
fn the_controls_work_as_for_commands() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start_with(&["--no-store"]);
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, SECOND]);
    client.leave();
    assert_eq!(count(&mut scene.start()), FIRST);
    let mut refreshing = scene.start_with(&["--refresh"]);
    call(&mut refreshing, "fail", json!({}));
    assert_eq!(count(&mut refreshing), SECOND);
    refreshing.leave();
    let mut client = scene.start_with(&["--only-if-cached"]);
    assert_eq!(count(&mut client), SECOND);
    let absent =
        ask(&mut client, "tools/call", json!({ "name": "count", "arguments": { "x": 1 } }));
    let message = absent["error"]["message"].as_str().unwrap();
    assert!(message.contains("only cached results"), "{message}");
    thread::sleep(Duration::from_millis(30));
    let mut client = scene.start_with(&["--max-age", "20ms"]);
    assert_eq!(count(&mut client), FIRST);
}

#[test]
fn a_mistake_in_the_configuration_is_an_error_before_the_server_starts() {
    let scene = Scene::configured("toolsCache.count = \"5 min\"");
    let output = crate::support::finish(&mut scene.proxied(&[]));
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.contains("mcpServers.scripted.toolsCache.count"), "{}", output.stderr);
    assert!(output.stderr.contains("config.toml"), "{}", output.stderr);
    assert!(!scene.log().exists());
}

#[test]
fn a_store_that_can_not_be_used_only_means_that_nothing_is_cached() {
    let scene = Scene::new();
    configure(
        &scene.home,
        "store = \"redis://127.0.0.1:1\"\n[mcpServers.scripted]\ncache = \"1h\"\n",
    );
    let mut client = scene.start();
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, SECOND]);
}

fn tool_call(id: &str, tool: &str, arguments: &Value) -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}\n"
    )
    .into_bytes()
}

#[test]
fn an_id_that_is_used_twice_at_once_keeps_neither_result() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    let until = |name: &str| json!({ "until": scene.home.path(name) });
    for (calls, name) in [(1, "first"), (2, "second")] {
        client.say_bytes(&tool_call("\"twice\"", "slow", &until(name)));
        wait_for_calls(&scene, calls);
    }
    for name in ["first", "second"] {
        fs::write(scene.home.path(name), "").unwrap();
        let answer = client.hear();
        assert_eq!(answer["id"], "twice");
        assert_eq!(answer["result"]["content"][0]["text"], "slow 2", "{answer}");
    }
    assert_eq!(call(&mut client, "slow", until("second")), "slow 3");
    assert_eq!(call(&mut client, "slow", until("first")), "slow 4");
    assert_eq!(call(&mut client, "slow", until("first")), "slow 4", "later ones are kept");
}

#[test]
fn an_id_that_the_server_spells_in_another_way_is_the_same() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    for (id, answered) in [("\"caf\\u00e9\"", json!("caf\u{e9}")), ("1.0e2", json!(100))] {
        let arguments = json!({ "of": id });
        client.say_bytes(&tool_call(id, "count", &arguments));
        let answer = client.hear();
        assert_eq!(answer["id"], answered);
        assert_eq!(
            call(&mut client, "count", arguments),
            answer["result"]["content"][0]["text"].as_str().unwrap()
        );
    }
}

#[test]
fn what_may_hold_a_call_that_writes_drops_everything() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, FIRST]);
    let lines = [
        "[{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"id\":901,\"params\":{\"name\":\"write\"}}]",
        "{\"jsonrpc\":\"2.0\",\"id\":902,\"id\":903,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":904,\"method\":\"tools/call\",\"params\":{\"name\":\"refuse\",\"name\":\"fail\"}}",
    ];
    for line in lines {
        let before = count(&mut client);
        client.say_bytes(format!("{line}\n").as_bytes());
        let after = count(&mut client);
        assert_ne!(after, before, "{line}");
        // Results are kept again as soon as the old ones are dropped.
        assert!((0..100).any(|_| count(&mut client) == count(&mut client)), "{line}");
    }
    let before = count(&mut client);
    client.say_bytes(b"\"a text\"\n");
    assert_eq!(count(&mut client), before);
}

#[test]
fn nothing_waits_for_a_locked_store_and_nothing_stale_is_served() {
    let scene = Scene::configured(
        "toolsCache.count = \"1h\"\ntoolsCache.write = { invalidates = [\"count\"] }",
    );
    let mut client = scene.start();
    assert_eq!([count(&mut client), count(&mut client)], [FIRST, FIRST]);
    let mut other = rusqlite::Connection::open(scene.home.recoup().join("cache.db")).unwrap();
    let lock = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let began = Instant::now();
    // The read comes right behind the write, and does not wait for its answer.
    let write = client.ask("tools/call", json!({ "name": "write", "arguments": {} }));
    let read = client.ask("tools/call", json!({ "name": "count", "arguments": {} }));
    let answer = client.hear();
    assert_eq!(answer["id"], read, "{answer}");
    assert_eq!(answer["result"]["content"][0]["text"], "call 3, state 1");
    assert!(hear_answer(&client, write)["result"].is_object());
    assert_eq!(count(&mut client), "call 4, state 1", "the old one is still there");
    client.ask("change/tools", json!({}));
    assert_eq!(client.hear()["method"], "notifications/tools/list_changed");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(lock);
    let is_kept = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        count(&mut client) == count(&mut client)
    });
    assert!(is_kept, "results are kept again");
    assert!(count(&mut client).ends_with("state 1"));
}
