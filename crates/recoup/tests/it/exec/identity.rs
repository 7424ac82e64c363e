//! What makes two commands the same, and what makes an old answer untrue.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use super::{COUNT, exec, runs, words};
use crate::support::{Home, finish};

#[test]
fn a_source_that_changes_makes_it_run_again() {
    let home = Home::new();
    home.write("src/a.rs", "one");
    let flags = ["--source", "src/**/*.rs"];
    let script = format!("{COUNT}cat src/*.rs");
    exec(&home, &flags, &script).said(0, "one", "");
    exec(&home, &flags, &script).said(0, "one", "");
    home.write("src/a.rs", "two");
    exec(&home, &flags, &script).said(0, "two", "");
    home.write("src/b.rs", " three");
    exec(&home, &flags, &script).said(0, "two three", "");
    home.write("src/b.txt", "no source");
    exec(&home, &flags, &script).said(0, "two three", "");
    assert_eq!(runs(&home), 3);
}

#[test]
fn a_source_that_changes_meanwhile_keeps_the_result_out() {
    let home = Home::new();
    home.write("a.rs", "one");
    let script = format!("{COUNT}cat a.rs; echo more >> a.rs");
    let output = exec(&home, &["--source", "a.rs"], &script).expect(0);
    assert_eq!(output.text(), "one");
    assert_eq!(
        output.stderr,
        "recoup: not cached: the source a.rs has changed since the work began\n"
    );
    exec(&home, &["--source", "a.rs"], &script).expect(0);
    assert_eq!(runs(&home), 2);
}

#[test]
fn arguments_extras_and_sources_count() {
    let home = Home::new();
    home.write("a", "");
    let more = format!("{COUNT}:");
    let variants: [(&[&str], &str); 6] = [
        (&[], COUNT),
        (&[], &more),
        (&["--key-extra", "v1"], COUNT),
        (&["--key-extra", ""], COUNT),
        (&["--source", "a"], COUNT),
        (&["--env", "X"], COUNT),
    ];
    for (flags, script) in variants {
        exec(&home, flags, script).expect(0);
        exec(&home, flags, script).expect(0);
    }
    assert_eq!(runs(&home), variants.len());
}

#[test]
fn only_variables_that_were_named_count_and_none_is_stored() {
    let home = Home::new();
    let with = |value: Option<&str>, flags: &[&str]| {
        let mut command = home.command(&words(flags, COUNT));
        value.map(|value| command.env("MODEL", value));
        finish(&mut command).expect(0);
    };
    for value in [None, Some(""), Some("opus-in-the-clear"), Some("haiku")] {
        with(value, &["--env", "MODEL"]);
        with(value, &["--env", "MODEL"]);
    }
    assert_eq!(runs(&home), 4);
    with(Some("one"), &[]);
    with(Some("two"), &[]);
    assert_eq!(runs(&home), 5);
    home.checkpoint();
    let db = fs::read(home.db()).unwrap();
    assert!(!db.windows(17).any(|part| part == b"opus-in-the-clear"));
}

#[test]
fn the_directory_counts() {
    let home = Home::new();
    fs::create_dir(home.project().join("sub")).unwrap();
    fs::write(home.project().join("recoup.toml"), "").unwrap();
    let script = "echo run >> $HOME/runs";
    for dir in ["project", "project/sub"] {
        for _ in 0..2 {
            home.run_in(&home.path(dir), &words(&[], script)).expect(0);
        }
    }
    assert_eq!(runs(&home), 2);
}

fn git(dir: &Path, args: &[&str]) {
    let name = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let status = Command::new("git").args(name).args(args).current_dir(dir).status().unwrap();
    assert!(status.success(), "git {args:?}");
}

#[test]
fn worktrees_and_clones_share() {
    let home = Home::new();
    home.write("sub/a.rs", "one");
    git(&home.project(), &["init", "-q"]);
    git(&home.project(), &["add", "."]);
    git(&home.project(), &["commit", "-q", "-m", "first"]);
    git(&home.project(), &["worktree", "add", "-q", "../tree"]);
    git(&home.project(), &["clone", "-q", ".", "../clone"]);
    let script = "echo run >> $HOME/runs; cat a.rs";
    let run = |dir: &str| home.run_in(&home.path(dir), &words(&["--source", "*.rs"], script));
    for dir in ["project/sub", "tree/sub", "clone/sub"] {
        run(dir).said(0, "one", "");
    }
    assert_eq!(runs(&home), 1);
    fs::write(home.path("clone/sub/a.rs"), "two").unwrap();
    run("clone/sub").said(0, "two", "");
    assert_eq!(runs(&home), 2);
}

fn tool(script: &[&str]) {
    assert!(Command::new(script[0]).args(&script[1..]).status().unwrap().success());
}

#[test]
fn another_executable_is_another_command() {
    let home = Home::new();
    let path = home.path("tool");
    let path = path.to_str().unwrap();
    // By other processes: a file that one of our own has open for writing can't be run.
    tool(&["cp", "/bin/echo", path]);
    tool(&["touch", "-d", "2001-01-01", path]);
    let run = |flags: &[&str]| home.run(&[&["exec", "-v"], flags, &["--", path, "x"]].concat());
    let missed = "recoup: miss: there is no entry\n";
    run(&[]).said(0, "x\n", missed);
    run(&[]).said_by_a_hit("x\n");
    tool(&["touch", "-d", "2001-01-02", path]);
    run(&[]).said(0, "x\n", missed);
    // The same file by another name may do another thing.
    let link = home.path("link");
    tool(&["ln", "-s", path, link.to_str().unwrap()]);
    home.run(&["exec", "-v", "--", link.to_str().unwrap(), "x"]).said(0, "x\n", missed);
}

#[test]
fn a_bare_name_is_looked_for_along_the_path() {
    let home = Home::new();
    let (one, two) = (home.path("one"), home.path("two"));
    for dir in [&one, &two] {
        fs::create_dir(dir).unwrap();
        tool(&["cp", "/bin/echo", dir.join("tool").to_str().unwrap()]);
    }
    let run = |path: &str| finish(home.command(&["exec", "-v", "tool", "x"]).env("PATH", path));
    let paths = [format!("{}", one.display()), format!("{}:{}", two.display(), one.display())];
    for path in &paths {
        run(path).said(0, "x\n", "recoup: miss: there is no entry\n");
    }
    for path in &paths {
        run(path).said_by_a_hit("x\n");
    }
}

#[test]
fn arguments_are_any_bytes() {
    let home = Home::new();
    let odd = OsStr::from_bytes(b"a\xff\nb");
    let args = [OsStr::new("exec"), OsStr::new("-v"), OsStr::new("printf"), OsStr::new("%s"), odd];
    for said in ["recoup: miss: there is no entry", "recoup: hit: "] {
        let output = home.run(&args).expect(0);
        assert_eq!(output.stdout, odd.as_bytes());
        assert!(output.stderr.starts_with(said), "{}", output.stderr);
    }
}
