//! Every way in which a client may start us. An older one drops the arguments; none may ever be
//! answered with exit code 2, which erases a prompt or blocks a tool.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use crate::support::{Home, Output, finish};

const START: &[u8] = include_bytes!("../../fixtures/claude-code/SessionStart-startup.json");

fn bare(home: &Home, stdin: &[u8]) -> Output {
    home.run_with_stdin(&[], stdin)
}

#[test]
fn a_bare_call_with_an_event_on_stdin_is_a_hook() {
    let home = Home::new();
    home.run(&["memory", "add", "--universal", "never use var in JavaScript"]).expect(0);
    let said = bare(&home, START).expect(0);
    assert!(said.text().contains("ever use var in JavaScript"), "{}", said.text());
    assert_eq!(said.stderr, "");
    assert_eq!(home.run_with_stdin(&["hook"], START).expect(0).text(), said.text());
}

#[test]
fn a_bare_call_exits_with_0_whatever_is_on_stdin() {
    let home = Home::new();
    let large = vec![b'x'; 9 << 20];
    for stdin in [&b"{"[..], b"not JSON", b"\xff\xfe", b"\n", b"[]", &large] {
        let output = bare(&home, stdin).expect(0);
        assert_eq!((output.text(), output.stderr), (String::new(), String::new()));
    }
}

#[test]
fn a_bare_call_without_anything_on_stdin_is_helped_and_never_exits_with_2() {
    let home = Home::new();
    for stdin in [Stdio::null(), Stdio::piped()] {
        let output = finish(home.command::<&str>(&[]).stdin(stdin)).expect(1);
        assert_eq!(output.text(), "", "a client would give it to the model");
        assert!(output.stderr.contains("Usage: recoup <COMMAND>"), "{}", output.stderr);
    }
    let closed = ["-c", "exec \"$0\" <&-", crate::support::RECOUP];
    finish(&mut home.prepared("sh", &closed)).expect(1);
    assert!(!home.recoup().exists(), "nothing was begun");
}

#[test]
fn no_form_of_a_hook_exits_with_2() {
    let home = Home::new();
    let odd = OsStr::from_bytes(b"\xff\xfe");
    let forms: [&[&OsStr]; 9] = [
        &[],
        &["hook".as_ref()],
        &["hook".as_ref(), "--unknown".as_ref()],
        &["hook".as_ref(), "--unknown=1".as_ref(), "more".as_ref()],
        &["hook".as_ref(), "--client".as_ref()],
        &["hook".as_ref(), "--client".as_ref(), "nobody".as_ref()],
        &["hook".as_ref(), odd],
        &["hook".as_ref(), "--client".as_ref(), odd],
        &["hook".as_ref(), "-h".as_ref(), "--unknown".as_ref()],
    ];
    let file = home.write("payload.json", START);
    fs::write(home.path("a-file"), "").unwrap();
    let odd_home = OsStr::from_bytes(b"/\xff/none").to_owned();
    let places = [
        Some(home.recoup().into_os_string()),
        None,
        Some("relative".into()),
        Some(odd_home),
        Some(home.path("a-file").into_os_string()),
    ];
    for args in forms {
        for place in &places {
            let mut command = home.command(args);
            command.stdin(fs::File::open(&file).unwrap()).env("RECOUP_STORE", "nothing");
            match place {
                Some(place) => command.env("RECOUP_HOME", place),
                None => command.env_remove("HOME").env_remove("RECOUP_HOME"),
            };
            finish(&mut command).expect(0);
        }
    }
}
