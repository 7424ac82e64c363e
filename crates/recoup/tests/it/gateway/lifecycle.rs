//! Start, reload and end of the gateway.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::time::Duration;

use super::{Gateway, MESSAGES, configure, message, question, streamed};
use crate::model_server::{ModelTurn, Server};
use crate::support::{Home, finish};

#[test]
fn it_says_whether_it_is_alive_and_ready() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let gateway = Gateway::caching(&home, &upstream);
    for path in ["/healthz", "/readyz"] {
        assert_eq!(gateway.get(path).status, 200, "{path}");
    }
    assert_eq!(upstream.received().len(), 0);
}

#[test]
fn a_wrong_configuration_is_refused_by_name() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    for (settings, words) in [
        ("tll = \"1h\"\n", "gateway.tll"),
        ("ttl = \"soon\"\n", "gateway.ttl"),
        ("normalise = [\"everything\"]\n", "everything"),
        (
            "[gateway.upstreams.other]\napi = \"openai\"\n",
            "gateway.upstreams.other: an upstream needs a url",
        ),
        (
            "[gateway.upstreams.other]\nurl = \"http://example.com\"\n",
            "http:// is only allowed for this machine",
        ),
        ("[gateway.tenants.a]\n", "a tenant needs a token_env"),
        ("traces = \"ftp://127.0.0.1\"\n", "gateway.traces"),
        ("key_headers = [\"X-Team:\"]\n", "\"X-Team:\" is not the name of a header"),
        ("hosts = [\"https://example.com\"]\n", "gateway.hosts"),
        ("stale_while_revalidate = \"forever\"\n", "a duration with an end"),
        ("[[gateway.cache]]\nttl = \"1h\"\nupstream = \"no\"\n", "there is no upstream \"no\""),
        (
            "[gateway.upstreams.openai.set_headers]\nx-team = \"a\\nb\"\n",
            "\"x-team\" or its value is not valid",
        ),
    ] {
        configure(&home, &upstream, settings);
        finish(&mut home.command(&["gateway"])).expect_usage(words);
    }
    configure(&home, &upstream, "");
    home.write("recoup.toml", "[gateway]\nttl = \"1h\"\n");
    let problems = home.run(&["config", "check"]);
    assert!(format!("{problems:?}").contains("your own configuration file"), "{problems:?}");
}

#[test]
fn a_reload_takes_everything_or_nothing() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let mut gateway = Gateway::start(&home, &upstream, "");
    let mut told = BufReader::new(gateway.child.stderr.take().unwrap());
    let mut reload = |settings: &str| {
        configure(&home, &upstream, settings);
        gateway.signal("HUP");
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        line
    };
    let refused = reload("ttl = \"1h\"\nnormalise = [\"x\"]\n");
    assert!(refused.contains("not reloaded") && refused.contains("gateway.normalise"), "{refused}");
    let said = reload("ttl = \"1h\"\n");
    assert!(said.contains("was reloaded"), "{said}");
    assert_eq!(gateway.post(MESSAGES, &[], &question("a")).outcome(), "miss");
}

#[test]
fn open_streams_are_finished_before_the_end() {
    let home = Home::new();
    let turn = ModelTurn::text("slow but whole").slow(Duration::from_millis(50));
    let upstream = Server::answering(move |_| turn.clone());
    let mut gateway = Gateway::caching(&home, &upstream);
    let mut client = gateway.connect();
    let body = streamed("a").to_string();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut first = [0; 64];
    client.read_exact(&mut first).unwrap();
    gateway.signal("TERM");
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
    assert!(String::from_utf8_lossy(&rest).contains("message_stop"));
    assert!(gateway.child.wait().unwrap().success());
    let again = Gateway::caching(&home, &upstream);
    assert_eq!(again.post(MESSAGES, &[], &streamed("a")).outcome(), "hit");
}
