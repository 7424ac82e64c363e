//! A server that is slow, or never answers: the deadline holds to the last byte.

use std::io::Write as _;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::{Server, anthropic, wait_for_the_end};
use super::{asking, status};
use crate::support::{Home, finish};

/// Asks with a deadline of 700 ms; how it ended, and in which time.
fn asked(server: &Server) -> (i32, Duration, Home) {
    let home = Home::new();
    let mut command = asking(&home, server, "anthropic", "use tabs");
    command.env("RECOUP_JUDGE_DEADLINE", "700ms");
    let began = Instant::now();
    let output = finish(&mut command);
    let code = output.code.unwrap();
    if code == 1 {
        assert!(output.stderr.contains("did not answer within 700 ms"), "{}", output.stderr);
    }
    (code, began.elapsed(), home)
}

/// Far above the deadline, for a machine that is busy, and far below what the server takes.
const SOON: Duration = Duration::from_secs(8);

fn dribble(stream: &mut TcpStream, text: &str, pause: Duration) {
    for byte in text.as_bytes() {
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
        thread::sleep(pause);
    }
}

fn good() -> String {
    anthropic(&json!({"verdicts": [{"id": 1, "label": "none"}]}), 10, 10)
}

#[test]
fn who_answers_late_but_in_time_is_heard() {
    let server = Server::start(|_, stream| {
        thread::sleep(Duration::from_millis(100));
        super::server::respond(stream, "200 OK", "", good().as_bytes());
    });
    assert_eq!(asked(&server).0, 0);
}

#[test]
fn who_never_answers_is_left() {
    let server = Server::start(|_, stream| wait_for_the_end(stream));
    let (code, took, home) = asked(&server);
    assert_eq!(code, 1);
    assert!(took < SOON, "{took:?}");
    let status = status(&home, &server);
    assert!(status["tokens"].as_u64().unwrap() > 500, "it may have cost all of it: {status}");
    assert!(status["paused_until"].is_string(), "{status}");
}

#[test]
fn a_body_that_dribbles_does_not_get_a_deadline_for_each_byte() {
    let server = Server::start(|_, stream| {
        let body = good();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let _ = stream.write_all(head.as_bytes());
        dribble(stream, &body, Duration::from_millis(100));
    });
    let (code, took, _) = asked(&server);
    assert_eq!(code, 1);
    assert!(took < SOON, "{took:?}");
}

#[test]
fn neither_does_a_head_that_dribbles() {
    let server = Server::start(|_, stream| {
        dribble(stream, "HTTP/1.1 200 OK\r\n", Duration::from_millis(10));
        dribble(stream, &"X-More: and more\r\n".repeat(99), Duration::from_millis(20));
    });
    let (code, took, _) = asked(&server);
    assert_eq!(code, 1);
    assert!(took < SOON, "{took:?}");
}

#[test]
fn the_words_of_a_refusal_are_not_waited_for() {
    let server = Server::start(|_, stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 429 Too Many\r\nRetry-After: 900\r\nContent-Length: 99\r\n\r\n");
        wait_for_the_end(stream);
    });
    let home = Home::new();
    let mut command = asking(&home, &server, "anthropic", "use tabs");
    command.env("RECOUP_JUDGE_DEADLINE", "5m");
    let began = Instant::now();
    finish(&mut command).expect_failure("answered 429");
    assert!(began.elapsed() < SOON);
    assert_eq!(status(&home, &server)["tokens"], 0, "a refusal costs nothing");
}
