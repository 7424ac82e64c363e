//! Many processes at once: every one gets a right answer, nothing is lost, and
//! nobody is told of anybody else.

use std::fs;
use std::sync::Barrier;
use std::thread;

use crate::support::Home;

const MANY: usize = 32;
const ROUNDS: usize = 10;
const SHARED: usize = 4;

/// Runs `act` for each number at the same moment.
fn at_once(count: usize, act: impl Fn(usize) + Sync) {
    let start = Barrier::new(count);
    thread::scope(|scope| {
        for number in 0..count {
            let (start, act) = (&start, &act);
            scope.spawn(move || {
                start.wait();
                act(number);
            });
        }
    });
}

/// A set that must succeed without a word of trouble.
fn quiet_set(home: &Home, key: &str, body: &str) {
    let output = home.cache(&["set", "--key", key, "--condensed", body]).expect(0);
    assert_eq!(output.stderr, format!("Cached result for key: {key}\n"));
}

fn body(writer: usize, round: usize) -> String {
    format!("{{\"writer\":{writer},\"round\":{round},\"pad\":\"{}\"}}", "x".repeat(writer * 50))
}

/// Whether `text` is something that `body` makes.
fn was_written(text: &str) -> bool {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let number = |name| usize::try_from(value[name].as_u64().unwrap()).unwrap();
    text == body(number("writer"), number("round")) + "\n"
}

#[test]
fn thirty_two_processes_write_and_read_without_loss() {
    let home = Home::new();
    at_once(MANY, |writer| {
        for round in 0..ROUNDS {
            let (own, shared) = (format!("own-{writer}"), format!("shared-{}", round % SHARED));
            let key = if round % 2 == 0 { &own } else { &shared };
            quiet_set(&home, key, &body(writer, round));
            quiet_set(&home, &format!("one-{writer}-{round}"), &body(writer, round));
            if round % 2 == 0 {
                home.get(&own).expect_hit(body(writer, round));
            } else {
                let output = home.get(&shared).expect(0);
                assert_eq!(output.stderr, "");
                assert!(was_written(&output.text()), "{}", output.text());
            }
        }
    });
    for writer in 0..MANY {
        for round in 0..ROUNDS {
            home.get(&format!("one-{writer}-{round}")).expect_hit(body(writer, round));
        }
    }
    let kept = home.cache(&["ls", "--json"]).expect(0).json().as_array().unwrap().len();
    assert_eq!(kept, MANY * ROUNDS + MANY + ROUNDS.min(SHARED) / 2);
    assert_eq!(home.set_aside().len(), 0);
}

#[test]
fn large_bodies_are_replaced_under_the_eyes_of_readers() {
    let home = Home::new();
    let large = |writer: usize| format!("\"{}\"", writer.to_string().repeat((3 << 19) + writer));
    for writer in 0..4 {
        home.write(&format!("{writer}.json"), large(writer));
    }
    home.set("k", "@0.json");
    at_once(8, |number| {
        for round in 0..40 {
            if number < 4 {
                quiet_set(&home, "k", &format!("@{}.json", (number + round) % 4));
            } else {
                let output = home.get("k").expect(0);
                assert_eq!(output.stderr, "");
                let writer = usize::from(output.stdout[1] - b'0');
                assert!(output.stdout == (large(writer) + "\n").into_bytes());
            }
        }
    });
}

#[test]
fn sixteen_processes_begin_one_database() {
    for _ in 0..5 {
        let home = Home::new();
        at_once(16, |number| {
            if number % 4 == 3 {
                let output = home.get("absent").expect_miss();
                assert_eq!(output.stderr, "miss: no entry for this key\n");
            }
            quiet_set(&home, &number.to_string(), &number.to_string());
        });
        for number in 0..16 {
            home.get(&number.to_string()).expect_hit(number.to_string());
        }
        assert_eq!(home.set_aside().len(), 0);
    }
}

#[test]
fn sixteen_processes_set_one_damaged_database_aside_once() {
    for _ in 0..5 {
        let home = Home::new();
        home.set("old", "1");
        home.checkpoint();
        let garbage = vec![0xa5; 64 << 10];
        fs::write(home.db(), &garbage).unwrap();
        at_once(16, |number| {
            if number % 4 == 3 {
                home.get("old").expect_miss();
            }
            let key = number.to_string();
            home.set(&key, &key);
            home.get(&key).expect_hit(&key);
        });
        for number in 0..16 {
            home.get(&number.to_string()).expect_hit(number.to_string());
        }
        let [place] = &home.set_aside()[..] else { panic!("{:?}", home.set_aside()) };
        assert!(fs::read(place.join("cache.db")).unwrap() == garbage);
    }
}

#[test]
fn deletes_and_clears_among_writes_leave_a_sound_database() {
    let home = Home::new();
    at_once(8, |number| {
        for round in 0..8 {
            let key = format!("{}", (number + round) % 5);
            match number {
                0 => drop(home.cache(&["clear", "--yes"]).expect(0)),
                // Exit 1 where another was faster.
                1 | 2 => drop(home.cache(&["delete", "--key", &key])),
                _ => quiet_set(&home, &key, &body(number, round)),
            }
        }
    });
    let kept = "SELECT (SELECT count(*) FROM entries) = (SELECT sum(entries) FROM totals)
                AND (SELECT sum(bytes) FROM entries) IS nullif((SELECT sum(bytes) FROM totals), 0)";
    assert!(home.sql().query_row(kept, [], |row| row.get::<_, bool>(0)).unwrap());
    let check = home.sql().query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(check.unwrap(), "ok");
}
