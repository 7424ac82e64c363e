//! Stale while revalidating: the old answer at once, the new one in the
//! background.

use std::fs;
use std::thread;
use std::time::Duration;

use super::streams::into;
use super::{COUNT, exec, runs, until};
use crate::support::{Home, RECOUP, finish};

const FLAGS: [&str; 4] = ["--ttl", "1ms", "--stale-while-revalidate", "1h"];

/// What there is, without running or refreshing anything.
fn kept(home: &Home, script: &str) -> String {
    exec(home, &["--only-if-cached"], script).expect(0).text()
}

fn pass_the_ttl() {
    thread::sleep(Duration::from_millis(5));
}

/// Whether any process has `marker` on its command line.
fn alive(marker: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let marker = marker.as_bytes();
    lines.into_iter().any(|line| line.windows(marker.len()).any(|part| part == marker))
}

#[test]
fn the_old_answer_comes_at_once_and_the_new_one_later() {
    let home = Home::new();
    // The second run waits for us: whoever waited for it would wait for ever.
    let script = format!(
        ": {}; {COUNT}n=$(wc -l < ../runs); [ $n = 1 ] || until [ -e ../go ]; do sleep 0.01; done; echo $n",
        home.path("marker").display()
    );
    exec(&home, &FLAGS, &script).said(0, "1\n", "");
    pass_the_ttl();
    exec(&home, &FLAGS, &script).said(0, "1\n", "");
    until("it is refreshed in the background", || runs(&home) == 2);
    assert_eq!(kept(&home, &script), "1\n");
    fs::write(home.path("go"), "").unwrap();
    until("the new answer is there", || kept(&home, &script) == "2\n");
    until("nobody is left behind", || !alive(home.path("marker").to_str().unwrap()));
}

#[test]
fn what_was_recorded_as_one_stream_is_refreshed_as_one() {
    let home = Home::new();
    let script = format!("{COUNT}echo out; echo err >&2; wc -l < ../runs");
    let flags = [&FLAGS[..], &["--no-auto-source"]].concat();
    assert_eq!(into(&home, "both", &flags, &script), "out\nerr\n1\n");
    pass_the_ttl();
    assert_eq!(into(&home, "both", &flags, &script), "out\nerr\n1\n");
    let only = ["--only-if-cached", "--no-auto-source"];
    until("it is refreshed", || into(&home, "both", &only, &script) == "out\nerr\n2\n");
    // Nobody else can have it.
    exec(&home, &only, &script).expect(124);
}

#[test]
fn the_refresher_has_what_was_read() {
    let home = Home::new();
    let script = format!("{COUNT}cat; wc -l < ../runs");
    let flags = [&FLAGS[..], &["--stdin"]].concat();
    let run = || home.run_with_stdin(&super::words(&flags, &script), b"input ");
    run().said(0, "input 1\n", "");
    pass_the_ttl();
    run().said(0, "input 1\n", "");
    let only = super::words(&["--stdin", "--only-if-cached"], &script);
    until("refreshed", || home.run_with_stdin(&only, b"input ").text() == "input 2\n");
}

#[test]
fn a_refresh_that_fails_leaves_the_old_answer() {
    let home = Home::new();
    let script = format!("{COUNT}n=$(wc -l < ../runs); echo $n; [ $n = 1 ]");
    exec(&home, &FLAGS, &script).expect(0);
    pass_the_ttl();
    exec(&home, &FLAGS, &script).said(0, "1\n", "");
    until("it was tried", || runs(&home) == 2);
    assert_eq!(kept(&home, &script), "1\n");
}

#[test]
fn many_callers_are_all_served_at_once_and_one_run_refreshes_it() {
    let home = Home::new();
    let held = "[ $n = 1 ] || until [ -e ../go ]; do sleep 0.01; done";
    let marker = home.path("marker");
    let script = format!(": {}; {COUNT}n=$(wc -l < ../runs); {held}; echo $n", marker.display());
    let flags = ["--ttl", "1500ms", "--stale-while-revalidate", "1h"];
    exec(&home, &flags, &script).expect(0);
    thread::sleep(Duration::from_millis(1_600));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| exec(&home, &flags, &script).said(0, "1\n", ""));
        }
    });
    until("one has begun", || runs(&home) == 2);
    fs::write(home.path("go"), "").unwrap();
    until("the new answer is there", || kept(&home, &script) == "2\n");
    until("nobody is left behind", || !alive(marker.to_str().unwrap()));
    assert_eq!(runs(&home), 2);
}

/// Whoever waits for the end of a file that was passed down does not wait for it.
#[test]
fn the_refresher_holds_nothing_open() {
    let home = Home::new();
    let script = format!(
        ": {}; {COUNT}[ $(wc -l < ../runs) = 1 ] || until [ -e ../go ]; do sleep 0.01; done",
        home.path("marker").display()
    );
    exec(&home, &FLAGS, &script).expect(0);
    pass_the_ttl();
    let shell = format!(
        "{{ {RECOUP} exec {} -- sh -c '{script}' 3>&1 >/dev/null; }} | cat",
        FLAGS.join(" ")
    );
    let output = finish(&mut home.prepared("sh", &["-c", &shell])).expect(0);
    assert_eq!(output.text(), "");
    until("it is refreshed in the background", || runs(&home) == 2);
    fs::write(home.path("go"), "").unwrap();
    until("nobody is left behind", || !alive(home.path("marker").to_str().unwrap()));
}

#[test]
fn the_reader_may_be_stricter() {
    let home = Home::new();
    let script = format!("{COUNT}wc -l < ../runs");
    exec(&home, &FLAGS, &script).said(0, "1\n", "");
    pass_the_ttl();
    exec(&home, &["--max-age", "1ms"], &script).said(0, "2\n", "");
}
