//! Upstreams and clients that do what they should not.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use super::{Gateway, MESSAGES, message, question};
use crate::model_server::{Server, respond, wait_for_the_end};
use crate::support::Home;

#[test]
fn an_upstream_that_fails_is_a_clear_error_and_nothing_is_kept() {
    let home = Home::new();
    let upstream = Server::start(|asked, stream| {
        match asked.json()["messages"][0]["content"].as_str().unwrap() {
            "garbage" => drop(stream.write_all(b"\x00\x01\x02 nonsense\r\n\r\n")),
            "close" => {}
            "endless head" => {
                let line = format!("X-Filler: {}\r\n", "x".repeat(1000));
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
                for _ in 0..5_000 {
                    if stream.write_all(line.as_bytes()).is_err() {
                        break;
                    }
                }
            }
            "hang" => wait_for_the_end(stream),
            "short" => respond(stream, "200 OK", "", b"{}"),
            other => panic!("{other}"),
        }
    });
    let gateway = Gateway::caching(&home, &upstream);
    for (text, status) in [("garbage", 502), ("close", 502), ("endless head", 502), ("hang", 504)] {
        let answer = gateway.post(MESSAGES, &[], &question(text));
        assert_eq!(answer.status, status, "{text}: {answer:?}");
        assert!(
            answer.json()["error"]["message"].as_str().unwrap().contains("upstream anthropic"),
            "{answer:?}"
        );
    }
    drop(upstream);
}

#[test]
fn an_upstream_that_is_down_is_named() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    let text = std::fs::read_to_string(home.recoup().join("config.toml")).unwrap();
    let down = text.replace(&upstream.url(), "http://127.0.0.1:1");
    std::fs::write(home.recoup().join("config.toml"), down).unwrap();
    drop(gateway);
    let gateway = Gateway::resumed(&home, &[]);
    let answer = gateway.post(MESSAGES, &[], &question("a"));
    assert_eq!(answer.status, 502);
    assert!(answer.text().contains("cannot reach the upstream anthropic"), "{answer:?}");
}

#[test]
fn a_decompression_bomb_passes_and_is_not_kept() {
    let home = Home::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..64 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let sent = bomb.clone();
    let upstream = Server::start(move |_, stream| {
        respond(stream, "200 OK", "Content-Encoding: gzip\r\n", &sent);
    });
    let gateway = Gateway::caching(&home, &upstream);
    for _ in 0..2 {
        let answer = gateway.post(MESSAGES, &[], &question("a"));
        assert_eq!((answer.outcome(), answer.body == bomb), ("miss", true));
    }
}

#[test]
fn requests_that_two_servers_would_read_differently_are_refused() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    for request in [
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\n{}{}{}",
        "POST /v1/messages HTTP/1.1\r\nHost : localhost\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    ] {
        let answer = gateway.exchange(request);
        assert!((400..500).contains(&answer.status), "{request}: {answer:?}");
    }
    assert_eq!(upstream.received().len(), 0);
}

#[test]
fn heads_have_a_limit() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    let filler = "x".repeat(200 << 10);
    let answer = gateway.post(MESSAGES, &[("X-Filler", &filler)], &question("a"));
    assert_eq!(answer.status, 431);
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).status, 200);
}

#[test]
fn a_request_above_the_limit_passes_uncached() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::start(&home, &upstream, "ttl = \"1h\"\nmax_request_mb = 1\n");
    let text = "x".repeat(2 << 20);
    let answer = gateway.post(MESSAGES, &[], &question(&text));
    assert_eq!((answer.status, answer.outcome()), (200, "bypass"));
    assert!(answer.head.contains("max_request_mb"), "{}", answer.head);
    assert_eq!(upstream.question().json()["messages"][0]["content"], text);
}

#[test]
fn a_body_that_is_no_json_passes_as_it_is() {
    let home = Home::new();
    let upstream = Server::saying("400 Bad Request", "", "{\"error\":{}}".to_owned());
    let gateway = Gateway::caching(&home, &upstream);
    for body in ["not json", "[1]", "{\"model\":\"a\",\"model\":\"b\"}", "{\"n\":9007199254740993}"]
    {
        let answer = gateway.post_text(MESSAGES, &[], body);
        assert_eq!((answer.status, answer.outcome()), (400, "bypass"), "{body}");
    }
    let bodies: Vec<String> = upstream.received().into_iter().map(|it| it.body).collect();
    assert_eq!(bodies[2], "{\"model\":\"a\",\"model\":\"b\"}");
}

#[test]
fn an_upgraded_connection_passes_in_both_directions() {
    let home = Home::new();
    let upstream = Server::start(|_, stream| {
        let head =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = [0; 4];
        stream.read_exact(&mut bytes).unwrap();
        bytes.reverse();
        stream.write_all(&bytes).unwrap();
    });
    let gateway = Gateway::caching(&home, &upstream);
    let mut client = gateway.connect();
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let head = "GET /openai/v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
    client.write_all(head.as_bytes()).unwrap();
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).unwrap();
        seen.push(byte[0]);
    }
    assert!(seen.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&seen));
    client.write_all(b"abcd").unwrap();
    let mut back = [0; 4];
    client.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"dcba");
}
