//! Output: exact on each stream, in the order in which it was heard, and at
//! once.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use super::{COUNT, exec, runs, words};
use crate::support::{Home, finish};

#[test]
fn any_bytes_come_back_with_no_newline_added() {
    let home = Home::new();
    let script = r"printf '\000\377\376\r\nno newline'; printf '\200' >&2";
    for _ in 0..2 {
        let output = home.command(&words(&["--no-auto-source"], script)).output().unwrap();
        assert_eq!(output.stdout, b"\0\xff\xfe\r\nno newline");
        assert_eq!(output.stderr, b"\x80");
    }
    let flags = ["--no-auto-source", "--only-if-cached"];
    let hit = home.command(&words(&flags, script)).output().unwrap();
    assert_eq!((hit.status.code(), hit.stderr), (Some(0), b"\x80".to_vec()));
}

/// Both streams into one file, as in a terminal.
pub(super) fn into(home: &Home, file: &str, flags: &[&str], script: &str) -> String {
    let path = home.path(file);
    File::create(&path).unwrap();
    let open = || OpenOptions::new().append(true).open(&path).unwrap();
    let mut command = home.command(&words(flags, script));
    assert!(command.stdout(open()).stderr(open()).status().unwrap().success());
    fs::read_to_string(path).unwrap()
}

/// Both streams by turns, as fast as a shell can.
const TURNS: &str = "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";

fn turns() -> String {
    let turns: Vec<String> = (0..300).map(|i| format!("out {i}\nerr {i}\n")).collect();
    turns.concat()
}

#[test]
fn in_one_place_the_streams_keep_the_order_in_which_they_were_written() {
    let home = Home::new();
    let script = format!("{COUNT}{TURNS}");
    assert_eq!(into(&home, "seen", &["--no-auto-source"], &script), turns());
    assert_eq!(into(&home, "again", &["--no-auto-source"], &script), turns());
    assert_eq!(runs(&home), 1);
}

#[test]
fn in_different_places_the_streams_speak_in_the_order_in_which_they_were_heard() {
    let home = Home::new();
    let heard = |word: &str| format!("until grep -q {word} ../$1; do sleep 0.01; done; ");
    let script = format!(
        "{COUNT}set out; echo one; {}set err; echo two >&2; {}set out; echo three; {}:",
        heard("one"),
        heard("two"),
        heard("three")
    );
    let file = |name: &str| File::create(home.path(name)).unwrap();
    let mut command = home.command(&words(&["--no-auto-source"], &script));
    assert!(command.stdout(file("out")).stderr(file("err")).status().unwrap().success());
    assert_eq!(into(&home, "both", &["--no-auto-source"], &script), "one\ntwo\nthree\n");
    assert_eq!(runs(&home), 1);
}

/// Nobody sees an order there, and those who come later are told the streams apart.
#[test]
fn a_cache_that_was_warmed_into_the_void_serves_everybody() {
    let home = Home::new();
    let script = format!("{COUNT}echo out; echo err >&2");
    let mut command = home.command(&words(&["--no-auto-source"], &script));
    assert!(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    exec(&home, &["--no-auto-source"], &script).said(0, "out\n", "err\n");
    assert_eq!(runs(&home), 1);
}

#[test]
fn what_was_recorded_as_one_stream_is_run_again_for_two_places() {
    for store in ["sqlite:x.db", "file:answers", "dir:answers"] {
        let home = Home::new();
        let flags = ["-v", "--no-auto-source", "--store", store];
        let script = format!("{COUNT}echo out; echo err >&2");
        let told = into(&home, "both", &flags, &script);
        assert_eq!(told, "recoup: miss: no entry for this key\nout\nerr\n", "{store}");
        let joined = "stdout and stderr were recorded as one stream";
        let explained = [&["explain"][..], &words(&flags[1..], &script)].concat();
        home.run(&explained).expect(0);
        let told = exec(&home, &[&flags[..], &["--explain"]].concat(), &script);
        // Not every store keeps what is known of an entry: there it is found out when it is read.
        if store.starts_with("sqlite") {
            let explained = format!("recoup:   {joined}, but now go to different places\n");
            assert!(told.stderr.contains(&explained), "{told:?}");
        }
        assert!(told.text() == "out\n" && told.stderr.ends_with("err\n"), "{store}: {told:?}");
        assert_eq!(runs(&home), 2, "{store}");
        // What tells them apart serves everybody.
        exec(&home, &flags[1..], &script).said(0, "out\n", "err\n");
        let told = into(&home, "both", &flags[1..], &script);
        assert!(told.contains("out\n") && told.contains("err\n"), "{store}: {told}");
        assert_eq!(runs(&home), 2, "{store}");
    }
}

#[test]
fn output_arrives_while_the_command_runs() {
    let home = Home::new();
    let script = "echo first; until [ -e ../go ]; do sleep 0.01; done; echo second";
    let mut child = home.command(&words(&[], script)).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "first\n");
    File::create(home.path("go")).unwrap();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "first\nsecond\n");
    assert!(child.wait().unwrap().success());
}

/// Ends by SIGPIPE, as the command itself would.
fn one_line_is_enough(mut command: Command) -> Option<i32> {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 2];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    child.wait().unwrap().signal()
}

#[test]
fn a_reader_that_leaves_ends_the_command() {
    let home = Home::new();
    assert_eq!(one_line_is_enough(home.command(&["exec", "--", "yes"])), Some(13));
    home.run(&["exec", "--only-if-cached", "--", "yes"]).expect(124);
}

#[test]
fn a_reader_that_leaves_a_replay_ends_it() {
    let home = Home::new();
    let script = "yes | head -c 1000000";
    exec(&home, &[], script).expect(0);
    assert_eq!(one_line_is_enough(home.command(&words(&["--only-if-cached"], script))), Some(13));
}

#[test]
fn a_disk_that_is_full_is_told() {
    let home = Home::new();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let script = "yes | head -c 100000";
    let output = finish(home.command(&words(&[], script)).stdout(full())).expect(125);
    assert!(output.stderr.contains("recoup: error: the command's output"), "{}", output.stderr);
    exec(&home, &[], script).expect(0);
    let output = finish(home.command(&words(&[], script)).stdout(full())).expect(125);
    assert!(output.stderr.contains("recoup: error: writing to stdout"), "{}", output.stderr);
}

#[test]
fn what_a_command_leaves_behind_is_not_waited_for() {
    let home = Home::new();
    let script = format!("{COUNT}sleep 60 & echo $! > ../pid; echo done");
    let output = exec(&home, &[], &script).expect(0);
    assert_eq!(output.text(), "done\n");
    assert_eq!(
        output.stderr,
        "recoup: not cached: a background process of the command still holds its output open\n"
    );
    let pid = fs::read_to_string(home.path("pid")).unwrap();
    assert!(Command::new("kill").arg(pid.trim()).status().unwrap().success());
}

#[test]
fn what_a_command_leaves_behind_may_finish_its_sentence() {
    let home = Home::new();
    for _ in 0..2 {
        let script = format!("{COUNT}(sleep 0.3; echo late) & echo early");
        exec(&home, &[], &script).said(0, "early\nlate\n", "");
    }
    assert_eq!(runs(&home), 1);
}
