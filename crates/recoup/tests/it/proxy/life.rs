//! How servers and the proxy end.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use std::os::unix::process::ExitStatusExt as _;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;

use super::{Scene, call, greeted, proxied};
use crate::mcp::client::Client;
use crate::support::{Home, finish};

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
    begun.elapsed()
}

fn is_alive(pid: i32) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let is_zombie = state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok() && !is_zombie
}

/// A shell that writes the ids of itself and of a child of its own, and then serves.
fn nested(home: &Home, script: &str) -> Vec<String> {
    let pids = home.path("pids");
    let script = format!("{script} & echo $$ $! > {}; wait; sleep 60", pids.display());
    ["sh", "-c", &script].map(str::to_owned).to_vec()
}

fn pids(home: &Home) -> Vec<i32> {
    let mut found = Vec::new();
    eventually("the server starts", || {
        let text = fs::read_to_string(home.path("pids")).unwrap_or_default();
        found = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        found.len() == 2
    });
    found
}

#[test]
fn the_servers_exit_code_is_ours() {
    let scene = Scene::with_habits(&["dies"]);
    let mut client = Client::spawn(&mut scene.proxied(&[]));
    assert_eq!(client.hear_bytes(), None);
    assert_eq!(client.child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_server_that_dies_ends_the_session_and_pending_calls_are_not_answered() {
    let scene = Scene::configured("cache = \"1h\"");
    let mut client = scene.start();
    assert_eq!(call(&mut client, "count", json!({})), "call 1, state 0");
    client.ask("tools/call", json!({ "name": "slow", "arguments": { "until": "/nowhere" } }));
    client.ask("end", json!({ "code": 7 }));
    assert_eq!(client.hear_bytes(), None, "nothing is made up");
    assert_eq!(client.child.wait().unwrap().code(), Some(7));
    assert_eq!(scene.asked("initialize"), 1, "and nothing is started again");
}

#[test]
fn a_signal_that_ends_the_server_ends_us() {
    let scene = Scene::new();
    let mut client = scene.start();
    client.ask("crash", json!({}));
    assert_eq!(client.hear_bytes(), None);
    assert_eq!(client.child.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_server_that_closes_its_stdout_is_silent_for_the_client_too() {
    let scene = Scene::new();
    let mut client = scene.start();
    client.ask("mute", json!({}));
    assert_eq!(client.hear_bytes(), None);
    assert!(client.child.try_wait().unwrap().is_none(), "the server still runs");
    client.hang_up();
    client.child.wait().unwrap();
}

#[test]
fn a_program_that_does_not_exist_is_reported_as_by_a_shell() {
    let home = Home::new();
    let output = finish(&mut proxied(&home, "x", &[], &["no-such-server".to_owned()]));
    assert_eq!(output.code, Some(127));
    assert!(output.stderr.contains("no-such-server"), "{}", output.stderr);
    assert_eq!(output.text(), "");
}

#[test]
fn a_server_that_stays_after_its_stdin_closed_gets_term_and_kill() {
    let scene = Scene::with_habits(&["stubborn"]);
    let mut client = scene.start();
    client.hang_up();
    let took = eventually("we end", || client.child.try_wait().unwrap().is_some());
    assert!(took > Duration::from_millis(4500), "it had its time: {took:?}");
    assert!(took < Duration::from_secs(9), "{took:?}");
    assert_eq!(scene.heard().last().map(String::as_str), Some("TERM"));
}

#[test]
fn a_killed_proxy_leaves_no_process_behind() {
    let home = Home::new();
    // Neither reads its stdin.
    let server = nested(&home, "sleep 60");
    let mut proxy = proxied(&home, "x", &[], &server)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let started = pids(&home);
    assert!(started.iter().all(|pid| is_alive(*pid)));
    // The guard is started after the server.
    let children = format!("/proc/{0}/task/{0}/children", proxy.id());
    eventually("the guard starts", || {
        let children = fs::read_to_string(&children).unwrap_or_default();
        let words = |pid| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_guard = |pid| String::from_utf8_lossy(&words(pid)).contains("proxy-guard");
        children.split_whitespace().any(is_guard)
    });
    thread::sleep(Duration::from_millis(100));
    proxy.kill().unwrap();
    proxy.wait().unwrap();
    let took = eventually("the server ends", || !started.iter().any(|pid| is_alive(*pid)));
    assert!(took > Duration::from_millis(1500), "its stdin is closed first: {took:?}");
}

#[test]
fn what_the_server_leaves_behind_ends_too() {
    let home = Home::new();
    let pids_file = home.path("pids").display().to_string();
    let script = format!("sleep 60 & echo $$ $! > {pids_file}");
    let server = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let output = finish(&mut proxied(&home, "x", &[], &server));
    assert_eq!(output.code, Some(0));
    let left = pids(&home)[1];
    eventually("the orphan ends", || !is_alive(left));
}

#[test]
fn signals_reach_the_server() {
    let scene = Scene::new();
    let mut client = scene.start();
    let proxy = Pid::from_raw(i32::try_from(client.child.id()).unwrap()).unwrap();
    kill_process(proxy, Signal::TERM).unwrap();
    assert_eq!(client.hear_bytes(), None);
    assert_eq!(client.child.wait().unwrap().signal(), Some(15));
}

#[test]
fn a_client_that_stops_reading_ends_the_server() {
    let scene = Scene::new();
    let mut command: Command = scene.proxied(&[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    eventually("we end", || child.try_wait().unwrap().is_some());
}

#[test]
fn a_server_that_never_reads_does_not_outlive_its_client() {
    let home = Home::new();
    let server = ["sleep", "60"].map(str::to_owned);
    let mut command = proxied(&home, "x", &[], &server);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n", "x".repeat(50_000));
    // More than the pipe to the server takes, less than both.
    for _ in 0..3 {
        stdin.write_all(line.as_bytes()).unwrap();
    }
    drop(stdin);
    eventually("we end", || child.try_wait().unwrap().is_some());
}

#[test]
fn the_guard_ends_with_the_proxy() {
    let scene = Scene::new();
    let client = greeted(&mut scene.proxied(&[]));
    let parent = format!("\nPPid:\t{}\n", client.child.id());
    let guards = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let of_ours = |entry: &fs::DirEntry| {
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            status.contains(&parent) && line.ends_with(b"mcp\0proxy-guard\0")
        };
        processes
            .filter(of_ours)
            .filter_map(|it| it.file_name().to_str()?.parse().ok())
            .collect::<Vec<i32>>()
    };
    let found = guards();
    assert_eq!(found.len(), 1);
    client.leave();
    eventually("the guard ends", || !is_alive(found[0]));
}

#[test]
fn a_slow_client_gets_everything_that_the_server_wrote_before_its_end() {
    const BYTES: usize = 8 << 20;
    let scene = Scene::new();
    let mut command = scene.proxied(&[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let params = json!({ "name": "large", "arguments": { "bytes": BYTES } });
    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    writeln!(stdin, "{large}").unwrap();
    // The proxy has all of it, and the server nothing more to write.
    stdout.read_exact(&mut [0; 1]).unwrap();
    let end = json!({ "jsonrpc": "2.0", "id": 2, "method": "end", "params": { "code": 5 } });
    writeln!(stdin, "{end}").unwrap();
    thread::sleep(Duration::from_secs(2));
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > BYTES && rest.ends_with(b"}\n"), "{} bytes", rest.len());
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn what_a_server_left_behind_writes_is_passed_on_while_it_writes() {
    let home = Home::new();
    let script = "(for i in 1 2 3 4; do sleep 0.3; printf $i; done; echo; exec sleep 60) &";
    let server = ["sh", "-c", script].map(str::to_owned);
    let begun = Instant::now();
    assert_eq!(finish(&mut proxied(&home, "x", &[], &server)).text(), "1234\n");
    assert!(begun.elapsed() < Duration::from_secs(20), "silence is the end");
}
