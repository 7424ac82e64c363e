//! Everything passes as it is, in both directions.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use super::{Scene, call, greeted};
use crate::mcp::client::Client;
use serde_json::json;

/// What a program wrote to stdout after all of `input`, whose end it sees.
fn output_of(command: &mut Command, input: &[u8]) -> Vec<u8> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    output.stdout
}

#[test]
fn unknown_messages_large_numbers_and_odd_spelling_pass_to_the_byte() {
    let scene = Scene::with_habits(&["echo"]);
    let lines = concat!(
        "{ \"method\" : \"made/up\",\t\"id\":12345678901234567890123, \"z\":1,\"a\":[1e999,-0.0] }\n",
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\\/\",\"method\":\"x\",\"params\":{\"_meta\":{\"who\":\"me\"},\"q\":\"\\ud83d\\ude00\"}}\n",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]\n",
        "{\"id\":1,\"id\":2,\"method\":\"twice\"}\n",
        "no json at all\n",
        "\n",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"?\",\"more\":true}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\",\"params\":[]}\n",
    );
    let through = output_of(&mut scene.proxied(&[]), lines.as_bytes());
    assert_eq!(String::from_utf8(through).unwrap(), lines);
    assert_eq!(scene.heard().join("\n") + "\n", lines, "and so they arrive");
}

#[test]
fn banners_and_lines_that_are_not_json_pass_in_their_place() {
    let scene = Scene::with_habits(&["banner"]);
    let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let direct = output_of(&mut scene.direct(), ping);
    assert!(direct.starts_with(b"Welcome to the server\n\n{not json\n[1, 2]\n"));
    assert_eq!(output_of(&mut scene.proxied(&[]), ping), direct);
}

#[test]
fn a_frame_without_an_end_passes_and_the_session_ends_with_the_server() {
    let scene = Scene::new();
    let half = b"{\"jsonrpc\":\"2.0\",\"method\":\"half\"}\n";
    assert_eq!(output_of(&mut scene.proxied(&[]), half), b"{\"jsonrpc\":\"2.0\",\"id\":");
}

#[test]
fn a_line_of_100_mb_passes_both_ways_with_memory_for_one() {
    const BYTES: usize = 100 << 20;
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    client.ask("tools/call", json!({ "name": "large", "arguments": { "bytes": BYTES } }));
    assert!(client.hear_bytes().unwrap().len() > BYTES);
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"count\",\"arguments\":{\"long\":\"".to_vec();
    line.resize(line.len() + BYTES, b'z');
    line.extend(b"\"}}}\n");
    client.say_bytes(&line);
    let answer = String::from_utf8(client.hear_bytes().unwrap()).unwrap();
    assert!(answer.contains("call ") && answer.contains("\"id\":9"), "{answer}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 180 << 10, "the most memory was {peak} kB");
}

#[test]
fn a_server_that_floods_stderr_and_a_client_that_does_not_read_it_are_no_hang() {
    let scene = Scene::with_habits(&["flood"]);
    // Nobody reads the pipe of stderr.
    let mut client = scene.start();
    assert_eq!(call(&mut client, "count", json!({})), "call 1, state 0");
}

#[test]
fn stderr_of_the_server_is_ours() {
    let scene = Scene::with_habits(&["flood"]);
    let mut command = scene.proxied(&[]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.matches('x').count(), 64 * 64 * 1024, "all of it, for one who reads");
}

#[test]
fn requests_of_the_server_and_their_answers_keep_their_ids() {
    let scene = Scene::new();
    let mut client = greeted(&mut scene.proxied(&[]));
    // The server asks under the very id of the client's own request.
    let id = client.ask("ask/roots", json!({}));
    let asked = client.hear();
    assert_eq!((&asked["method"], &asked["id"]), (&json!("roots/list"), &json!(id)));
    assert_eq!(client.hear()["result"], json!({}));
    client.say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [], "x": 1 } }));
    assert_eq!(call(&mut client, "count", json!({})), "call 1, state 0");
    assert!(scene.heard().iter().any(|line| line.contains("\"x\":1")));
}

#[test]
fn the_proxy_never_speaks_first() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = Client::spawn(&mut scene.proxied(&[]));
    client.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "count" } }));
    assert_eq!(client.hear()["id"], 1);
    client.hang_up();
    assert_eq!(client.hear_bytes(), None);
    assert_eq!(scene.heard().len(), 1, "{:?}", scene.heard());
}
