//! A store on a server: there, slow to say anything, or gone.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use super::{Report, report};
use crate::redis_server::Server;
use crate::support::{Home, finish};

fn with_store(home: &Home, url: &str) -> Report {
    let said = finish(home.command(&["doctor", "--json"]).env("RECOUP_STORE", url));
    Report(said.json())
}

#[test]
fn a_server_says_its_version_and_how_long_it_took() {
    let server = Server::start();
    let home = Home::new();
    let report = with_store(&home, &format!("redis://127.0.0.1:{}", server.port));
    let found = report.has("cache", "ok", "ok");
    assert_eq!((&found["facts"]["store"], &found["facts"]["nodes"]), (&"redis".into(), &1.into()));
    let version = found["facts"]["version"].as_str().unwrap();
    assert!(version.split('.').count() >= 2, "{found}");
    assert!(found["facts"]["micros"].as_u64().unwrap() > 0);
    assert!(!home.recoup().exists(), "no breaker was touched for it");
}

#[test]
fn a_relative_of_redis_says_its_own_name() {
    let server = Server::start_program("valkey-server", &[]);
    let report = with_store(&Home::new(), &format!("redis://127.0.0.1:{}", server.port));
    let what = report.has("cache", "ok", "ok")["what"].as_str().unwrap().to_owned();
    assert!(what.contains("valkey "), "{what}");
}

#[test]
fn one_that_is_gone_and_one_that_is_silent() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    let began = Instant::now();
    // Nobody accepts: the connection stands, and nothing comes.
    let silent = with_store(&Home::new(), &format!("redis://:geheim@127.0.0.1:{port}"));
    drop(free);
    let gone = with_store(&Home::new(), &format!("redis://:geheim@127.0.0.1:{port}"));
    for report in [silent, gone] {
        let found = report.has("cache", "unreachable", "fail");
        assert!(!found.to_string().contains("geheim"), "{found}");
        assert_eq!(report.0["ok"], false);
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_server_that_only_has_copies() {
    let primary = Server::start();
    let options = ["--replicaof", "127.0.0.1", &primary.port.to_string()];
    let replica = Server::start_with(&options);
    let url = format!("redis://127.0.0.1:{}", replica.port);
    with_store(&Home::new(), &url).has("cache", "read-only", "fail");
}

#[test]
fn the_store_in_front_is_looked_at_too() {
    let server = Server::start();
    let home = Home::new();
    std::fs::create_dir_all(home.recoup()).unwrap();
    let config = format!(
        "store = \"redis://127.0.0.1:{}\"\n[near]\nstore = \"sqlite:near.db\"\n",
        server.port
    );
    std::fs::write(home.recoup().join("config.toml"), config).unwrap();
    home.set("k", "1");
    let report = report(&home, 0);
    assert_eq!(report.of("cache"), [("ok", "ok"), ("ok", "ok")]);
    let near = report.all("cache")[1];
    assert_eq!((&near["facts"]["near"], &near["facts"]["entries"]), (&true.into(), &1.into()));
}

#[test]
fn a_server_that_nobody_asks_at_the_moment() {
    let home = Home::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://127.0.0.1:{}", free.local_addr().unwrap().port());
    drop(free);
    for _ in 0..4 {
        finish(home.command(&["cache", "get", "--key", "k"]).env("RECOUP_STORE", &url));
    }
    let report = with_store(&home, &url);
    assert!(report.has("cache", "breaker-open", "warn")["facts"]["faults"].as_u64().unwrap() >= 3);
}
