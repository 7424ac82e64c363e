//! `recoup early-exit race`: who wins, and what comes out.

use serde_json::json;

use super::{early_exit, with_stdin};
use crate::support::Home;

/// `race SESSION ARGS -- sh -c SCRIPT --- sh -c SCRIPT …`
pub(super) fn race<'a>(session: &'a str, args: &[&'a str], scripts: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["race", session];
    all.extend(args);
    for (n, script) in scripts.iter().enumerate() {
        all.extend([if n == 0 { "--" } else { "---" }, "sh", "-c", script]);
    }
    all
}

#[test]
fn the_first_to_succeed_wins_and_its_output_is_ours() {
    let home = Home::new();
    let scripts = ["sleep 60; echo slow", "echo fast; echo aside >&2", "exit 1"];
    let output = early_exit(&home, &race("s", &[], &scripts)).expect(0);
    assert_eq!((output.text().as_str(), output.stderr.as_str()), ("fast\n", "aside\n"));
    let output = early_exit(&home, &["read-winner", "s", "--json"]).expect(0);
    assert_eq!(
        output.json(),
        json!({"session_id": "s", "winner_agent": "2-sh", "result": "fast\n"})
    );
    let status = early_exit(&home, &["status", "s", "--json"]).expect(0).json();
    assert_eq!(status["registered_agents"], json!(["1-sh", "2-sh", "3-sh"]));
}

#[test]
fn a_failure_that_is_faster_does_not_win() {
    let home = Home::new();
    let scripts = ["echo no; exit 1", "sleep 0.5; echo yes"];
    assert_eq!(early_exit(&home, &race("s", &[], &scripts)).expect(0).text(), "yes\n");
}

#[test]
fn when_all_fail_there_is_a_line_on_each() {
    let home = Home::new();
    let mut args = race("s", &[], &["echo first; echo why >&2; exit 3", "kill -9 $$"]);
    args.extend(["---", "no-such-program", "---", "/"]);
    let output = early_exit(&home, &args).expect(1);
    assert_eq!(output.text(), "");
    insta::assert_snapshot!(output.stderr, @"
    recoup: warning: 3-no-such-program: can't start no-such-program: command not found
    recoup: warning: 4-_: can't start /: Permission denied (os error 13)
    recoup: all commands failed
    recoup:   1-sh: exit 3: why
    recoup:   2-sh: ended by signal 9
    recoup:   3-no-such-program: not started
    recoup:   4-_: not started
    ");
    early_exit(&home, &["check", "s"]).expect(0);
}

#[test]
fn a_command_that_does_not_exist_is_named_though_another_wins() {
    let home = Home::new();
    let mut args = race("s", &[], &["echo yes"]);
    args.extend(["---", "./bin/clade", "-p", "review"]);
    let output = early_exit(&home, &args).expect(0);
    assert_eq!(output.text(), "yes\n");
    let told = "recoup: warning: 2-clade: can't start ./bin/clade: command not found\n";
    assert_eq!(output.stderr, told);
}

#[test]
fn a_session_that_is_won_runs_nothing() {
    let home = Home::new();
    with_stdin(&home, &["signal", "s", "a", "--result", "-"], "theirs").expect(0);
    let output = early_exit(&home, &race("s", &[], &["touch ran; echo ours"])).expect(0);
    assert_eq!(output.text(), "theirs");
    assert!(output.stderr.contains("a has already won this session at 20"), "{}", output.stderr);
    assert!(output.stderr.contains("nothing was run"), "{}", output.stderr);
    assert!(output.stderr.contains("early-exit cleanup s"), "{}", output.stderr);
    assert!(!home.project().join("ran").exists());
    early_exit(&home, &["cleanup", "s"]).expect(0);
    assert_eq!(early_exit(&home, &race("s", &[], &["echo ours"])).expect(0).text(), "ours\n");
}

#[test]
fn a_winner_elsewhere_that_never_has_a_result_does_not_hold_us_up_for_ever() {
    let home = Home::new();
    early_exit(&home, &["signal", "s", "dead", "--lease", "1s"]).expect(0);
    assert_eq!(early_exit(&home, &race("s", &[], &["echo ours"])).expect(0).text(), "ours\n");
    let winner = early_exit(&home, &["check", "s", "--json"]).expect(1).json();
    assert_eq!(winner["winner_agent"], json!("1-sh"));
}

#[test]
fn its_time_may_be_limited() {
    let home = Home::new();
    let output = early_exit(&home, &race("s", &["--timeout", "200ms"], &["sleep 60"]));
    assert!(output.expect(124).stderr.contains("in time"));
    for time in ["x", "60", "1.5", "-1"] {
        for flag in ["--timeout", "--grace"] {
            let words = format!("{flag}: ");
            early_exit(&home, &["race", "s", flag, time, "--", "true"]).expect_usage(&words);
        }
        early_exit(&home, &["signal", "s", "--lease", time]).expect_usage("--lease: ");
    }
    early_exit(&home, &["race", "s", "--"]).expect_usage("COMMAND");
    early_exit(&home, &["race", "s", "--", "a", "---"]).expect_usage("a command is empty");
    early_exit(&home, &["race", "s", "--", "---", "a"]).expect_usage("a command is empty");
}

#[test]
fn large_output_of_all_is_taken_down_and_the_winners_comes_out_whole() {
    let home = Home::new();
    let scripts = ["yes 1234567 | head -c 20000000", "yes | head -c 40000000; sleep 60"];
    let output = early_exit(&home, &race("s", &[], &scripts)).expect(0);
    assert_eq!(output.stdout.len(), 20_000_000);
    assert!(output.stdout.chunks(8).all(|line| line == b"1234567\n"));
    // Too large to be shared, which is said; ours it is all the same.
    assert!(output.stderr.contains("not shared"), "{}", output.stderr);
    early_exit(&home, &["check", "s"]).expect(0);
    let scripts = ["yes 1234567 | head -c 2000000"];
    let output = early_exit(&home, &race("s", &[], &scripts)).expect(0);
    early_exit(&home, &["read-winner", "s"]).expect(0);
    assert_eq!((output.stdout.len(), output.stderr.as_str()), (2_000_000, ""));
}

#[test]
fn output_with_a_secret_is_ours_and_nobody_elses() {
    let home = Home::new();
    let script = r#"echo '{"password": "secret123"}'"#;
    let output = early_exit(&home, &race("s", &[], &[script])).expect(0);
    assert_eq!(output.text(), "{\"password\": \"secret123\"}\n");
    assert!(output.stderr.contains("Secret patterns") && !output.stderr.contains("secret123"));
    early_exit(&home, &["check", "s"]).expect(0);
}

#[test]
fn a_command_reads_nothing_and_what_it_leaves_behind_holds_nobody_up() {
    let home = Home::new();
    let args = race("s", &[], &["cat; sleep 60 & echo $!"]);
    let output = with_stdin(&home, &args, "never read").expect(0);
    let left: i32 = output.text().trim().parse().unwrap();
    let left = rustix::process::Pid::from_raw(left).unwrap();
    rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn one_of_ours_takes_the_place_of_a_winner_that_never_has_a_result() {
    let home = Home::new();
    let mut race = super::command(&home, &race("s", &[], &["sleep 0.5; echo ours", "sleep 60"]));
    let race = race.stdout(std::process::Stdio::piped()).spawn().unwrap();
    super::until("it has begun", || early_exit(&home, &["status"]).text() == "s\n");
    early_exit(&home, &["signal", "s", "dead", "--lease", "2s"]).expect(0);
    let ended = race.wait_with_output().unwrap();
    assert!(ended.status.success());
    assert_eq!(ended.stdout, b"ours\n");
    let winner = early_exit(&home, &["check", "s", "--json"]).expect(1).json();
    assert_eq!(winner["winner_agent"], json!("1-sh"));
}

#[test]
fn who_exits_first_wins_though_a_child_holds_its_stream_open() {
    let home = Home::new();
    let scripts = ["echo A; sleep 30 &", "sleep 1; echo B"];
    assert_eq!(early_exit(&home, &race("s", &[], &scripts)).expect(0).text(), "A\n");
    // Also when the time is up meanwhile.
    let args = race("t", &["--timeout", "500ms"], &scripts);
    assert_eq!(early_exit(&home, &args).expect(0).text(), "A\n");
}

#[test]
fn output_without_room_puts_one_out_of_the_race_and_not_the_others() {
    let home = Home::new();
    let scripts = ["yes | head -c 3000000; sleep 0.2", "sleep 1; echo B"];
    let run = |session: &'static str, scripts: &[&'static str]| {
        let mut command = super::command(&home, &race(session, &[], scripts));
        crate::support::finish(command.env("TMPDIR", home.path("missing")))
    };
    let output = run("s", &scripts).expect(0);
    assert_eq!(output.text(), "B\n");
    let output = run("t", &scripts[..1]).expect(1);
    assert!(output.stderr.contains("1-sh: buffering a command's output"), "{}", output.stderr);
}
