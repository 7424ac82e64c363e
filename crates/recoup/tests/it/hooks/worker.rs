//! What is slow happens in the background: one at a time, nothing is lost, nobody stays.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use recoup_core::base::fsx::FileLock;
use serde_json::{Value, json};

use super::{Talk, add, events, happened, log, remembered};
use crate::support::Home;

/// Far more than it takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// The queues of all projects.
pub(super) fn queues(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.recoup().join("queue")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

pub(super) fn jobs(queue: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(queue).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|it| it == "json")).collect()
}

/// Waits until everything is done and nobody works any more.
#[track_caller]
pub(crate) fn settled(home: &Home) {
    let began = Instant::now();
    // A worker that comes while we hold the lock would leave: nobody takes it while jobs wait.
    let is_quiet = |queue: &PathBuf| {
        jobs(queue).is_empty() && FileLock::try_acquire(&queue.join("lock")).unwrap().is_some()
    };
    while !queues(home).iter().all(is_quiet) {
        assert!(began.elapsed() < PATIENCE, "{}", log(home));
        thread::sleep(Duration::from_millis(20));
    }
    while !processes(home).is_empty() {
        assert!(began.elapsed() < PATIENCE, "somebody stays: {:?}", processes(home));
        thread::sleep(Duration::from_millis(20));
    }
}

/// The processes that know this home.
fn processes(home: &Home) -> Vec<PathBuf> {
    let name = home.recoup();
    let name = name.to_str().unwrap().as_bytes();
    let of_home = |pid: &PathBuf| {
        let environment = fs::read(pid.join("environ")).unwrap_or_default();
        environment.windows(name.len()).any(|part| part == name)
    };
    let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let numbered =
        |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().parse::<u32>().is_ok();
    entries.filter(numbered).filter(of_home).collect()
}

pub(super) fn entry(kind: &str, content: Value) -> String {
    let content = if content.is_object() { json!([content]) } else { content };
    format!("{}\n", json!({"type": kind, "message": {"role": kind, "content": content}}))
}

/// A call, as a transcript has it.
fn call(id: &str, tool: &str, input: &Value) -> String {
    entry("assistant", json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
}

/// What came of it.
fn result(id: &str, text: &str, is_error: bool) -> String {
    let result = json!({"type": "tool_result", "tool_use_id": id, "is_error": is_error,
                        "content": text});
    entry("user", result)
}

/// Both.
pub(super) fn called(id: &str, tool: &str, input: &Value, text: &str, is_error: bool) -> String {
    call(id, tool, input) + &result(id, text, is_error)
}

/// The agent comes to the end of an answer, with that transcript.
pub(super) fn stops(talk: &Talk<'_>, transcript: &Path) {
    talk.tell_with("Stop", json!({"transcript_path": transcript})).is_silent();
}

#[test]
fn what_the_user_does_not_allow_is_found_in_the_transcript_once() {
    let home = Home::new();
    let said = "The user doesn't want to proceed with this tool use. The tool use was rejected";
    let input = json!({"command": "docker system prune -af"});
    let lines = ["c1", "c2"].map(|call| called(call, "Bash", &input, said, true)).concat();
    let transcript = home.write("transcript.jsonl", lines);
    let talk = Talk::new(&home, "one");
    for _ in 0..2 {
        stops(&talk, &transcript);
        settled(&home);
    }
    assert_eq!(happened(&home, "denied").len(), 2, "{:?}", events(&home));
    assert_eq!(remembered(&home, "candidate"), ["don't run `docker system prune` without asking"]);
    let told = talk.says("and now something else, please");
    let candidates = ["memory", "list", "--status", "candidate", "--json"];
    let candidates = home.run(&candidates).expect(0).json();
    let id = candidates[0]["id"].as_str().unwrap();
    assert_eq!(
        told.notice,
        format!(
            "recoup: may be worth knowing: don't run `docker system prune` without asking \
             (recoup memory promote {id})"
        )
    );
    assert_eq!(talk.says("and another thing").notice, "");
}

/// The transcript grows by these pieces, and is read after each.
fn swept(home: &Home, pieces: &[String]) {
    let talk = Talk::new(home, "one");
    let transcript = home.write("transcript.jsonl", "");
    let mut lines = String::new();
    for piece in pieces {
        lines += piece;
        let mut file = fs::OpenOptions::new().append(true).open(&transcript).unwrap();
        file.write_all(piece.as_bytes()).unwrap();
        stops(&talk, &transcript);
        settled(home);
    }
    assert_eq!(fs::read_to_string(&transcript).unwrap(), lines);
}

#[test]
fn a_call_and_its_result_are_put_together_though_they_are_read_apart() {
    let home = Home::new();
    let input = json!({"command": "make deploy"});
    let pieces = [
        call("a", "Bash", &input),
        entry("assistant", json!({"type": "text", "text": "It takes its time."})),
        result("a", "Exit code 2\ndeploy.sh: line 3: kubectl: command not found", true),
        call("b", "Bash", &json!({"command": "ls"})) + &result("b", "x", false),
    ];
    swept(&home, &pieces);
    let error = "deploy.sh: line 3: kubectl: command not found";
    assert_eq!(happened(&home, "failed"), [("make deploy".to_owned(), error.to_owned())]);
    assert_eq!(happened(&home, "succeeded"), [("ls".to_owned(), String::new())]);
}

#[test]
fn trouble_is_seen_though_it_is_read_in_pieces() {
    let home = Home::new();
    let test = json!({"command": "cargo test"});
    let edit = json!({"file_path": "/x/src/lib.rs", "old_string": "a", "new_string": "b"});
    let round = |number: usize| {
        let red = "Exit code 101\nerror: test failed, to rerun pass `--lib`";
        called(&format!("e{number}"), "Edit", &edit, "done", false)
            + &called(&format!("t{number}"), "Bash", &test, red, true)
    };
    swept(&home, &[round(1), round(2), round(3), round(4)]);
    assert_eq!(happened(&home, "trouble").len(), 1, "{:?}", events(&home));
    assert_eq!(happened(&home, "failed").len(), 4, "each once");
}

#[test]
fn what_happened_in_a_sub_agent_is_read_in_its_own_transcript() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let plan = json!({"subject": "Only mine"});
    let text = "Task #1 created successfully: Only mine";
    let lines =
        called("a", "Bash", &json!({"command": "make deploy"}), "Exit code 2\nno host", true)
            + &called("b", "TaskCreate", &plan, text, false);
    let inside = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["isSidechain"] = true.into();
        line["agentId"] = "a7651a8110fb82eeb".into();
        format!("{line}\n")
    };
    let lines: String = lines.lines().map(inside).collect();
    let transcript = home.write("agent.jsonl", lines);
    talk.tell_with("SubagentStop", json!({"agent_transcript_path": transcript})).is_silent();
    settled(&home);
    assert_eq!(happened(&home, "failed"), [("make deploy".to_owned(), "no host".to_owned())]);
    let begun = Talk::new(&home, "two").tell("SessionStart-startup").context;
    assert_eq!(begun, "", "what a sub-agent has to do is no state of the project");

    let missing = json!({"agent_transcript_path": home.path("missing.jsonl"), "agent_id": "x"});
    talk.tell_with("SubagentStop", missing).is_silent();
    settled(&home);
    assert_eq!(log(&home), "");
}

#[test]
fn a_job_that_a_crash_has_left_is_done_by_the_next_worker() {
    let home = Home::new();
    let input = json!({"command": "make deploy"});
    let failed = "Exit code 2\ndeploy.sh: line 3: kubectl: command not found";
    let worked = json!({"command": "make deploy KUBECTL=/opt/kubectl"});
    let first = called("a", "Bash", &input, failed, true)
        + &called("a fix", "Bash", &worked, "deployed", false);
    let first = home.write("first.jsonl", first);
    let second = home.write("second.jsonl", called("b", "Bash", &input, failed, true));
    let talk = Talk::new(&home, "one");
    stops(&talk, &first);
    settled(&home);
    assert_eq!(happened(&home, "failed").len(), 1, "{}", log(&home));
    // As one that was begun, and killed.
    let queue = &queues(&home)[0];
    let job = json!({
        "from": {"client": "claude-code", "session": "two", "root": home.project(),
                 "scope": format!("project:{}", queue.file_name().unwrap().to_str().unwrap())},
        "what": {"sweep": {"transcript": second, "why": "stop"}},
    });
    fs::write(queue.join("0000.1.json"), job.to_string()).unwrap();
    stops(&talk, &first);
    settled(&home);
    assert_eq!(happened(&home, "failed").len(), 2, "{}", log(&home));
    let lesson = remembered(&home, "active");
    assert_eq!(lesson.len(), 1, "{lesson:?}");
    assert!(lesson[0].starts_with("`make deploy` fails (exit code 2, "), "{lesson:?}");
    assert!(lesson[0].contains("command not found"), "{lesson:?}");
    assert!(lesson[0].ends_with("`make deploy KUBECTL=/opt/kubectl` works"), "{lesson:?}");
}

#[test]
fn a_job_that_can_t_be_done_is_given_up_and_said_so() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let transcript = home.write("transcript.jsonl", "");
    stops(&talk, &transcript);
    settled(&home);
    let queue = &queues(&home)[0];
    fs::write(queue.join("0001.0.json"), "no JSON").unwrap();
    fs::write(queue.join("0002.3.json"), "{}").unwrap();
    stops(&talk, &transcript);
    settled(&home);
    let log = log(&home);
    assert!(log.contains("job 0001 can't be read"), "{log}");
    assert!(log.contains("job 0002 was given up after 3 tries"), "{log}");
}

#[test]
fn what_remains_to_be_done_is_told_to_the_next_session_until_it_is_done() {
    let home = Home::new();
    let create = |id: &str, subject: &str, number: u8| {
        let text = format!("Task #{number} created successfully: {subject}");
        called(id, "TaskCreate", &json!({"subject": subject}), &text, false)
    };
    let done = |id: &str, number: &str| {
        let input = json!({"taskId": number, "status": "completed"});
        called(id, "TaskUpdate", &input, "Updated task", false)
    };
    let mut lines = create("a", "Write the parser", 1) + &create("b", "Test the parser", 2);
    lines += &done("c", "1");
    let transcript = home.write("transcript.jsonl", &lines);
    stops(&Talk::new(&home, "one"), &transcript);
    settled(&home);
    let begun = Talk::new(&home, "two").tell("SessionStart-startup").context;
    assert!(begun.contains("Remains: Test the parser\n"), "{begun}");
    assert!(begun.contains("Done: Write the parser\n"), "{begun}");
    for (session, is_given) in [("three", true), ("two", true), ("four", true), ("five", false)] {
        let begun = Talk::new(&home, session).tell("SessionStart-startup").context;
        assert_eq!(begun.contains("Test the parser"), is_given, "{session}: {begun}");
    }
    // It stays for those three, and for whoever asks.
    assert!(home.run(&["memory", "checkpoint"]).expect(0).text().contains("Test the parser"));
    fs::write(&transcript, lines.clone() + &create("e", "Ship the parser", 3)).unwrap();
    stops(&Talk::new(&home, "one"), &transcript);
    settled(&home);
    assert!(home.run(&["memory", "checkpoint"]).expect(0).text().contains("Ship the parser"));
    let lines = lines + &create("e", "Ship the parser", 3) + &done("f", "3");
    fs::write(&transcript, lines + &done("d", "2")).unwrap();
    stops(&Talk::new(&home, "one"), &transcript);
    settled(&home);
    Talk::new(&home, "six").tell("SessionStart-startup").is_silent();
}

/// Appends to a transcript, and comes to the end of an answer.
fn goes_on(talk: &Talk<'_>, transcript: &Path, lines: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(transcript).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
    stops(talk, transcript);
    settled(talk.home);
}

#[test]
fn what_was_read_once_is_not_read_again_and_what_is_to_be_done_is_known_all_the_same() {
    let home = Home::new();
    let create = |id: &str, subject: &str, number: u8| {
        let text = format!("Task #{number} created successfully: {subject}");
        called(id, "TaskCreate", &json!({"subject": subject}), &text, false)
    };
    let request = json!({"type": "api-request", "body": "x".repeat(500_000)});
    let requests = format!("{request}\n").repeat(4);
    let first = create("a", "Write the \"parser\"", 1);
    let transcript = home.write("transcript.jsonl", "");
    let talk = Talk::new(&home, "one");
    goes_on(&talk, &transcript, &(first.clone() + &requests));
    // Whoever reads that again is noticed.
    let other = first.replace("Write the", "Xrite xhe");
    let file = fs::OpenOptions::new().write(true).open(&transcript).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, other.as_bytes(), 0).unwrap();
    goes_on(&talk, &transcript, &create("b", "Test the parser", 2));
    let begun = Talk::new(&home, "two").tell("SessionStart-startup").context;
    assert!(begun.contains("Remains: Write the \"parser\"\n"), "{begun}");
    assert!(begun.contains("Remains: Test the parser\n"), "{begun}");
    let done = |call: &str, number: &str| {
        let input = json!({"taskId": number, "status": "completed"});
        called(call, "TaskUpdate", &input, "Updated task", false)
    };
    goes_on(&talk, &transcript, &done("c", "1"));
    let begun = Talk::new(&home, "three").tell("SessionStart-startup").context;
    assert!(begun.contains("Done: Write the \"parser\"\n"), "{begun}");
    assert!(begun.contains("Remains: Test the parser\n"), "{begun}");

    add(&home, &["Write the \"parser\""]);
    let notes = home.run(&["memory", "list", "--json"]).expect(0).json();
    home.run(&["memory", "forget", "--yes", notes[0]["id"].as_str().unwrap()]).expect(0);
    for text in ["Write the", "parser\\\""] {
        assert!(!super::is_kept(&home, text), "{text}");
    }
}

#[test]
fn a_worker_works_without_settings_that_it_can_read() {
    let failed = called("a", "Bash", &json!({"command": "make deploy"}), "Exit code 2\nno", true);
    let places: [fn(&Home) -> PathBuf; 2] =
        [|home| home.project().join("recoup.toml"), |home| home.recoup().join("config.toml")];
    for place in places {
        let home = Home::new();
        fs::create_dir(home.recoup()).unwrap();
        fs::write(place(&home), "some_new_key = 1\n").unwrap();
        let transcript = home.write("transcript.jsonl", &failed);
        stops(&Talk::new(&home, "one"), &transcript);
        settled(&home);
        assert_eq!(happened(&home, "failed").len(), 1, "{}", log(&home));
        assert!(log(&home).contains("some_new_key"), "{}", log(&home));
    }
}

#[test]
fn a_worker_ends_though_something_in_the_queue_can_not_be_removed() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let transcript = home.write("transcript.jsonl", "");
    stops(&talk, &transcript);
    settled(&home);
    let queue = &queues(&home)[0];
    fs::create_dir(queue.join("e.3.json")).unwrap();
    fs::create_dir(queue.join("f.0.json")).unwrap();
    stops(&talk, &transcript);
    let began = Instant::now();
    while !processes(&home).is_empty() {
        assert!(began.elapsed() < PATIENCE, "somebody stays: {:?}", processes(&home));
        thread::sleep(Duration::from_millis(20));
    }
    assert!(log(&home).len() < 10_000, "{}", log(&home).len());
}

#[test]
fn what_was_said_while_memory_was_paused_is_not_caught_up_on() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let transcript = home.write("transcript.jsonl", "");
    stops(&talk, &transcript);
    home.run(&["pause"]).expect(0);
    let input = json!({"command": "make deploy"});
    let lines = called("a", "Bash", &input, "Exit code 2\nno such host", true);
    fs::write(&transcript, lines).unwrap();
    stops(&talk, &transcript);
    settled(&home);
    home.run(&["resume"]).expect(0);
    stops(&talk, &transcript);
    settled(&home);
    assert_eq!(happened(&home, "failed"), [], "{}", log(&home));
}

#[test]
fn forgetting_reaches_what_waits() {
    let home = Home::new();
    add(&home, &["never say \"xyzzy\" aloud"]);
    let id = home.run(&["memory", "list", "--json"]).expect(0).json()[0]["id"].clone();
    let queue = home.recoup().join("queue").join("0".repeat(32));
    fs::create_dir_all(&queue).unwrap();
    let job = json!({"prompt": "never say \"xyzzy\" aloud"}).to_string();
    fs::write(queue.join("0001.0.json"), job).unwrap();
    fs::write(queue.join("0002.0.json"), "{}").unwrap();
    home.run(&["memory", "forget", "--yes", id.as_str().unwrap()]).expect(0);
    assert_eq!(jobs(&queue), [queue.join("0002.0.json")]);
}
