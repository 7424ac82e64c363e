//! Where `--output` goes: files, links, and what is open already.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{RESULT, condense};
use crate::support::{Home, RECOUP, finish};

/// A home with a result, and what is printed for it.
fn with_result() -> (Home, String) {
    let home = Home::new();
    home.write("result.json", RESULT);
    let printed = condense(&home, &["--input", "result.json"]).expect(0).text();
    (home, printed)
}

fn to(home: &Home, output: &str) -> crate::support::Output {
    condense(home, &["--input", "result.json", "--output", output])
}

fn shell(home: &Home, script: &str) {
    let output = finish(&mut home.prepared("bash", &["-c", script, RECOUP]));
    output.expect(0);
}

#[test]
fn an_open_descriptor_is_written_to_and_its_file_never_replaced() {
    let (home, printed) = with_result();
    let log = home.project().join("log");
    for (name, redirect) in [
        ("/dev/stdout", ">> log"),
        ("/dev/stdout", "> log"),
        ("/dev/fd/1", "> log"),
        ("/proc/self/fd/1", ">> log"),
        ("/dev/fd/3", "3> log >&3"),
        ("/proc/self/fd/7", "7>> log >&7"),
        ("link", "> log"),
    ] {
        if name == "link" {
            symlink("/dev/stdout", home.project().join("link")).unwrap();
        }
        fs::write(&log, if redirect.contains(">> ") { "old\n" } else { "" }).unwrap();
        let old = fs::read_to_string(&log).unwrap();
        let script = format!(
            "{{ echo h; \"$0\" condense --input result.json --output {name}; echo f; }} {redirect}"
        );
        shell(&home, &script);
        let wanted = format!("{old}h\n{printed}f\n");
        assert_eq!(fs::read_to_string(&log).unwrap(), wanted, "{name} {redirect}");
    }
}

#[test]
fn a_pipe_is_written_to_and_a_dash_is_stdout() {
    let (home, printed) = with_result();
    assert_eq!(to(&home, "/dev/stdout").expect(0).text(), printed);
    let output = to(&home, "-").expect(0);
    assert_eq!((output.text(), output.stderr.as_str()), (printed, ""));
    assert!(!home.project().join("-").exists());
    to(&home, "/dev/null").expect(0);
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn links_are_written_through_also_to_what_is_not_there_yet() {
    let (home, printed) = with_result();
    fs::create_dir(home.project().join("sub")).unwrap();
    symlink("sub/second", home.project().join("first")).unwrap();
    symlink("target", home.project().join("sub/second")).unwrap();
    let target = home.project().join("sub/target");
    for _ in 0..2 {
        to(&home, "first").expect(0);
        assert_eq!(fs::read_to_string(&target).unwrap(), printed);
        home.write("sub/target", "old");
    }
    assert!(home.project().join("first").is_symlink());
    assert!(home.project().join("sub/second").is_symlink());
    symlink("loop", home.project().join("loop")).unwrap();
    to(&home, "loop").expect_failure("cannot write loop: ");
}

#[test]
fn a_file_that_is_there_keeps_its_mode() {
    let (home, printed) = with_result();
    let file = home.project().join("short.json");
    for mode in [0o644, 0o640, 0o600, 0o755] {
        home.write("short.json", "old");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        to(&home, "short.json").expect(0);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, mode);
        assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    }
}

#[test]
fn what_can_not_be_written_is_named_and_nothing_else_is() {
    let (home, _) = with_result();
    fs::create_dir(home.project().join("dir")).unwrap();
    // Nobody may create files there, be it root.
    for (output, why) in
        [("no/such/file", ""), ("dir", ""), ("dir/", ""), ("new/", ""), ("/proc/new", "")]
    {
        let failed = to(&home, output);
        assert!(!failed.stderr.contains(".recoup-"), "{}", failed.stderr);
        failed.expect_failure(&format!("cannot write {output}: {why}"));
    }
}
