//! Looking after a gateway that runs: its status, purges, errors of its store, and proxies.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

use super::{Gateway, MESSAGES, configure, message, question, streamed};
use crate::judge::tls::certified;
use crate::model_server::{ModelTurn, Server};
use crate::support::{Home, finish};

/// Asks again until something is so.
pub(super) fn wait_for<T>(mut ask: impl FnMut() -> T, is_so: impl Fn(&T) -> bool) -> T {
    for _ in 0..600 {
        let found = ask();
        if is_so(&found) {
            return found;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("it did not come about");
}

fn status(home: &Home, gateway: &Gateway) -> Value {
    let url = format!("http://{}", gateway.address);
    let output = home.run(&["gateway", "status", "--json", "--url", &url]).expect(0);
    serde_json::from_str(&output.text()).unwrap()
}

#[test]
fn the_status_says_what_runs_and_what_it_was_worth() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let rule = "[[gateway.cache]]\nmodel = \"claude-*\"\nttl = \"3d\"\n";
    let mut gateway = Gateway::start(&home, &upstream, rule);
    gateway.post(MESSAGES, &[], &question("a"));
    gateway.post(MESSAGES, &[], &question("a"));
    let found = wait_for(
        || status(&home, &gateway),
        |it| {
            let totals = &it["requests"];
            let outcomes = &totals["by_outcome"];
            outcomes["hit"] == 1 && outcomes["miss"] == 1 && totals["stored"] == 1
        },
    );
    assert_eq!((&found["hit_rate"], &found["store"]["is_readable"]), (&0.5.into(), &true.into()));
    assert_eq!(found["requests"]["saved_tokens"], 1200);
    assert_eq!(found["rules"][0]["ttl"], "3d");
    assert_eq!(found["last_reload"], Value::Null);

    let mut told = BufReader::new(gateway.child.stderr.take().unwrap());
    configure(&home, &upstream, "normalise = [\"x\"]\n");
    gateway.signal("HUP");
    told.read_line(&mut String::new()).unwrap();
    configure(&home, &upstream, "");
    let words = ["gateway", "--listen", &gateway.address, "status"];
    let text = home.run(&words).expect(0).text();
    for part in [
        "requests        1 hit, 1 miss (hit rate 50 %)",
        "saved           1,200 tokens, $0.0060",
        "stored answers  1",
        "rule            3d for model claude-*",
        "rule            off for everything else",
        "refused: ",
        &format!("upstream        anthropic {}", upstream.url()),
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let address = gateway.address.clone();
    gateway.stop();
    home.run(&["gateway", "--listen", &address, "status"])
        .expect_failure("start one with `recoup gateway`");
}

#[test]
fn the_status_needs_a_token_where_there_are_tenants() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let settings = "[gateway.tenants.red]\ntoken_env = \"RED\"\n";
    let token = "red-token-of-the-tests";
    let gateway = Gateway::start_with(&home, &upstream, settings, &[("RED", token)]);
    assert_eq!(gateway.get("/recoup/status").status, 401);
    let ask = || home.command(&["gateway", "--listen", &gateway.address, "status"]);
    finish(&mut ask()).expect_failure("needs a token: set RECOUP_GATEWAY_TOKEN");
    for name in ["RECOUP_GATEWAY_TOKEN", "RED"] {
        let text = finish(ask().env(name, token)).expect(0).text();
        assert!(text.contains("tenant          red") && !text.contains(token), "{text}");
    }
}

#[test]
fn a_purge_is_seen_by_gateways_that_run() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    let purge = |args: &[&str]| {
        let words = [&["gateway", "purge"], args].concat();
        home.run(&words).expect(0).text().trim().to_owned()
    };
    let ask = |text: &str| gateway.post(MESSAGES, &[], &question(text));
    let stays = |text: &str| assert_eq!(ask(text).outcome(), "hit", "{text}");
    let goes = |text: &str| wait_for(|| ask(text), |it| it.outcome() == "miss");
    for text in ["a", "b"] {
        ask(text);
        wait_for(|| ask(text), |it| it.outcome() == "hit");
    }
    home.run(&["gateway", "purge"]).expect_usage("no answers selected");
    home.run(&["gateway", "purge", "--tenant", "red"]).expect_usage("no answers selected");
    home.run(&["gateway", "purge", "--key", "a9"]).expect_usage("at least its first 8 characters");
    assert_eq!(purge(&["--model", "gpt-5"]), "0");
    assert_eq!(purge(&["--upstream", "anthropic", "--model", "gpt-5"]), "0");
    assert_eq!(purge(&["--all", "--tenant", "red"]), "0");
    assert_eq!(purge(&["--all", "--dry-run"]), "2");
    let report = ask("a").header("recoup-cache").unwrap().to_owned();
    let key = report.split("key=").nth(1).unwrap();
    let report = purge(&["--key", &key[..12], "--model", "claude-sonnet-4-5", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["purged"], 1);
    goes("a");
    stays("b");
    // What was asked anew is stored a moment later.
    wait_for(|| ask("a"), |it| it.outcome() == "hit");
    assert_eq!(purge(&["--upstream", "anthropic"]), "2");
    goes("b");
}

#[test]
fn a_key_is_purged_in_all_forms_of_its_answer() {
    let home = Home::new();
    let upstream = Server::answering(|_| ModelTurn::text("an answer"));
    let gateway = Gateway::caching(&home, &upstream);
    let fresh = [("Cache-Control", "no-cache")];
    gateway.post(MESSAGES, &fresh, &streamed("a"));
    let plain = gateway.post(MESSAGES, &fresh, &question("a"));
    gateway.post(MESSAGES, &fresh, &question("b"));
    gateway.stop();
    let key = plain.header("recoup-cache").unwrap().split("key=").nth(1).unwrap();
    let words = ["gateway", "purge", "--key", key.split(';').next().unwrap()];
    assert_eq!(home.run(&words).expect(0).text(), "2\n");
    assert_eq!(home.run(&["gateway", "purge", "--all"]).expect(0).text(), "1\n");
}

#[test]
fn errors_of_the_store_are_counted() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let env = [("RECOUP_STORE", "redis://127.0.0.1:1")];
    let gateway = Gateway::start_with(&home, &upstream, "ttl = \"1h\"\n", &env);
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).status, 200);
    let metrics = gateway.get("/metrics").text();
    let counted =
        metrics.lines().find_map(|it| it.strip_prefix("recoup_gateway_store_errors_total "));
    assert!(counted.unwrap().parse::<u64>().unwrap() > 0, "{metrics}");
    assert_eq!(status(&home, &gateway)["store"]["is_readable"], false);
}

/// An API at this address, behind TLS.
fn start_encrypted(config: ServerConfig) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let config = Arc::new(config);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(session, stream.unwrap());
            let (mut asked, mut chunk) = (String::new(), [0; 8_192]);
            while !asked.contains("messages\":[") {
                let Ok(count @ 1..) = stream.read(&mut chunk) else { break };
                asked.push_str(&String::from_utf8_lossy(&chunk[..count]));
            }
            let body = message("through a tunnel");
            let begin = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{begin}{body}").as_bytes());
            let _ = stream.flush();
        }
    });
    address
}

/// A proxy that leads to one address, whatever it is asked for.
fn start_proxy(address: String) -> Server {
    Server::start(move |_, stream| {
        let there = TcpStream::connect(&address).unwrap();
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        let (mut from, mut to) = (stream.try_clone().unwrap(), there.try_clone().unwrap());
        let copying = thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        let _ = std::io::copy(&mut &there, stream);
        let _ = stream.shutdown(Shutdown::Both);
        copying.join().unwrap();
    })
}

#[test]
fn encrypted_upstreams_are_reached_through_the_proxy() {
    let home = Home::new();
    let authority = home.path("ca.pem");
    let proxy = start_proxy(start_encrypted(certified(&authority, "model.invalid")));
    let local = Server::saying("200 OK", "", "{}".to_owned());
    configure(&home, &local, "");
    let file = home.recoup().join("config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen(&local.url(), "https://model.invalid", 1)).unwrap();
    let url = format!("http://user:hunter2@127.0.0.1:{}", proxy.port());
    let authority = authority.to_str().unwrap();
    let env = [("HTTPS_PROXY", url.as_str()), ("SSL_CERT_FILE", authority)];
    let gateway = Gateway::resumed(&home, &env);
    let key = [("X-Api-Key", "sk-secret")];
    let answer = gateway.post(MESSAGES, &key, &question("a"));
    assert!(answer.text().contains("through a tunnel"), "{answer:?}");
    let asked = proxy.question();
    assert!(asked.head.starts_with("CONNECT model.invalid:443 "), "{}", asked.head);
    assert_eq!(asked.header("proxy-authorization"), Some("Basic dXNlcjpodW50ZXIy"));
    assert!(!asked.head.contains("sk-secret"));
    // What is on this machine is not led through it.
    assert_eq!(gateway.post("/openai/v1/chat/completions", &[], &question("a")).status, 200);
    assert_eq!((proxy.connections(), local.connections()), (1, 1));

    let excepted = [env[0], env[1], ("NO_PROXY", "model.invalid")];
    let gateway = Gateway::resumed(&home, &excepted);
    assert_eq!(gateway.post(MESSAGES, &key, &question("a")).status, 502);
    assert_eq!(proxy.connections(), 1);
    let mut command = home.command(&["gateway"]);
    let refused = finish(command.env("HTTPS_PROXY", "socks5://user:hunter2@127.0.0.1:1"));
    assert!(!refused.stderr.contains("hunter2"), "{}", refused.stderr);
    refused.expect_usage("HTTPS_PROXY: expected http://HOST:PORT");
}
