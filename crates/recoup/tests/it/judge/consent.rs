//! Who has not agreed sends nothing, and nobody agrees for the user.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::server::Server;
use super::{KEY, asking};
use crate::support::{Home, Output, finish};

fn none() -> Server {
    Server::anthropic(&json!([{"id": 1, "label": "none"}]))
}

/// `recoup judge test` with a key and an address, and without a word of consent.
fn unasked(home: &Home, server: &Server) -> Output {
    let mut command = asking(home, server, "anthropic", "use tabs");
    finish(command.env_remove("RECOUP_JUDGE_ENABLED"))
}

#[test]
fn without_consent_there_is_no_connection() {
    let (home, server) = (Home::new(), none());
    unasked(&home, &server).expect_failure("no model is asked: judge.enabled is false");
    for args in [&["judge", "status"][..], &["memory", "add", "use tabs"], &["config", "show"]] {
        let mut command = home.command(args);
        command.env("RECOUP_JUDGE_URL", server.url()).env("ANTHROPIC_API_KEY", KEY);
        finish(&mut command).expect(0);
    }
    thread::sleep(Duration::from_millis(50));
    assert_eq!(server.connections(), 0);
    assert!(!home.recoup().join("judge.json").exists());
}

#[test]
fn a_repository_can_not_agree_for_the_user_trusted_or_not() {
    let (home, server) = (Home::new(), none());
    home.write("recoup.toml", "[judge]\nenabled = true\n");
    let words = "line 2: judge.enabled: a repository may only switch this off (false)";
    for _ in 0..2 {
        let said = unasked(&home, &server).expect(1).stderr;
        assert!(said.contains(words) && said.contains("judge.enabled is false"), "{said}");
        home.run(&["trust", "--yes"]);
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_repository_can_say_no() {
    let (home, server) = (Home::new(), none());
    fs::create_dir_all(home.recoup()).unwrap();
    fs::write(home.recoup().join("config.toml"), "judge.enabled = true\n").unwrap();
    unasked(&home, &server).expect(0);
    assert_eq!(server.connections(), 1);
    home.write("recoup.toml", "[judge]\nenabled = false\n");
    unasked(&home, &server).expect_failure("judge.enabled is false");
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_repository_says_nothing_about_whom_and_at_whose_expense() {
    let (home, server) = (Home::new(), none());
    for line in [
        "url = 'http://127.0.0.1:1'", "key_env = 'AWS_SECRET_ACCESS_KEY'", "provider = 'openai'",
        "model = 'dear'", "daily_tokens = 999999999", "deadline = '5m'",
    ] {
        home.write("recoup.toml", format!("[judge]\n{line}\n"));
        let check = home.run(&["config", "check"]).expect(2);
        assert!(check.stderr.contains("this can only be set in your own configuration file"));
        finish(&mut asking(&home, &server, "anthropic", "use tabs"));
    }
    // The user's own settings count: all of it went to their server.
    assert_eq!(server.connections(), 6);
}

#[test]
fn an_address_is_encrypted_or_on_this_machine() {
    let (home, server) = (Home::new(), none());
    for (url, words) in [
        ("http://api.example.com", "http:// is only allowed for this machine"),
        ("http://127.0.0.1.example.com", "http:// is only allowed for this machine"),
        ("http://0.0.0.0:80", "http:// is only allowed for this machine"),
        ("ftp://127.0.0.1", "expected https://HOST"),
        ("api.example.com", "expected https://HOST"),
        ("https://user:hunter2@api.example.com", "contains a user name or password"),
        ("https://api.example.com?key=1", "a ? or a #"),
        ("", ""),
    ] {
        let mut command = asking(&home, &server, "anthropic", "use tabs");
        command.env("RECOUP_JUDGE_URL", url);
        let output = finish(&mut command);
        if url.is_empty() {
            continue; // as if it were not set; there is no such host here
        }
        assert!(!output.stderr.contains("hunter2"), "{}", output.stderr);
        output.expect_usage(words);
    }
    for url in ["http://localhost:1", "http://[::1]:1", "http://127.9.9.9:1"] {
        let mut command = asking(&home, &server, "anthropic", "use tabs");
        finish(command.env("RECOUP_JUDGE_URL", url)).expect_failure("did not answer");
    }
}

#[test]
fn a_key_is_never_repeated() {
    let (home, server) = (Home::new(), none());
    let mut command = asking(&home, &server, "anthropic", "use tabs");
    command.env("ANTHROPIC_API_KEY", "two words\u{e9}");
    let output = finish(&mut command);
    assert!(!output.stderr.contains("two words"), "{}", output.stderr);
    output.expect_usage("ANTHROPIC_API_KEY: not a valid API key");

    let pasted = "sk-ant-pasted-by-mistake";
    let mut command = asking(&home, &server, "anthropic", "use tabs");
    command.env("RECOUP_JUDGE_KEY_ENV", pasted);
    let output = finish(&mut command);
    assert!(!output.stderr.contains(pasted), "{}", output.stderr);
    output.expect_usage("expected the name of a variable, not the key itself");

    for args in [&["judge", "status", "--json"][..], &["config", "show", "--origin"]] {
        let mut command = home.command(args);
        command.env("RECOUP_JUDGE_ENABLED", "true").env("ANTHROPIC_API_KEY", KEY);
        let output = finish(&mut command).expect(0);
        assert!(!output.text().contains(KEY) && !output.stderr.contains(KEY), "{output:?}");
    }
}

#[test]
fn no_key_is_said_with_the_remedy() {
    let home = Home::new();
    let mut command = home.command(&["judge", "test"]);
    let output = finish(command.env("RECOUP_JUDGE_ENABLED", "true")).expect(1);
    assert_eq!(
        output.stderr,
        "error: no model is asked: no API key in ANTHROPIC_API_KEY\n\
         hint: set ANTHROPIC_API_KEY, or name another variable with judge.key_env\n"
    );
}

#[test]
fn deadlines_are_sensible() {
    let home = Home::new();
    for wrong in ["0", "off", "forever", "99ms", "6m", "soon"] {
        let mut command = home.command(&["judge", "status"]);
        let output = finish(command.env("RECOUP_JUDGE_DEADLINE", wrong)).expect(2);
        assert!(output.stderr.contains("RECOUP_JUDGE_DEADLINE"), "{}", output.stderr);
    }
}

/// A proxy sees where we go and not what is said; what is not encrypted it does not see at all.
#[test]
fn a_proxy_is_for_what_is_encrypted() {
    let (home, server) = (Home::new(), none());
    let proxy = Server::saying("502 Bad Gateway", "", String::new());
    let mut command = asking(&home, &server, "anthropic", "use tabs");
    command
        .env("HTTPS_PROXY", proxy.url())
        .env("HTTP_PROXY", proxy.url())
        .env("ALL_PROXY", proxy.url());
    finish(&mut command).expect(0);
    assert_eq!((proxy.connections(), server.connections()), (0, 1));

    command.env("RECOUP_JUDGE_URL", "https://model.invalid");
    finish(&mut command).expect_failure("model.invalid did not answer");
    let asked = proxy.question();
    assert!(asked.head.starts_with("CONNECT model.invalid:443 "), "{}", asked.head);
    assert!(!asked.head.contains(KEY) && !asked.body.contains("tabs"), "{asked:?}");

    command.env("NO_PROXY", "model.invalid");
    finish(&mut command).expect_failure("model.invalid did not answer");
    assert_eq!(proxy.connections(), 1);

    command.env_remove("NO_PROXY").env("HTTPS_PROXY", "http://user:hunter2@[");
    let output = finish(&mut command).expect(1);
    assert!(output.stderr.contains("HTTPS_PROXY: not a valid proxy address"), "{}", output.stderr);
    assert!(!output.stderr.contains("hunter2"), "{}", output.stderr);
}
