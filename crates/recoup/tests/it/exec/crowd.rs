//! Many at once, and on every store.

use std::fs;
use std::thread;

use super::{COUNT, exec, runs, until, words};
use crate::redis_server::Server;
use crate::support::{Home, finish};

/// A run that begins is seen, and ends when it is told to.
const HELD: &str = "until [ -e ../go ]; do sleep 0.01; done; ";

#[test]
fn many_who_ask_at_once_cost_one_run() {
    let home = Home::new();
    let script = format!("{COUNT}{HELD}echo done");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| exec(&home, &[], &script).said(0, "done\n", ""));
        }
        until("one has begun", || runs(&home) == 1);
        fs::write(home.path("go"), "").unwrap();
    });
    assert_eq!(runs(&home), 1);
}

#[test]
fn a_run_that_fails_hands_over_to_the_next() {
    let home = Home::new();
    let script = format!("{COUNT}n=$(wc -l < ../runs); {HELD}echo $n; [ $n != 1 ]");
    let ended: Vec<_> = thread::scope(|scope| {
        let callers: Vec<_> = (0..4).map(|_| scope.spawn(|| exec(&home, &[], &script))).collect();
        until("one has begun", || runs(&home) == 1);
        fs::write(home.path("go"), "").unwrap();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    let failed = ended.iter().filter(|output| output.code == Some(1)).count();
    assert_eq!((failed, runs(&home)), (1, 2), "{ended:?}");
}

#[test]
fn it_works_on_every_store() {
    let server = Server::start();
    let redis = format!("redis://127.0.0.1:{}?timeout=30s", server.port);
    for store in ["file:answers", "dir:answers", "sqlite:x.db", &redis] {
        let home = Home::new();
        for _ in 0..2 {
            let script = format!("{COUNT}echo out; echo err >&2");
            exec(&home, &["--store", store], &script).said(0, "out\n", "err\n");
        }
        assert_eq!(runs(&home), 1, "{store}");
    }
}

#[test]
fn two_machines_on_one_server_run_it_once() {
    let server = Server::start();
    let url = format!("redis://127.0.0.1:{}?timeout=30s", server.port);
    let home = Home::new();
    let script = format!("{COUNT}{HELD}echo done");
    let ask = |machine: &str| {
        let mut command = home.command(&words(&["--store", &url], &script));
        finish(command.env("RECOUP_HOME", home.path(machine))).said(0, "done\n", "");
    };
    thread::scope(|scope| {
        for machine in ["one", "two", "one", "two"] {
            scope.spawn(move || ask(machine));
        }
        until("one has begun", || runs(&home) == 1);
        fs::write(home.path("go"), "").unwrap();
    });
    assert_eq!(runs(&home), 1);
}

#[test]
fn a_store_of_text_says_that_it_keeps_no_other_bytes() {
    let home = Home::new();
    let output = exec(&home, &["--store", "file:answers"], "printf '\\377'");
    assert_eq!(output.stdout, [0xff]);
    assert!(output.stderr.contains("this store keeps text only"), "{output:?}");
    output.expect(0);
}

#[test]
fn a_store_without_it_refuses_to_serve_what_is_stale() {
    let home = Home::new();
    let flags = ["--store", "file:answers", "--stale-while-revalidate", "1h"];
    let output = exec(&home, &flags, "echo x");
    assert_eq!(output.text(), "x\n", "the command runs all the same");
    assert!(output.stderr.contains("file:"), "{output:?}");
}
