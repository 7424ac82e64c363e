//! What waits for the worker is not lost, and is forgotten when that is asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use recoup::jobs::{JobOrigin, JobQueue, SkippedJobs, WorkerJob, WorkerJobKind};
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::fsx::FileLock;
use recoup_core::base::project::ProjectId;
use recoup_core::memory::HookClient;
use recoup_core::memory::{EventOrigin, NoteKind, NoteScope, NoteSource, Statement};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::worker::{called, entry, jobs, queues, settled, stops};
use super::{Talk, add, happened, log, remembered};
use crate::support::Home;

const WORDS: &str = "never say \"xyzzy\" aloud";

/// A home with one memory, and its id.
fn with_memory() -> (Home, String) {
    let home = Home::new();
    add(&home, &[WORDS]);
    let id = home.run(&["memory", "list", "--json"]).expect(0).json()[0]["id"].clone();
    (home, id.as_str().unwrap().to_owned())
}

/// A queue of a project with one job that holds the words.
fn with_job(home: &Home, name: &str) -> (PathBuf, PathBuf) {
    let queue = home.recoup().join("queue").join("0".repeat(32));
    fs::create_dir_all(&queue).unwrap();
    let job = queue.join(name);
    fs::write(&job, json!({ "text": WORDS }).to_string()).unwrap();
    (queue, job)
}

fn forget(home: &Home, id: &str) -> Value {
    home.run(&["memory", "forget", "--yes", "--json", id]).expect(0).json()
}

#[test]
fn forgetting_waits_for_a_worker_who_has_the_words() {
    let (home, id) = with_memory();
    let (queue, job) = with_job(&home, "0001.1.json");
    let lock = FileLock::try_acquire(&queue.join("lock")).unwrap().unwrap();
    let worker = thread::spawn({
        let job = job.clone();
        move || {
            thread::sleep(Duration::from_millis(600));
            let was_there = job.exists();
            drop(lock);
            was_there
        }
    });
    assert_eq!(forget(&home, &id)["unreached"], json!([]));
    assert!(worker.join().unwrap(), "it was taken from under the worker's hands");
    assert_eq!(jobs(&queue), [""; 0].map(PathBuf::from));
}

#[test]
fn forgetting_names_the_queue_of_a_worker_who_does_not_end() {
    let (home, id) = with_memory();
    let (queue, _) = with_job(&home, "0001.1.json");
    let _lock = FileLock::try_acquire(&queue.join("lock")).unwrap().unwrap();
    assert_eq!(forget(&home, &id)["unreached"], json!([queue]));
    assert_eq!(jobs(&queue), [""; 0].map(PathBuf::from), "what could be removed is");
    assert_eq!(remembered(&home, "active"), [""; 0]);
}

#[test]
fn forgetting_does_not_wait_for_a_worker_who_has_other_work() {
    let (home, id) = with_memory();
    let (queue, _) = with_job(&home, "0001.0.json");
    fs::write(queue.join("0001.0.json"), "{}").unwrap();
    let _lock = FileLock::try_acquire(&queue.join("lock")).unwrap().unwrap();
    assert_eq!(forget(&home, &id)["unreached"], json!([]));
}

#[test]
fn forgetting_names_what_it_could_not_read() {
    let (home, id) = with_memory();
    let (queue, job) = with_job(&home, "0001.0.json");
    fs::write(&job, format!("{WORDS}{}", " ".repeat(300 * 1024))).unwrap();
    let said = home.run(&["memory", "forget", "--yes", &id]).expect(0).stderr;
    let named =
        format!("{} may still contain it: a job for the worker could not be read", job.display());
    assert!(said.contains(&named), "{said}");
    assert_eq!(jobs(&queue), [job]);
}

/// A home whose worker has done something, with its queue and an empty transcript.
fn worked(home: &Home) -> (PathBuf, PathBuf) {
    let transcript = home.write("transcript.jsonl", "");
    stops(&Talk::new(home, "one"), &transcript);
    settled(home);
    (queues(home).remove(0), transcript)
}

/// A job of that project, as a hook leaves it.
fn job(home: &Home, queue: &Path, what: &Value) -> Value {
    json!({
        "from": {"client": "claude-code", "session": "two", "root": home.project(),
                 "cwd": home.project(),
                 "scope": format!("project:{}", queue.file_name().unwrap().to_str().unwrap())},
        "what": what,
    })
}

fn said(text: &str) -> Value {
    json!({"remember": {"at": 1_700_000_000_000_i64, "once": null, "said": [
        {"kind": "preference", "text": text, "quote": text, "universal": false, "paths": null,
         "topic": null, "tentative": false}]}})
}

#[test]
fn a_job_of_a_newer_version_waits_for_it_and_keeps_nobody() {
    let home = Home::new();
    let (queue, transcript) = worked(&home);
    let newer = json!({"version": 999, "what": {"ponder": WORDS}});
    fs::write(queue.join("0001.0.json"), newer.to_string()).unwrap();
    let known = job(&home, &queue, &said("use pnpm"));
    fs::write(queue.join("0002.0.json"), known.to_string()).unwrap();
    stops(&Talk::new(&home, "one"), &transcript);
    quiet(&queue);
    assert_eq!(remembered(&home, "active"), ["use pnpm"], "{}", log(&home));
    assert_eq!(jobs(&queue), [queue.join("0001.0.json")], "as it was");
    assert_eq!(log(&home).matches("newer version").count(), 1, "{}", log(&home));
}

#[test]
fn what_is_in_the_place_of_a_job_keeps_nobody() {
    let home = Home::new();
    let (queue, transcript) = worked(&home);
    fs::create_dir(queue.join("0001.0.json")).unwrap();
    let known = job(&home, &queue, &said("use pnpm"));
    fs::write(queue.join("0002.0.json"), known.to_string()).unwrap();
    stops(&Talk::new(&home, "one"), &transcript);
    quiet(&queue);
    assert_eq!(remembered(&home, "active"), ["use pnpm"], "{}", log(&home));
    assert!(log(&home).lines().count() < 10, "{}", log(&home));
}

#[test]
fn a_job_that_no_worker_would_read_is_refused() {
    let home = Home::new();
    let project = ProjectId::parse(&"0".repeat(32)).unwrap();
    let scope = NoteScope::Project(project.clone());
    let (client, session) = (HookClient::ClaudeCode, "one".to_owned());
    let occasion = EventOrigin { client, context: session.clone(), session, scope };
    let from = JobOrigin::of(&occasion, &home.project(), home.project());
    let said = |text: String| {
        Statement::new(NoteKind::Preference, text, NoteSource::User, occasion.scope.clone())
    };
    let queue = JobQueue::of(&home.recoup(), &project);
    let put = |text: String| {
        let (at, said) = (SystemClock.now(), vec![said(text)]);
        let what = WorkerJobKind::Remember { at, once: None, print: None, said };
        queue.put(&WorkerJob::new(from.clone(), what), &SystemClock)
    };
    put("x".repeat(200 * 1024)).unwrap();
    let refused = put("x".repeat(300 * 1024)).unwrap_err().to_string();
    assert!(refused.contains("the maximum is 262144"), "{refused}");
    assert!(queue.take(&mut SkippedJobs::default(), |lost| panic!("{lost}")).unwrap().is_some());
}

/// The name of a job as this program makes them.
const NAME: &str = "01jd0000000000000000000000";

/// The user's word is the only copy there is.
#[test]
fn a_statement_that_could_not_be_stored_is_kept_told_and_tried_again() {
    let home = Home::new();
    let (queue, transcript) = worked(&home);
    let known = job(&home, &queue, &said("use pnpm"));
    // Three workers have died of it.
    fs::write(queue.join(format!("{NAME}.3.json")), known.to_string()).unwrap();
    stops(&Talk::new(&home, "one"), &transcript);
    settled(&home);
    let kept = queue.join(format!("{NAME}.kept"));
    assert_eq!(fs::read_to_string(&kept).unwrap(), known.to_string());
    assert_eq!(remembered(&home, "active"), [""; 0]);
    let reply = Talk::new(&home, "two").says("what is next?");
    assert!(reply.notice.contains("could not be stored yet: use pnpm"), "{reply:?}");
    let report = home.run(&["doctor", "--json"]).json();
    let found = report["findings"].as_array().unwrap().iter();
    let found = found.filter(|it| it["code"] == "not-stored").collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!((&found[0]["facts"]["kept"], &found[0]["fixable"]), (&json!(1), &json!(true)));
    home.run(&["doctor", "--fix", "--json"]);
    settled(&home);
    assert!(!kept.exists());
    assert_eq!(remembered(&home, "active"), ["use pnpm"], "{}", log(&home));
}

#[test]
fn forgetting_reaches_a_statement_that_could_not_be_stored() {
    let (home, id) = with_memory();
    let (_, kept) = with_job(&home, &format!("{NAME}.kept"));
    assert_eq!(forget(&home, &id)["unreached"], json!([]));
    assert!(!kept.exists());
}

/// A person was told that it will be remembered: a worker sees to the disk.
#[test]
fn what_was_said_is_synced_by_a_worker_which_also_makes_the_snapshot() {
    let home = Home::new();
    Talk::new(&home, "one").says("from now on use pnpm instead of npm");
    settled(&home);
    assert_eq!(remembered(&home, "active").len(), 1);
    let mark = fs::read_to_string(home.recoup().join("memory.db.mark")).unwrap();
    assert!(mark.parse::<u64>().unwrap() > 0, "{mark}");
    let snapshots = fs::read_dir(home.recoup().join("snapshots")).unwrap();
    assert_eq!(snapshots.count(), 1, "{}", log(&home));
}

/// Waits until nobody works, whatever is left.
#[track_caller]
fn quiet(queue: &Path) {
    for _ in 0..500 {
        thread::sleep(Duration::from_millis(20));
        let lock = FileLock::try_acquire(&queue.join("lock")).unwrap();
        if lock.is_some() && jobs(queue).iter().all(|it| it.ends_with("0001.0.json")) {
            return;
        }
    }
    panic!("somebody still works: {:?}", jobs(queue));
}

/// Makes the database refuse what a condition says.
fn refuse(home: &Home, table: &str, when: &str) {
    sql(
        home,
        &format!(
            "CREATE TRIGGER refused BEFORE INSERT ON {table} WHEN {when} BEGIN SELECT RAISE(ABORT, 'no'); END"
        ),
    );
}

fn sql(home: &Home, statement: &str) {
    Connection::open(home.recoup().join("memory.db")).unwrap().execute_batch(statement).unwrap();
}

#[test]
fn what_could_not_be_preserved_before_a_compaction_is_preserved_at_the_next() {
    let home = Home::new();
    let (_, transcript) = worked(&home);
    let doubtful = "maybe pnpm rather than npm for this repo, I think";
    fs::write(&transcript, entry("user", json!(doubtful))).unwrap();
    refuse(&home, "notes", "true");
    let compacts = || {
        let changes = json!({ "transcript_path": transcript });
        Talk::new(&home, "one").tell_with("PreCompact-manual", changes).is_silent();
        settled(&home);
    };
    compacts();
    assert_eq!(remembered(&home, "candidate"), [""; 0]);
    assert!(log(&home).contains("a job failed"), "{}", log(&home));
    sql(&home, "DROP TRIGGER refused");
    compacts();
    let kept = ["pnpm rather than npm for this repo"];
    assert_eq!(remembered(&home, "candidate"), kept, "{}", log(&home));
}

#[test]
fn a_path_has_one_name_whoever_was_told_of_it() {
    let home = Home::new();
    let link = home.path("link");
    std::os::unix::fs::symlink(home.project(), &link).unwrap();
    fs::create_dir_all(home.project().join("src")).unwrap();
    fs::write(home.project().join("src/lib.rs"), "").unwrap();
    let edit = json!({"file_path": link.join("src/lib.rs"), "old_string": "a", "new_string": "b"});
    let transcript = home.write("transcript.jsonl", called("e1", "Edit", &edit, "done", false));
    let talk = Talk::new(&home, "one").within(&link);
    stops(&talk, &transcript);
    settled(&home);
    assert_eq!(happened(&home, "edited"), [("src/lib.rs".to_owned(), String::new())]);
}
