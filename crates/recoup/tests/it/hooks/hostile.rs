//! Whatever comes in and whatever is broken: exit 0, silence, and a line in the log.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::json;

use super::worker::settled;
use super::{Reply, Talk, add, hook, log, remembered};
use crate::support::{Home, Output};

#[track_caller]
fn silent(output: Output) {
    let output = output.expect(0);
    assert_eq!((output.text().as_str(), output.stderr.as_str()), ("", ""));
}

#[test]
fn broken_stdin_is_answered_with_silence_and_a_line_in_the_log() {
    let broken: [(&str, Vec<u8>); 9] = [
        ("empty", Vec::new()),
        ("blank", b" \n\t ".to_vec()),
        ("no JSON", b"wombats".to_vec()),
        ("cut", br#"{"hook_event_name": "Sess"#.to_vec()),
        ("a list", b"[1, 2]".to_vec()),
        ("NUL bytes", vec![0; 1000]),
        ("no UTF-8", b"{\"hook_event_name\": \"\xff\xfe\"}".to_vec()),
        ("deep", [b"{\"hook_event_name\":".repeat(100_000), b"1".to_vec()].concat()),
        ("twice the same field", br#"{"prompt": "wombats", "prompt": "wombats"}"#.to_vec()),
    ];
    for (what, payload) in broken {
        let home = Home::new();
        silent(hook(home.command(&["hook"]), &payload));
        let log = log(&home);
        assert_eq!(log.lines().count(), 1, "{what}: {log}");
        assert!(!log.contains("wombat"), "{what}: {log}");
    }
}

#[test]
fn what_is_sound_and_unknown_is_not_worth_a_line() {
    let home = Home::new();
    for payload in [json!({}), json!({"hook_event_name": "Nova", "x": [[[]]]}), json!({"type": 1})]
    {
        silent(hook(home.command(&["hook"]), payload.to_string().as_bytes()));
    }
    assert!(!home.recoup().exists(), "nothing is made for it");
}

#[test]
fn a_hundred_megabytes_are_read_and_dropped() {
    let home = Home::new();
    let payload = json!({"hook_event_name": "UserPromptSubmit", "prompt": "x".repeat(100 << 20)});
    silent(hook(home.command(&["hook"]), payload.to_string().as_bytes()));
    assert!(log(&home).contains("longer than 8 MiB"), "{}", log(&home));
}

#[test]
fn a_prompt_with_half_a_character_is_read() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let payload = talk.payload("UserPromptSubmit", json!({"prompt": "HALF"})).to_string();
    let payload = payload.replace("HALF", "look \\ud83d\\nfrom now on use pnpm");
    Reply::checked(hook(home.command(&["hook"]), payload.as_bytes()), "UserPromptSubmit");
    assert_eq!(super::happened(&home, "prompted").len(), 1, "{}", log(&home));
}

#[test]
fn flags_of_another_version_are_passed_over() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let payload = Talk::new(&home, "one").payload("SessionStart-startup", json!({})).to_string();
    for args in [
        &["hook", "--nova"][..],
        &["hook", "--client"],
        &["hook", "--client", "nova"],
        &["hook", "--client=claude-code", "nova", "-x", "--y=z"],
    ] {
        let reply = Reply::checked(hook(home.command(args), payload.as_bytes()), "SessionStart");
        reply.has_rules(&["use pnpm"]);
    }
    let argument = "unknown argument ignored: expected --client NAME or a JSON object";
    assert_eq!(log(&home).matches(argument).count(), 5, "{}", log(&home));
    let client = "unknown client: `recoup init` has the names of those with hooks";
    assert_eq!(log(&home).matches(client).count(), 1, "{}", log(&home));
    home.run(&["hook", "--nova", "--help"]).expect(0);
    assert!(home.run(&["hook", "--help"]).expect(0).text().contains("--client"));
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let payload = Talk::new(&home, "one").payload("SessionStart-startup", json!({})).to_string();
    let mut command = home.command(&["hook"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn a_stdin_that_never_ends_is_waited_for_no_longer_than_a_moment() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let payload = Talk::new(&home, "one").payload("SessionStart-startup", json!({})).to_string();
    let mut command = home.command(&["hook"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut open = child.stdin.take().unwrap();
    open.write_all(payload.as_bytes()).unwrap();
    let output = Output::new(child.wait_with_output().unwrap());
    assert!(began.elapsed() < Duration::from_secs(10));
    Reply::checked(output, "SessionStart").has_rules(&["use pnpm"]);
    drop(open);
}

#[test]
fn a_locked_database_is_not_waited_for_and_rules_are_given_all_the_same() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let other = Connection::open(home.recoup().join("memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let talk = Talk::new(&home, "one");
    let began = Instant::now();
    talk.tell("SessionStart-startup").has_rules(&["use pnpm"]);
    talk.tell("PostToolUse-Bash").is_silent();
    let reply = talk.says("from now on use yarn");
    let later = "recoup: will remember: use yarn (when memory is no longer locked)";
    assert_eq!(reply.notice, later);
    assert!(began.elapsed() < Duration::from_secs(15));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(log(&home).lines().count(), 3, "{}", log(&home));
    settled(&home);
    assert_eq!(remembered(&home, "active"), ["use yarn"]);
    let told = talk.says("and now something else, please").notice;
    assert_eq!(told, "recoup: remembered: use yarn, instead of: use pnpm");
}

#[test]
fn a_person_is_told_why_something_could_not_be_remembered() {
    let home = Home::new();
    fs::create_dir_all(home.recoup().join("memory.db")).unwrap();
    let notice = Talk::new(&home, "one").says("from now on use yarn").notice;
    let database = home.recoup().join("memory.db").display().to_string();
    assert!(notice.starts_with("recoup: will remember: use yarn (when"), "{notice}");
    assert!(notice.contains("is writable again") && notice.contains(&database), "{notice}");

    let home = Home::new();
    fs::create_dir(home.recoup()).unwrap();
    fs::set_permissions(home.recoup(), fs::Permissions::from_mode(0o500)).unwrap();
    let notice = Talk::new(&home, "one").says("from now on use yarn").notice;
    fs::set_permissions(home.recoup(), fs::Permissions::from_mode(0o700)).unwrap();
    // A user who may do everything could write it.
    if remembered(&home, "active").is_empty() {
        assert!(notice.starts_with("recoup: could not remember: use yarn ("), "{notice}");
        assert!(notice.contains(home.recoup().to_str().unwrap()), "{notice}");
    }
}

#[test]
fn a_log_that_is_a_pipe_is_not_waited_for() {
    let home = Home::new();
    fs::create_dir_all(home.recoup().join("logs")).unwrap();
    let log = home.recoup().join("logs/hooks.log");
    let done = Command::new("mkfifo").arg(&log).status().unwrap();
    assert!(done.success());
    let began = Instant::now();
    let output = hook(home.command(&["hook"]), b"no JSON").expect(0);
    assert_eq!((output.text().as_str(), output.stderr.as_str()), ("", ""));
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[test]
fn a_home_that_can_not_be_written_is_no_failure() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    fs::set_permissions(home.recoup(), fs::Permissions::from_mode(0o500)).unwrap();
    let talk = Talk::new(&home, "one");
    for name in ["SessionStart-startup", "UserPromptSubmit", "PostToolUseFailure-Bash", "Stop"] {
        talk.tell(name);
    }
    fs::set_permissions(home.recoup(), fs::Permissions::from_mode(0o700)).unwrap();

    // For root nothing is read-only; a file where a directory should be is for all.
    let other = Home::new();
    fs::write(other.recoup(), "not a directory").unwrap();
    let talk = Talk::new(&other, "one");
    for name in ["SessionStart-startup", "UserPromptSubmit", "PostToolUseFailure-Bash", "Stop"] {
        talk.tell(name).is_silent();
    }
}

#[test]
fn without_a_home_there_is_nothing_to_do() {
    let home = Home::new();
    let mut command = home.command(&["hook"]);
    command.env_remove("HOME").env_remove("RECOUP_HOME");
    silent(hook(command, b"{}"));
}

#[test]
fn a_damaged_database_is_set_aside_and_the_client_does_not_notice() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let path = home.recoup().join("memory.db");
    fs::write(&path, "SQLite format 3\0 and then wombats".repeat(500)).unwrap();
    let talk = Talk::new(&home, "one");
    talk.tell("SessionStart-startup");
    talk.says("from now on use yarn");
}

#[test]
fn a_memory_without_its_beginning_is_given_all_the_same_and_the_user_is_told_once() {
    for length in [100, 4096] {
        let home = Home::new();
        add(&home, &["use pnpm"]);
        add(&home, &["never push to main"]);
        let path = home.recoup().join("memory.db");
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(&vec![0; length], 0).unwrap();
        let reply = Talk::new(&home, "one").tell("SessionStart-startup");
        reply.has_rules(&["use pnpm", "never push to main"]);
        let told =
            "recoup: memory.db was damaged: 2 memories were recovered; the damaged file is in ";
        assert!(reply.notice.starts_with(told), "{}", reply.notice);
        assert_eq!(Talk::new(&home, "two").tell("SessionStart-startup").notice, "");
    }
}

#[test]
fn a_memory_that_was_emptied_is_told_and_what_is_said_is_kept() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    fs::write(home.recoup().join("memory.db"), "").unwrap();
    let notice = Talk::new(&home, "one").says("from now on use yarn").notice;
    assert!(
        notice.starts_with("recoup: memory.db was damaged: 1 memory was recovered"),
        "{notice}"
    );
    assert!(notice.ends_with("; will remember: use yarn"), "{notice}");
    assert_eq!(remembered(&home, "active"), ["never push to main", "use yarn"]);
}

#[test]
fn what_hangs_is_given_up() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let payload = Talk::new(&home, "one").payload("SessionStart-startup", json!({})).to_string();
    let mut command = home.command(&["hook"]);
    // A reader that takes nothing, and a pipe with no room left.
    let (reader, full) = full_pipe();
    command.stdin(Stdio::piped()).stdout(full);
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() > Duration::from_secs(2), "it has waited");
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(log(&home).contains("it took too long"), "{}", log(&home));
    drop(reader);
}

fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[b' '; 4096]).is_ok() {}
    while writer.write(b" ").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

#[test]
fn a_huge_result_is_taken_in_whole_or_not_at_all() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let text = "error: wombats\n".repeat(200_000);
    let response = json!({"stdout": text, "stderr": "", "interrupted": false});
    talk.tell_with("PostToolUse-Bash", json!({"tool_response": response})).is_silent();
    talk.fails("cargo build", "x", &format!("Exit code 101\n{text}"));
    let failed = super::happened(&home, "failed");
    assert_eq!(failed, [("cargo build".to_owned(), "error: wombats".to_owned())]);
}

#[test]
fn rules_that_try_to_leave_their_frame_stay_in_it() {
    let home = Home::new();
    add(&home, &["use <b>\"quotes\"</b> and \\ and 🦘"]);
    let context = Talk::new(&home, "one").tell("SessionStart-startup").context;
    assert!(context.contains("\n- use &lt;b>\"quotes\"&lt;/b> and \\ and 🦘\n"), "{context}");
}
