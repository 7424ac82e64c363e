//! What is in the way: no such command, no store, a secret, damage.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::{COUNT, exec, runs, words};
use crate::support::{Home, RECOUP, finish};

#[test]
fn a_command_that_is_not_there_or_can_not_be_run() {
    let home = Home::new();
    let plain = home.write("plain", "text").display().to_string();
    let cases = [
        ("no-such-command", 127, "command not found"),
        ("./no-such-command", 127, "command not found"),
        ("", 127, "command not found"),
        (".", 126, "not an executable file"),
        ("./", 126, "not an executable file"),
        (&plain, 126, "not an executable file"),
    ];
    for (name, code, why) in cases {
        home.run(&["exec", "--", name]).said(code, "", &format!("recoup: {name}: {why}\n"));
    }
}

#[test]
fn a_script_whose_interpreter_is_missing_is_not_there() {
    let home = Home::new();
    let script = home.path("script");
    let make = format!("printf '#!/no/such/interpreter\\n' > {0}; chmod +x {0}", script.display());
    assert!(home.prepared("sh", &["-c", &make]).status().unwrap().success());
    let output = home.run(&["exec", "--", script.to_str().unwrap()]).expect(127);
    assert!(output.stderr.starts_with("recoup: "), "{}", output.stderr);
}

#[test]
fn a_store_that_is_of_no_use_does_not_stop_the_command() {
    let home = Home::new();
    fs::create_dir_all(home.db()).unwrap();
    let output = exec(&home, &[], &format!("{COUNT}echo x")).expect(0);
    assert_eq!(output.text(), "x\n");
    assert_eq!(output.stderr.matches("recoup: warning: ").count(), 1, "{}", output.stderr);
}

#[test]
fn a_home_that_can_not_be_made_does_not_stop_the_command() {
    let home = Home::new();
    fs::write(home.recoup(), "in the way").unwrap();
    let output = exec(&home, &[], &format!("{COUNT}echo x")).expect(0);
    assert_eq!(output.text(), "x\n");
    assert_eq!(output.stderr.matches("recoup: warning: ").count(), 1, "{}", output.stderr);
    exec(&home, &["--only-if-cached"], COUNT).expect(124);
}

#[test]
fn a_secret_reaches_the_user_and_not_the_store() {
    let home = Home::new();
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    for _ in 0..2 {
        let script = format!("{COUNT}echo $T");
        let output = finish(home.command(&words(&[], &script)).env("T", &token)).expect(0);
        assert_eq!(output.text(), format!("{token}\n"));
        assert!(
            output.stderr.starts_with("recoup: not cached: it contains a secret ("),
            "{}",
            output.stderr
        );
        assert_eq!(output.stderr.lines().count(), 1);
    }
    assert_eq!(runs(&home), 2);
}

#[test]
fn the_value_of_a_credential_is_not_stored_whatever_it_looks_like() {
    let home = Home::new();
    let script = format!("{COUNT}echo the key is $SERVICE_API_KEY");
    for (value, kept) in [("correct horse 7 battery", false), ("", true)] {
        let mut command = home.command(&words(&["--env", "SERVICE_API_KEY"], &script));
        let output = finish(command.env("SERVICE_API_KEY", value)).expect(0);
        assert_eq!(output.text().trim_end(), format!("the key is {value}").trim_end());
        let told = "recoup: not cached: it contains a secret (environment-credential)\n";
        assert_eq!(output.stderr, if kept { "" } else { told });
    }
}

#[test]
fn without_a_home_or_a_directory_the_command_runs_all_the_same() {
    let home = Home::new();
    let words = words(&[], "echo x");
    let output = finish(home.command(&words).env_remove("HOME").env_remove("RECOUP_HOME"));
    assert_eq!(output.text(), "x\n");
    assert!(output.stderr.starts_with("recoup: warning: not cached: "), "{}", output.stderr);
    output.expect(0);
    let script = format!("mkdir gone; cd gone; rmdir ../gone; exec {RECOUP} exec -- echo x");
    let output = finish(&mut home.prepared("sh", &["-c", &script]));
    assert_eq!(output.text(), "x\n");
    assert!(output.stderr.contains("recoup: warning: not cached: "), "{}", output.stderr);
    output.expect(0);
    let without = finish(
        home.command(&["exec", "--only-if-cached", "echo"])
            .env_remove("HOME")
            .env_remove("RECOUP_HOME"),
    );
    without.expect(124);
}

#[test]
fn a_script_that_does_not_say_for_what_is_for_the_shell() {
    let home = Home::new();
    let make = "printf 'echo plain \"$0\" \"$1\"' > plain; chmod +x plain; \
                printf '#!/bin/sh\necho named \"$0\"' > named; chmod +x named";
    assert!(home.prepared("sh", &["-c", make]).status().unwrap().success());
    for flags in [&[][..], &["--tty"]] {
        for _ in 0..2 {
            let run = |words: &[&str]| home.run(&[&["exec"], flags, &["--"], words].concat());
            assert_eq!(run(&["./plain", "a b"]).expect(0).text().trim_end(), "plain ./plain a b");
            assert_eq!(run(&["./named"]).expect(0).text().trim_end(), "named ./named");
        }
    }
}

#[test]
fn an_entry_that_is_damaged_is_run_again() {
    let home = Home::new();
    for script in ["echo small", "head -c 2000000 /dev/urandom | od"] {
        let counted = format!("{COUNT}{script}");
        let first = exec(&home, &[], &counted).expect(0);
        let damage = "UPDATE entries SET body = x'00' WHERE body IS NOT NULL";
        home.sql().execute(damage, []).unwrap();
        home.sql().execute("UPDATE chunks SET data = x'00'", []).unwrap();
        let second = exec(&home, &[], &counted).expect(0);
        assert_eq!(second.stderr, "");
        assert_eq!(first.stdout.len(), second.stdout.len());
    }
    assert_eq!(runs(&home), 4);
}

#[test]
fn an_entry_that_is_no_transcript_is_run_again() {
    let home = Home::new();
    exec(&home, &[], COUNT).expect(0);
    let key = home.cache(&["ls", "--json"]).json()[0]["key"].as_str().unwrap().to_owned();
    let bodies = [
        "{\"v\":2,\"exit\":0,\"pieces\":[]}\n",
        "{\"v\":3,\"exit\":0,\"pieces\":[]}\n",
        "{\"v\":1,\"exit\":0,\"pieces\":[]}",
        "{\"v\":1,\"exit\":0,\"pieces\":[1]}\n",
        "{\"v\":1,\"exit\":0,\"pieces\":[]}\n ",
        "{\"v\":1,\"exit\":0,\"pieces\":[18446744073709551615,0,2]}\n ",
        "{\"v\":1,\"exit\":0,\"pieces\":[18446744073709551615,2]}\n ",
        "{\"v\":1,\"exit\":0,\"pieces\":[-1]}\n",
        "\n\n[]",
    ];
    for (runs_before, body) in (1..).zip(bodies) {
        assert_eq!(runs(&home), runs_before);
        // As a later version, or somebody else, might write it, checksum and all.
        home.cache(&["set", "--key", &key, "--condensed", body]).expect(0);
        exec(&home, &["--only-if-cached"], COUNT).expect(124);
        exec(&home, &[], COUNT).said(0, "", "");
        exec(&home, &[], COUNT).said(0, "", "");
    }
}

#[test]
fn a_source_whose_name_is_not_text_is_told_and_nothing_is_kept() {
    let home = Home::new();
    let odd = OsStr::from_bytes(b"src/odd-\xff");
    home.write("src/plain", "");
    fs::write(home.project().join(odd), "").unwrap();
    let script = format!("{COUNT}echo x");
    for (run, source) in (1..).zip([OsStr::new("src"), OsStr::new("src/*"), odd]) {
        let mut words: Vec<&OsStr> =
            words(&["--source", "SOURCE"], &script).into_iter().map(OsStr::new).collect();
        words[2] = source;
        let output = home.run(&words).expect(0);
        assert_eq!(output.text(), "x\n");
        assert!(output.stderr.starts_with("recoup: warning: not cached: the path "), "{output:?}");
        assert!(output.stderr.contains("is not UTF-8"), "{output:?}");
        assert_eq!(runs(&home), run);
    }
}

#[test]
fn with_more_sources_than_may_be_watched_the_command_runs_and_nothing_is_kept() {
    let home = Home::new();
    for name in ["src/a", "src/b", "src/c"] {
        home.write(name, "");
    }
    let script = format!("{COUNT}echo x");
    for _ in 0..2 {
        let mut command = home.command(&words(&["--source", "src"], &script));
        let output = finish(command.env("RECOUP_CACHE_MAX_SOURCE_FILES", "2")).expect(0);
        assert_eq!(output.text(), "x\n");
        assert!(output.stderr.contains("has more than 2 files"), "{}", output.stderr);
        assert!(output.stderr.contains("cache.max_source_files"), "{}", output.stderr);
    }
    assert_eq!(runs(&home), 2);
}
