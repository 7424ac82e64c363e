//! A team's gateways: several instances on one Redis, one of which is killed, and then the Redis.

use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Answer, Gateway, MESSAGES, configure, message, question, streamed};
use crate::model_server::{ModelTurn, Received, Server, respond};
use crate::redis_server::Server as Redis;
use crate::support::{Home, finish};

const TENANT: &str = "ttl = \"1h\"\n[gateway.tenants.red]\ntoken_env = \"RED\"\n";
const TOKEN: &str = "red-token-of-the-tests";
/// Longer than anything takes here, so that a loaded machine fails nothing.
const PATIENCE: Duration = Duration::from_mins(1);

/// One instance, on a machine of its own.
struct TeamMember {
    home: Home,
    gateway: Gateway,
}

impl TeamMember {
    fn start(upstream: &Server, store: &str) -> Self {
        let home = Home::new();
        configure(&home, upstream, TENANT);
        let gateway = Gateway::resumed(&home, &[("RED", TOKEN), ("RECOUP_STORE", store)]);
        Self { home, gateway }
    }

    fn ask(&self, body: &serde_json::Value) -> Answer {
        self.gateway.post(MESSAGES, &[("Recoup-Token", TOKEN)], body)
    }

    /// Asks until it is answered like that.
    fn ask_until(&self, text: &str, outcome: &str) {
        wait_until(outcome, || {
            let answer = self.ask(&question(text));
            assert_eq!((answer.status, answer.text()), (200, message(text)), "{answer:?}");
            answer.outcome() == outcome
        });
    }

    /// Asks different questions until it is told to stop; all are answered well.
    fn keep_asking(&self, stop: &AtomicBool, answered: &AtomicUsize) {
        for number in (0..20).cycle() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let text = format!("load {number}");
            let answer = self.ask(&question(&text));
            assert_eq!((answer.status, answer.text()), (200, message(&text)), "{answer:?}");
            answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn text_of(asked: &Received) -> String {
    asked.json()["messages"][0]["content"].as_str().unwrap().to_owned()
}

/// Says what it was asked; a stream takes its time.
fn echo() -> Server {
    Server::start(|asked, stream| {
        let text = text_of(asked);
        if asked.json()["stream"] == true {
            let words = "a long answer that takes its time ".repeat(5);
            ModelTurn::text(&words).slow(Duration::from_millis(50)).perform(asked, stream);
        } else {
            thread::sleep(Duration::from_millis(if text == "slow" { 500 } else { 0 }));
            respond(stream, "200 OK", "", message(&text).as_bytes());
        }
    })
}

fn count(upstream: &Server, text: &str) -> usize {
    upstream.received().iter().filter(|it| text_of(it) == text).count()
}

#[test]
fn instances_share_hits_requests_on_their_way_and_purges() {
    let redis = Redis::start();
    let upstream = echo();
    let store = format!("redis://127.0.0.1:{}?timeout=30s", redis.port);
    let team = [(); 2].map(|()| TeamMember::start(&upstream, &store));
    assert_eq!(team[0].ask(&question("a")).outcome(), "miss");
    team[1].ask_until("a", "hit");
    assert_eq!(count(&upstream, "a"), 1);

    thread::scope(|scope| {
        for member in team.iter().cycle().take(12) {
            scope.spawn(|| assert_eq!(member.ask(&question("slow")).text(), message("slow")));
        }
    });
    assert_eq!(count(&upstream, "slow"), 1);

    let invalidate =
        ["cache", "invalidate", "--tag", "model:claude-sonnet-4-5", "--scope", "tenant:red"];
    let mut purge = team[0].home.command(&invalidate);
    finish(purge.env("RECOUP_STORE", &store)).expect(0);
    team[1].ask_until("a", "miss");
    assert_eq!(count(&upstream, "a"), 2);
    team[0].ask_until("a", "hit");
}

#[test]
fn one_that_is_killed_costs_only_its_own_clients_and_then_the_redis_is() {
    let redis = Redis::start();
    let upstream = echo();
    let store = format!("redis://127.0.0.1:{}?timeout=30s", redis.port);
    let [mut one, two] = [(); 2].map(|()| TeamMember::start(&upstream, &store));
    let (stop, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| two.keep_asking(&stop, &answered));
        }
        let stopping = StopOnDrop(&stop);
        // The first is killed in the middle of a stream.
        let body = streamed("long").to_string();
        let mut client = one.gateway.connect();
        let head = format!(
            "POST {MESSAGES} HTTP/1.1\r\nHost: localhost\r\nRecoup-Token: {TOKEN}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        client.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("text_delta") {
            let mut piece = [0; 1000];
            let length = client.read(&mut piece).unwrap();
            assert!(length > 0, "{}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&piece[..length]);
        }
        one.gateway.child.kill().unwrap();
        one.gateway.child.wait().unwrap();
        let _ = client.read_to_end(&mut seen);
        assert!(!String::from_utf8_lossy(&seen).contains("message_stop"));
        // The other takes over, once the claim of the dead one has ended.
        let whole = two.ask(&streamed("long"));
        assert_eq!((whole.status, whole.outcome()), (200, "miss"), "{whole:?}");
        assert!(whole.text().contains("message_stop"), "{whole:?}");
        assert_eq!(count(&upstream, "long"), 2);
        wait_until("a hit", || {
            let again = two.ask(&streamed("long"));
            assert_eq!(again.text(), whole.text());
            again.outcome() == "hit"
        });

        // The Redis is killed under load.
        assert_eq!(two.gateway.get("/readyz").status, 200);
        let port = redis.kill();
        let before = answered.load(Ordering::Relaxed);
        wait_until("answers without Redis", || answered.load(Ordering::Relaxed) > before + 100);
        wait_until("not ready", || two.gateway.get("/readyz").status == 503);
        let missed = two.ask(&question("without redis"));
        assert_eq!((missed.status, missed.text()), (200, message("without redis")));
        assert_ne!(missed.outcome(), "hit");
        let redis = Redis::start_on("redis-server", port, &[]);
        two.ask_until("again", "hit");
        wait_until("ready", || two.gateway.get("/readyz").status == 200);
        drop(stopping);
        drop(redis);
    });
}

#[test]
fn a_redis_that_hangs_holds_up_nobody_for_long() {
    let redis = Redis::start();
    let upstream = echo();
    let store = format!("redis://127.0.0.1:{}?timeout=500ms", redis.port);
    let member = TeamMember::start(&upstream, &store);
    member.ask_until("a", "hit");
    let pid = redis.pid();
    Redis::signal(pid, Signal::STOP);
    let answered = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| member.keep_asking(&stop, &answered));
        }
        let _stopping = StopOnDrop(&stop);
        wait_until("answers", || answered.load(Ordering::Relaxed) > 50);
        wait_until("not ready", || member.gateway.get("/readyz").status == 503);
    });
    Redis::signal(pid, Signal::CONT);
    member.ask_until("b", "hit");
}

/// Lets the load end however the test does.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
