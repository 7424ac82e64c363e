//! What is in the way: no such command, no store, a secret, damage.

use std::fs;

use super::{COUNT, exec, runs, words};
use crate::support::{Home, finish};

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
            output.stderr.starts_with("recoup: not cached: there is a secret in it ("),
            "{}",
            output.stderr
        );
        assert_eq!(output.stderr.lines().count(), 1);
    }
    assert_eq!(runs(&home), 2);
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
