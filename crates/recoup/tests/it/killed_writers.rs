//! Writers that are killed at any moment: what they acknowledged is there,
//! what they did not is there whole or not at all, and the database is sound.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Home;

const THREADS: usize = 4;
/// Kills that hit a living writer, for each thread.
const KILLS: usize = 80;
/// Large enough for several frames and for the log to be folded back.
const LARGE: usize = 2 << 20;

/// How one writer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Acknowledged,
    Killed,
}

/// Starts a writer and kills it after `delay`, unless it has ended by then.
fn kill_after(command: &mut Command, delay: Duration) -> End {
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(delay);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    match output.status {
        status if status.success() => End::Acknowledged,
        status if killed(status) => End::Killed,
        status => panic!("{status}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn killed(status: ExitStatus) -> bool {
    status.signal() == Some(9)
}

/// Spread evenly over a little more than a whole run, in no obvious order.
fn delay(number: usize, run: Duration) -> Duration {
    let golden = 0.618_033_988_749_895;
    let fraction = (f64::from(u32::try_from(number).unwrap()) * golden).fract();
    run.mul_f64(fraction * 1.1)
}

/// How long an undisturbed set takes here, while as many others run.
fn usual_run(home: &Home, body: &str) -> Duration {
    let started = Instant::now();
    for _ in 0..5 {
        thread::scope(|scope| {
            for number in 0..THREADS {
                scope.spawn(move || home.set(&format!("warm-{number}"), body));
            }
        });
    }
    started.elapsed() / 5
}

fn body(key: &str, large: bool) -> String {
    format!("{{\"key\":\"{key}\",\"pad\":\"{}\"}}", "x".repeat(if large { LARGE } else { 500 }))
}

fn set(home: &Home, key: &str, file: &str) -> Command {
    home.command(&["cache", "set", "--key", key, "--condensed", file])
}

/// Kills writers of small and large bodies, and gives the keys that they
/// tried, with how each ended.
fn massacre(home: &Home, thread: usize, run: Duration) -> Vec<(String, End)> {
    let mut tried = Vec::new();
    let mut kills = 0;
    while kills < KILLS {
        assert!(tried.len() < KILLS * 20, "too few writers were hit in time");
        let number = tried.len();
        let key = format!("{thread}-{number}");
        let file = home.write(&format!("{key}.json"), body(&key, number % 5 == 0));
        let at = format!("@{}", file.display());
        let end = kill_after(&mut set(home, &key, &at), delay(number, run));
        kills += usize::from(end == End::Killed);
        tried.push((key, end));
    }
    tried
}

#[test]
fn three_hundred_killed_writers_leave_everything_that_was_acknowledged() {
    let home = Home::new();
    let run = usual_run(&home, &body("warm", false));
    let tried: Vec<(String, End)> = thread::scope(|scope| {
        let home = &home;
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || massacre(home, thread, run))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for (key, end) in &tried {
        let body = fs::read(home.project().join(format!("{key}.json"))).unwrap();
        let output = home.get(key);
        if *end == End::Acknowledged || output.code == Some(0) {
            output.expect_hit(body);
        } else {
            assert_eq!(output.expect_miss().stderr, "miss: no entry for this key\n", "{key}");
        }
    }
    assert_sound(&home);
}

fn assert_sound(home: &Home) {
    assert_eq!(home.set_aside().len(), 0, "nothing was set aside");
    let sql = home.sql();
    let check = sql.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(check.unwrap(), "ok");
    let orphans = "SELECT count(*) FROM chunks
                   WHERE frames NOT IN (SELECT frames FROM entries WHERE frames IS NOT NULL)";
    assert_eq!(sql.query_row(orphans, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    let totals = "SELECT (SELECT count(*) FROM entries) = (SELECT sum(entries) FROM totals)
                  AND (SELECT sum(bytes) FROM entries) = (SELECT sum(bytes) FROM totals)";
    assert!(sql.query_row(totals, [], |row| row.get::<_, bool>(0)).unwrap());
}

#[test]
fn a_replaced_value_is_the_old_one_or_the_new_one() {
    let home = Home::new();
    let run = usual_run(&home, "0");
    home.set("k", "0");
    let mut possible = vec!["0".to_owned()];
    for number in 1..=60 {
        let new = number.to_string();
        possible.push(new.clone());
        if kill_after(&mut set(&home, "k", &new), delay(number, run)) == End::Acknowledged {
            possible = vec![new];
        }
        let value = home.get("k").expect(0).text().trim().to_owned();
        assert!(possible.contains(&value), "{value} is none of {possible:?}");
        possible = vec![value];
    }
    assert_sound(&home);
}

#[test]
fn a_beginning_that_was_killed_is_begun_again() {
    let run = usual_run(&Home::new(), "0");
    for number in 0..60 {
        let home = Home::new();
        let end = kill_after(&mut set(&home, "k", "1"), delay(number, run));
        let output = home.get("k");
        if end == End::Acknowledged || output.code == Some(0) {
            output.expect_hit("1");
        } else {
            assert_eq!(output.expect_miss().stderr, "miss: no entry for this key\n");
        }
        home.set("k", "2");
        home.get("k").expect_hit("2");
        assert_sound(&home);
    }
}
