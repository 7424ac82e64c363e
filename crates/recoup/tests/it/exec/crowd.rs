//! Many at once, and on every store.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::thread;

use super::streams::into;
use super::{COUNT, exec, runs, until, words};
use crate::redis_server::Server;
use crate::support::{Home, RECOUP, finish};

/// A run that begins is seen, and ends when it is told to.
const HELD: &str = "until [ -e ../go ]; do sleep 0.01; done; ";

impl crate::support::Output {
    /// A wait that takes long is told, and how long it takes is the machine's affair.
    #[track_caller]
    fn said_after_waiting(self, stdout: &str) {
        assert_eq!(self.expect(0).text(), stdout);
    }
}

#[test]
fn many_who_ask_at_once_cost_one_run() {
    let home = Home::new();
    let script = format!("{COUNT}{HELD}echo done");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| exec(&home, &[], &script).said_after_waiting("done\n"));
        }
        until("one has begun", || runs(&home) == 1);
        fs::write(home.path("go"), "").unwrap();
    });
    assert_eq!(runs(&home), 1);
}

#[test]
fn many_who_need_two_streams_where_one_was_recorded_cost_one_run() {
    let home = Home::new();
    let script = format!("{COUNT}[ $(wc -l < ../runs) = 1 ] || {HELD}echo done");
    into(&home, "both", &[], &script);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| exec(&home, &[], &script).said_after_waiting("done\n"));
        }
        until("one has begun", || runs(&home) == 2);
        fs::write(home.path("go"), "").unwrap();
    });
    assert_eq!(runs(&home), 2);
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
fn a_long_wait_is_told() {
    let home = Home::new();
    let script = format!("{COUNT}{HELD}echo done");
    thread::scope(|scope| {
        let first = scope.spawn(|| exec(&home, &[], &script));
        until("one has begun", || runs(&home) == 1);
        let mut second = home.command(&words(&[], &script));
        let mut second = second.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = String::new();
        BufReader::new(second.stderr.take().unwrap()).read_line(&mut told).unwrap();
        assert_eq!(
            told,
            "recoup: waiting for another run of the same command (--wait off runs it at once)\n"
        );
        fs::write(home.path("go"), "").unwrap();
        first.join().unwrap().said(0, "done\n", "");
        assert_eq!(second.wait_with_output().unwrap().stdout, b"done\n");
    });
    assert_eq!(runs(&home), 1);
}

#[test]
fn who_does_not_want_to_wait_runs_it() {
    let home = Home::new();
    let script = format!("{COUNT}{HELD}echo done");
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| exec(&home, &["--wait", "off"], &script).said(0, "done\n", ""));
        }
        until("all have begun", || runs(&home) == 3);
        fs::write(home.path("go"), "").unwrap();
    });
}

#[test]
fn a_command_that_runs_itself_does_not_wait_for_itself() {
    let home = Home::new();
    let script =
        format!("{COUNT}[ $(wc -l < ../runs) = 1 ] && exec {RECOUP} exec -- ../self; echo in");
    let path = home.path("self");
    let make = format!("printf '%s\n' '#!/bin/sh' '{script}' > {0}; chmod +x {0}", path.display());
    assert!(home.prepared("sh", &["-c", &make]).status().unwrap().success());
    home.run(&["exec", "--", "../self"]).said(0, "in\n", "");
    assert_eq!(runs(&home), 2);
    home.run(&["exec", "--", "../self"]).said(0, "in\n", "");
    assert_eq!(runs(&home), 2, "the outer one is kept");
}

#[test]
fn what_is_not_kept_is_not_queued_for() {
    let home = Home::new();
    // Two may take turns; the others would stand in line for a minute.
    let script = format!(
        "{COUNT}sleep 1; until [ $(wc -l < ../runs) -ge 8 ] || [ $(wc -l < ../runs) -le 2 ]; do sleep 0.05; done; exit 3"
    );
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| exec(&home, &[], &script).expect(3));
        }
    });
    assert_eq!(runs(&home), 8);
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
        finish(command.env("RECOUP_HOME", home.path(machine))).said_after_waiting("done\n");
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
    let output = exec(&home, &flags, COUNT).expect(125);
    assert!(output.stderr.contains("file:"), "{output:?}");
    assert_eq!(runs(&home), 0, "said before anything is paid for");
}
