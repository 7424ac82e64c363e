//! A Redis store on the command line: shared by machines, shown without its
//! password, and never in the way when it is gone.

use std::process::Command;

use crate::redis_server::{Server, free_port};
use crate::support::{Home, Output, finish};

/// A machine of a team: a home of its own, the same server.
struct Machine {
    home: Home,
    url: String,
    near: bool,
}

impl Machine {
    fn of(url: &str) -> Self {
        Self { home: Home::new(), url: url.to_owned(), near: false }
    }

    fn with_near(mut self) -> Self {
        self.near = true;
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(&["cache"]);
        command.args(args).args(["--scope", "tenant:us"]).env("RECOUP_STORE", &self.url);
        if self.near {
            command.env(
                "RECOUP_NEAR_STORE",
                format!("sqlite:{}", self.home.path("near.db").display()),
            );
        }
        command
    }

    fn cache(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }
}

/// Patient with a loaded machine, where a fault is not what is tested.
fn url(server: &Server) -> String {
    format!("redis://127.0.0.1:{}?timeout=30s", server.port)
}

#[test]
fn what_one_machine_keeps_another_finds() {
    let server = Server::start();
    let (one, two) = (Machine::of(&url(&server)), Machine::of(&url(&server)));
    one.cache(&["set", "--key", "k", "--condensed", r#"{"a":1}"#, "--tag", "t"]).expect(0);
    two.cache(&["get", "--key", "k"]).expect_hit(r#"{"a":1}"#);
    assert!(two.cache(&["ls"]).expect(0).text().contains('k'));
    two.cache(&["invalidate", "--tag", "t"]).expect(0);
    one.cache(&["get", "--key", "k"]).expect_miss();
    let stats = one.cache(&["stats", "--json"]).expect(0).text();
    assert!(stats.contains(r#""entries": 0"#), "{stats}");
    one.cache(&["verify"]).expect(0);
    one.cache(&["clear", "--yes"]).expect(0);
}

#[test]
fn a_server_that_is_away_is_a_miss_that_says_so_and_soon_not_asked() {
    let machine = Machine::of(&format!("redis://me:opensesame@127.0.0.1:{}", free_port()));
    for _ in 0..3 {
        let output = machine.cache(&["get", "--key", "k"]);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert_eq!(output.stderr.matches("redis://***@127.0.0.1").count(), 1, "{output:?}");
        assert!(!output.stderr.contains("opensesame") && !output.stderr.contains("skipped for"));
    }
    let output = machine.cache(&["get", "--key", "k"]);
    assert!(output.stderr.contains("skipped for another"), "{output:?}");
    machine.cache(&["set", "--key", "k", "--condensed", "1"]).expect_failure("skipped for another");
    for command in [&["delete", "--key", "k"][..], &["clear", "--yes"], &["cleanup"]] {
        machine.cache(command).expect_failure("redis://***@127.0.0.1");
    }
}

#[test]
fn work_goes_on_from_the_near_store_while_the_server_is_away() {
    let server = Server::start();
    let machine = Machine::of(&url(&server)).with_near();
    machine.cache(&["set", "--key", "k", "--condensed", "1"]).expect(0);
    server.kill();
    machine.cache(&["get", "--key", "k"]).expect_hit("1");
    let mut command = machine.command(&["get", "--key", "k"]);
    let output = finish(command.env("RECOUP_NEAR_TTL", "off"));
    assert!(output.stderr.contains("redis://127.0.0.1"), "{output:?}");
    assert_eq!(output.expect(0).text(), "1\n");
    machine.cache(&["set", "--key", "k2", "--condensed", "2"]).expect_failure("redis://127.0.0.1");
}

#[test]
fn a_wrong_password_is_named_as_such_and_not_shown() {
    let server = Server::start();
    let mut protect = redis::cmd("CONFIG");
    protect.arg("SET").arg("requirepass").arg("right-one").exec(&mut server.connect()).unwrap();
    let machine = Machine::of(&format!("redis://:wrong-one@127.0.0.1:{}?timeout=30s", server.port));
    let output = machine.cache(&["get", "--key", "k"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("Password authentication failed"), "{output:?}");
    assert!(!output.stderr.contains("wrong-one"));
    let machine = Machine::of(&format!("redis://:right-one@127.0.0.1:{}?timeout=30s", server.port));
    machine.cache(&["set", "--key", "k", "--condensed", "1"]).expect(0);
    machine.cache(&["get", "--key", "k"]).expect_hit("1");
}
