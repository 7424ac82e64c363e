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
    let missed = "recoup: miss: no entry for this key\n";
    run(&[]).said(0, "x\n", missed);
    run(&[]).said_by_a_hit("x\n");
    tool(&["touch", "-d", "2001-01-02", path]);
    run(&[]).said_by_a_hit("x\n");
    tool(&["sh", "-c", "echo >> \"$0\"", path]);
    let replaced = format!("recoup: invalidated: the source {path} has changed\n");
    run(&[]).said(0, "x\n", &replaced);
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
        run(path).said(0, "x\n", "recoup: miss: no entry for this key\n");
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
    for said in ["recoup: miss: no entry for this key", "recoup: hit: "] {
        let output = home.run(&args).expect(0);
        assert_eq!(output.stdout, odd.as_bytes());
        assert!(output.stderr.starts_with(said), "{}", output.stderr);
    }
}

/// Writes an executable by another process, so that it can be run at once.
fn script(path: &Path, text: &str) {
    tool(&[
        "sh",
        "-c",
        "printf %s \"$2\" > \"$1\"; chmod +x \"$1\"",
        "sh",
        path.to_str().unwrap(),
        text,
    ]);
}

#[test]
fn a_program_replaced_with_equal_size_and_time_runs_again() {
    let home = Home::new();
    let (path, other) = (home.path("tool"), home.path("other"));
    script(&path, "#!/bin/sh\necho one\n");
    script(&other, "#!/bin/sh\necho two\n");
    for file in [&path, &other] {
        tool(&["touch", "-d", "2001-01-01", file.to_str().unwrap()]);
    }
    let run = || home.run(&["exec", "--", path.to_str().unwrap()]);
    run().said(0, "one\n", "");
    tool(&["cp", "-p", other.to_str().unwrap(), path.to_str().unwrap()]);
    run().said(0, "two\n", "");
    script(&other, "#!/bin/sh\necho new\n");
    tool(&["touch", "-d", "2001-01-01", other.to_str().unwrap()]);
    tool(&["mv", other.to_str().unwrap(), path.to_str().unwrap()]);
    run().said(0, "new\n", "");
}

#[test]
fn the_interpreter_of_a_script_counts() {
    for shebang in [
        "#!HOME/one/interpreter", "#!/usr/bin/env interpreter",
        "#!/usr/bin/env -S A=1 interpreter -x",
    ] {
        let home = Home::new();
        let (dir, tool_path) = (home.path("one"), home.path("tool"));
        fs::create_dir(&dir).unwrap();
        let interpreter = dir.join("interpreter");
        script(&interpreter, "#!/bin/sh\necho one\n");
        let shebang =
            shebang.replace("HOME", home.path("").to_str().unwrap().trim_end_matches('/'));
        script(&tool_path, &format!("{shebang}\n"));
        let path = format!("{}:/usr/bin:/bin", dir.display());
        let run = || {
            finish(home.command(&["exec", "--", tool_path.to_str().unwrap()]).env("PATH", &path))
        };
        run().said(0, "one\n", "");
        run().said(0, "one\n", "");
        script(&interpreter, "#!/bin/sh\necho two\n");
        run().said(0, "two\n", "");
    }
}

#[test]
fn the_program_behind_a_wrapper_counts() {
    let home = Home::new();
    let (one, two) = (home.path("one"), home.path("two"));
    for (dir, text) in [(&one, "one"), (&two, "two")] {
        fs::create_dir(dir).unwrap();
        script(&dir.join("my-tool"), &format!("#!/bin/sh\necho {text}\n"));
    }
    let in_path = |dir: &Path| format!("{}:/usr/bin:/bin", dir.display());
    let wrapped: [&[&str]; 4] = [
        &["env", "X=1", "my-tool"],
        &["timeout", "5", "my-tool"],
        &["nice", "-n", "1", "env", "my-tool"],
        &["sh", "-c", "cd . && my-tool 2>/dev/null"],
    ];
    for words in wrapped {
        let run = |dir: &Path| {
            let words = [&["exec", "--"], words].concat();
            finish(home.command(&words).env("PATH", in_path(dir)))
        };
        script(&one.join("my-tool"), "#!/bin/sh\necho one\n");
        run(&one).said(0, "one\n", "");
        run(&two).said(0, "two\n", "");
        script(&one.join("my-tool"), "#!/bin/sh\necho new\n");
        run(&one).said(0, "new\n", "");
    }
}

#[test]
fn files_among_the_arguments_are_watched() {
    let home = Home::new();
    home.write("lines.txt", "echo one\necho two\n");
    let commands: [(&[&str], &str); 9] = [
        (&["sh", "script.sh"], "script.sh"),
        (&["cat", "sub/f.txt"], "sub/f.txt"),
        (&["sed", "-n", "p", "--", "f.txt"], "f.txt"),
        (&["grep", "--file=words.txt", "lines.txt"], "words.txt"),
        (&["sh", "-c", "cat < in.txt; cat missing 2>/dev/null || true"], "in.txt"),
        (&["sh", "-c", "cat<glued.txt"], "glued.txt"),
        (&["sh", "-c", "echo \"$(cat inner.txt)\" > /dev/null; cat inner.txt"], "inner.txt"),
        (&["timeout", "9", "sh", "-c", "cat deep.txt"], "deep.txt"),
        (&["sed", "-fscript.sed", "lines.txt"], "script.sed"),
    ];
    for (command, file) in commands {
        let run = |flags: &[&str]| {
            home.run(&[&["exec", "-v"], flags, &["--"], command].concat()).expect(0)
        };
        let text = |number: &str| match file {
            "script.sed" => format!("s/echo/{number}/\n"),
            _ => format!("echo {number}\n"),
        };
        home.write(file, text("one"));
        let first = run(&[]);
        let watched = first.stderr.lines().find(|line| line.starts_with("recoup: watching "));
        assert!(watched.is_some_and(|line| line.contains(file)), "{}", first.stderr);
        assert!(!first.advised_sources);
        home.write(file, text("two"));
        let changed = run(&[]);
        assert_ne!(first.text(), changed.text(), "{command:?}");
        assert!(
            changed
                .stderr
                .starts_with(&format!("recoup: invalidated: the source {file} has changed\n"))
        );
        // Not wanted: then nobody looks at it.
        let unwatched = run(&["--no-auto-source"]);
        home.write(file, text("three"));
        assert_eq!(run(&["--no-auto-source"]).text(), unwatched.text());
    }
}

#[test]
fn a_file_that_the_command_itself_writes_is_named_with_the_remedy() {
    let home = Home::new();
    home.write("out.txt", "old");
    let words = ["--", "tee", "out.txt"];
    let output = home.run(&[&["exec"], &words[..]].concat()).expect(0);
    assert_eq!(
        output.stderr,
        "recoup: not cached: the source out.txt has changed while the command ran; if the \
         command only writes it, use --no-auto-source\n"
    );
    home.run(&[&["exec", "--no-auto-source"], &words[..]].concat()).said(0, "", "");
    home.run(&[&["exec", "-v", "--no-auto-source"], &words[..]].concat()).said_by_a_hit("");
}

#[test]
fn without_sources_a_command_belongs_to_its_checkout() {
    let home = Home::new();
    home.write("f.txt", "one");
    git(&home.project(), &["init", "-q"]);
    git(&home.project(), &["add", "."]);
    git(&home.project(), &["commit", "-q", "-m", "first"]);
    git(&home.project(), &["worktree", "add", "-q", "../tree"]);
    fs::write(home.path("tree/f.txt"), "two").unwrap();
    for (command, flags) in
        [(&["cat", "f.txt"][..], &[][..]), (&["sh", "-c", "cat *.txt"], &["--no-auto-source"])]
    {
        for (dir, text) in
            [("project", "one"), ("tree", "two"), ("project", "one"), ("tree", "two")]
        {
            home.run_in(&home.path(dir), &[&["exec"], flags, &["--"], command].concat())
                .said(0, text, "");
        }
    }
}

#[test]
fn a_command_without_sources_is_told_once_that_nothing_is_watched() {
    let home = Home::new();
    let advised = |flags: &[&str], script: &str| exec(&home, flags, script).advised_sources;
    assert!(!advised(&[], "exit 3"));
    assert!(advised(&[], "echo x"));
    assert!(!advised(&[], "echo x"));
    assert!(!advised(&["--refresh"], "echo x"));
    assert!(!advised(&["--no-auto-source"], "echo y"));
    home.write("a", "");
    assert!(!advised(&["--source", "a"], "echo x"));
}

#[test]
fn an_argument_that_becomes_a_file_makes_another_command() {
    let home = Home::new();
    home.write("a.txt", "a");
    let cope = home.path("cope");
    script(&cope, "#!/bin/sh\ncat \"$@\" 2>/dev/null || true\n");
    let run = || home.run(&["exec", "--", cope.to_str().unwrap(), "a.txt", "b.txt"]);
    run().said(0, "a", "");
    home.write("b.txt", "b");
    run().said(0, "ab", "");
}

#[test]
fn a_line_that_reads_a_file_before_it_writes_it_is_not_kept() {
    let home = Home::new();
    home.write("f.txt", "b\na\n");
    let output = exec(&home, &[], "sort f.txt > f.txt.new; mv f.txt.new f.txt").expect(0);
    assert!(output.stderr.contains("the source f.txt has changed"), "{}", output.stderr);
}

#[test]
fn a_prompt_behind_a_wrapper_is_no_shell_line() {
    let home = Home::new();
    let (dir, agent) = (home.path("bin"), home.path("bin/my-agent"));
    fs::create_dir(&dir).unwrap();
    script(&agent, "#!/bin/sh\necho answer\n");
    script(&dir.join("my-tail"), "#!/bin/sh\n");
    let path = format!("{}:/usr/bin:/bin", dir.display());
    let words = ["exec", "--", "timeout", "9", "my-agent", "-p", "ask my-tail for help"];
    let run = || finish(home.command(&words).env("PATH", &path));
    run().said(0, "answer\n", "");
    script(&dir.join("my-tail"), "#!/bin/sh\necho another\n");
    let again = finish(home.command(&[&["exec", "-v"], &words[1..]].concat()).env("PATH", &path));
    again.said_by_a_hit("answer\n");
}

#[test]
fn a_program_of_the_project_is_the_same_in_every_checkout() {
    let home = Home::new();
    home.write("src/a", "one");
    script(&home.project().join("run.sh"), "#!/bin/sh\ncat src/a\n");
    git(&home.project(), &["init", "-q"]);
    git(&home.project(), &["add", "."]);
    git(&home.project(), &["commit", "-q", "-m", "first"]);
    git(&home.project(), &["worktree", "add", "-q", "../tree"]);
    let words = ["exec", "-v", "--source", "src", "--", "./run.sh"];
    home.run(&words).said(0, "one", "recoup: miss: no entry for this key\n");
    home.run_in(&home.path("tree"), &words).said_by_a_hit("one");
}

#[test]
fn the_path_that_env_sets_leads_to_the_program() {
    let home = Home::new();
    fs::create_dir(home.path("bin")).unwrap();
    let tool_path = home.path("bin/my-tool");
    script(&tool_path, "#!/bin/sh\necho one\n");
    let path = format!("PATH={}:/usr/bin:/bin", home.path("bin").display());
    let run = || home.run(&["exec", "--", "env", &path, "my-tool"]);
    run().said(0, "one\n", "");
    script(&tool_path, "#!/bin/sh\necho two\n");
    run().said(0, "two\n", "");
}
