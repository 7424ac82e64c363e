//! What the command reads.

use std::fs::File;
use std::process::Stdio;

use super::{COUNT, runs, words};
use crate::support::{Home, finish};

#[test]
fn stdin_counts_when_asked_for() {
    let home = Home::new();
    let large = "x".repeat(3 << 20);
    let script = format!("{COUNT}cat");
    for (text, expected) in [("one", 1), ("two", 2), ("", 3), (&large, 4), ("one", 4)] {
        for _ in 0..2 {
            let output = home.run_with_stdin(&words(&["--stdin"], &script), text.as_bytes());
            output.expect_plain(text);
        }
        assert_eq!(runs(&home), expected);
    }
}

impl crate::support::Output {
    #[track_caller]
    fn expect_plain(self, text: &str) {
        let this = self.expect(0);
        assert_eq!(this.stderr, "");
        assert!(this.stdout == text.as_bytes(), "{} bytes", this.stdout.len());
    }
}

#[test]
fn input_is_for_reading_and_needs_no_temporary_file() {
    let home = Home::new();
    let script = "cat; { echo x >&0; } 2> /dev/null || echo ' for reading'";
    let mut command = home.command(&words(&["--stdin"], script));
    command.env("TMPDIR", home.path("not-there")).stdin(File::open("/proc/version").unwrap());
    let output = finish(&mut command).expect(0);
    assert!(output.text().ends_with(" for reading\n"), "{output:?}");
}

#[test]
fn a_stdin_that_is_not_asked_for_is_left_out_and_that_is_told() {
    let home = Home::new();
    let script = format!("{COUNT}cat; echo end");
    let notice = "recoup: stdin is not passed to the command; use --stdin to pass it and make it part of the key\n";
    for _ in 0..2 {
        let file = home.write("input", "something");
        let mut command = home.command(&words(&[], &script));
        finish(command.stdin(File::open(file).unwrap())).said(0, "end\n", notice);
    }
    assert_eq!(runs(&home), 1);
}

#[test]
fn a_stdin_that_has_nothing_is_no_news() {
    let home = Home::new();
    let empty = home.write("empty", "");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(writer);
    for stdin in [Stdio::null(), File::open(empty).unwrap().into(), reader.into()] {
        finish(home.command(&words(&[], "cat; echo end")).stdin(stdin)).said(0, "end\n", "");
    }
    let closed = format!("exec {} exec -- sh -c 'cat; echo end' <&-", crate::support::RECOUP);
    finish(&mut home.prepared("sh", &["-c", &closed])).said(0, "end\n", "");
}
