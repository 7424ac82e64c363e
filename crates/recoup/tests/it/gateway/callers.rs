//! Who is let in, and who shares entries.

use super::operations::wait_for;
use super::{Gateway, MESSAGES, configure, message, question};
use crate::model_server::Server;
use crate::support::{Home, finish};

const TENANTS: &str = "ttl = \"1h\"\n\
    [gateway.tenants.red]\ntoken_env = \"RED\"\n[gateway.tenants.blue]\ntoken_env = \"BLUE\"\n";
const TOKENS: [(&str, &str); 3] = [
    ("RED", "red-token-of-the-tests"),
    ("BLUE", "blue-token-of-the-tests"),
    ("UPSTREAM_KEY", "sk-of-the-team"),
];

#[test]
fn tenants_need_their_token_and_share_nothing() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::start_with(&home, &upstream, TENANTS, &TOKENS);
    let ask = |headers: &[(&str, &str)]| gateway.post(MESSAGES, headers, &question("a"));
    for headers in [&[][..], &[("Recoup-Token", "red")], &[("X-Api-Key", "sk-of-the-team")]] {
        let refused = ask(headers);
        assert_eq!(refused.status, 401, "{headers:?}");
        assert_eq!(refused.json()["error"]["type"], "authentication_error");
    }
    let own = ("X-Api-Key", "sk-own");
    let red = ("Recoup-Token", "red-token-of-the-tests");
    let blue = ("Recoup-Token", "blue-token-of-the-tests");
    assert_eq!(ask(&[red, own]).outcome(), "miss");
    assert_eq!(ask(&[red, own]).outcome(), "hit");
    assert_eq!(ask(&[blue, own]).outcome(), "miss");
    let asked = upstream.received();
    assert_eq!(asked.len(), 2);
    for request in asked {
        assert_eq!(request.header("x-api-key"), Some("sk-own"));
        assert_eq!(request.header("recoup-token"), None);
    }
}

#[test]
fn a_team_behind_one_key_never_sees_it() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    configure(&home, &upstream, TENANTS);
    let file = home.recoup().join("config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let keyed = "[gateway.upstreams.anthropic]\nkey_env = \"UPSTREAM_KEY\"\n";
    std::fs::write(&file, text.replace("[gateway.upstreams.anthropic]\n", keyed)).unwrap();
    let gateway = Gateway::resumed(&home, &TOKENS);
    let answer = gateway.post(MESSAGES, &[("X-Api-Key", "red-token-of-the-tests")], &question("a"));
    assert_eq!((answer.status, answer.outcome()), (200, "miss"));
    assert_eq!(upstream.question().header("x-api-key"), Some("sk-of-the-team"));
    assert!(!upstream.question().head.contains("red-token"));
}

#[test]
fn a_token_reaches_no_provider_whichever_header_has_it() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::start_with(&home, &upstream, TENANTS, &TOKENS);
    let red = TOKENS[0].1;
    let bearer = format!("Bearer {red}");
    for headers in [
        vec![("Recoup-Token", red), ("X-Api-Key", "sk-own"), ("Authorization", &bearer)],
        vec![("X-Api-Key", "sk-own"), ("Authorization", &bearer)],
        vec![("X-Api-Key", "sk-own"), ("Api-Key", red)],
    ] {
        let fresh = [&headers[..], &[("Cache-Control", "no-cache")]].concat();
        assert_eq!(gateway.post(MESSAGES, &fresh, &question("a")).status, 200, "{headers:?}");
        let asked = upstream.received().pop().unwrap();
        assert!(!asked.head.contains(red), "{asked:?}");
        assert_eq!(asked.header("x-api-key"), Some("sk-own"));
    }
}

#[test]
fn a_reload_opens_no_door() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    configure(&home, &upstream, TENANTS);
    let mut command = home.command(&["gateway", "--listen", "0.0.0.0:0"]);
    command.envs(TOKENS);
    let gateway = Gateway::spawn(command);
    configure(&home, &upstream, "listen = \"127.0.0.1:0\"\n");
    gateway.signal("HUP");
    let status = || {
        let mut ask = home.command(&["gateway", "--listen", &gateway.address, "status", "--json"]);
        finish(ask.env("RECOUP_GATEWAY_TOKEN", TOKENS[0].1)).text()
    };
    let told = wait_for(status, |it| it.contains("refused"));
    assert!(told.contains("can be reached from other machines"), "{told}");
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).status, 401);
}

#[test]
fn others_are_not_let_in_without_a_token() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    configure(&home, &upstream, "");
    finish(&mut home.command(&["gateway", "--listen", "0.0.0.0:0"]))
        .expect_usage("can be reached from other machines");
    configure(&home, &upstream, TENANTS);
    finish(home.command(&["gateway"]).env("RED", "short")).expect_usage("RED has no token");
}

#[test]
fn web_pages_are_turned_away() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    let with = |lines: &str| {
        let body = question("a").to_string();
        let length = body.len();
        gateway.exchange(&format!(
            "POST /v1/messages HTTP/1.1\r\n{lines}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ))
    };
    assert_eq!(with("Host: evil.example\r\n").status, 403);
    assert_eq!(with("Host: localhost.evil.example\r\n").status, 403);
    assert_eq!(with("Host: localhost\r\nHost: localhost\r\n").status, 403);
    assert_eq!(with("Host: localhost\r\nOrigin: https://evil.example\r\n").status, 403);
    assert_eq!(upstream.received().len(), 0);
    assert_eq!(with("Host: localhost:8787\r\n").status, 200);
    assert_eq!(with("Host: [::1]:8787\r\n").status, 200);
}

#[test]
fn callers_with_a_shared_token_are_told_apart_by_their_credentials() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let token = "shared-token-of-the-tests";
    let env = [("RECOUP_GATEWAY_TOKEN", token)];
    let gateway = Gateway::start_with(&home, &upstream, "ttl = \"1h\"\n", &env);
    let ask = |name: &str, value: &str| {
        let headers = [("Recoup-Token", token), (name, value)];
        gateway.post(MESSAGES, &headers, &question("a")).outcome().to_owned()
    };
    for (name, value) in [
        ("Authorization", "Bearer one"),
        ("Authorization", "Bearer two"),
        ("X-Api-Key", "one"),
        ("api-key", "one"),
        ("api-key", "two"),
        ("X-Goog-Api-Key", "one"),
        ("X-Goog-Api-Key", "two"),
    ] {
        assert_eq!(ask(name, value), "miss", "{name}: {value}");
        assert_eq!(ask(name, value), "hit", "{name}: {value}");
    }
    // In place of a key, the token does not leave this machine either.
    ask("Authorization", &format!("Bearer {token}"));
    assert!(upstream.received().iter().all(|it| !it.head.contains(token)));
}

#[test]
fn two_tenants_with_one_token_are_refused() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    configure(&home, &upstream, TENANTS);
    let mut command = home.command(&["gateway"]);
    finish(command.env("RED", TOKENS[0].1).env("BLUE", TOKENS[0].1)).expect_usage("the same token");
}
