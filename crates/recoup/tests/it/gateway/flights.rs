//! One request where many ask, and answers whose clients go away.

use std::io::Write as _;
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use super::{Gateway, MESSAGES, message, question, streamed};
use crate::model_server::{ModelTurn, Server, respond};
use crate::support::Home;

#[test]
fn many_who_ask_the_same_cost_one_request() {
    let home = Home::new();
    let upstream = Server::start(|_, stream| {
        thread::sleep(Duration::from_millis(300));
        respond(stream, "200 OK", "", message("one for all").as_bytes());
    });
    let gateway = Arc::new(Gateway::caching(&home, &upstream));
    let start = Arc::new(Barrier::new(20));
    let askers: Vec<_> = (0..20)
        .map(|_| {
            let (gateway, start) = (Arc::clone(&gateway), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                gateway.post(MESSAGES, &[], &question("a"))
            })
        })
        .collect();
    for asker in askers {
        let answer = asker.join().unwrap();
        assert_eq!((answer.status, answer.text()), (200, message("one for all")));
    }
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn a_live_stream_is_followed_from_its_beginning() {
    let home = Home::new();
    let turn = ModelTurn::text("one two three four five six").slow(Duration::from_millis(60));
    let upstream = Server::answering(move |_| turn.clone());
    let gateway = Arc::new(Gateway::caching(&home, &upstream));
    let askers: Vec<_> = (0..5)
        .map(|number| {
            let gateway = Arc::clone(&gateway);
            thread::spawn(move || {
                // They come while the stream is on its way.
                thread::sleep(Duration::from_millis(80 * number));
                gateway.post(MESSAGES, &[], &streamed("a"))
            })
        })
        .collect();
    let texts: Vec<String> = askers.into_iter().map(|it| it.join().unwrap().text()).collect();
    assert!(texts[0].contains("message_stop"), "{}", texts[0]);
    assert!(texts.iter().all(|text| *text == texts[0]));
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn the_failure_of_one_is_not_the_failure_of_all() {
    let home = Home::new();
    let count = Mutex::new(0);
    let upstream = Server::start(move |_, stream| {
        let number = {
            let mut count = count.lock().unwrap();
            *count += 1;
            *count
        };
        thread::sleep(Duration::from_millis(200));
        match number {
            1 => respond(stream, "503 Busy", "", b"{}"),
            _ => respond(stream, "200 OK", "", message("in the end").as_bytes()),
        }
    });
    let gateway = Arc::new(Gateway::caching(&home, &upstream));
    let first = {
        let gateway = Arc::clone(&gateway);
        thread::spawn(move || gateway.post(MESSAGES, &[], &question("a")).status)
    };
    thread::sleep(Duration::from_millis(50));
    let second = gateway.post(MESSAGES, &[], &question("a"));
    assert_eq!((first.join().unwrap(), second.status), (503, 200));
    assert_eq!(second.text(), message("in the end"));
}

#[test]
fn two_gateways_on_one_store_ask_once() {
    let home = Home::new();
    let upstream = Server::start(|_, stream| {
        thread::sleep(Duration::from_millis(400));
        respond(stream, "200 OK", "", message("shared").as_bytes());
    });
    let gateways = [Gateway::caching(&home, &upstream), Gateway::caching(&home, &upstream)];
    thread::scope(|scope| {
        let ask = |gateway: &Gateway| gateway.post(MESSAGES, &[], &question("a")).text();
        let askers = gateways.each_ref().map(|gateway| scope.spawn(move || ask(gateway)));
        for asker in askers {
            assert_eq!(asker.join().unwrap(), message("shared"));
        }
    });
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn an_answer_whose_client_goes_away_is_kept_all_the_same() {
    let home = Home::new();
    let (sent, was_sent) = mpsc::channel();
    let sent = Mutex::new(sent);
    let turn = ModelTurn::text("paid for, so kept").slow(Duration::from_millis(30));
    let upstream = Server::start(move |asked, stream| {
        sent.lock().unwrap().send(()).unwrap();
        turn.perform(asked, stream);
    });
    let gateway = Gateway::caching(&home, &upstream);
    let body = streamed("a").to_string();
    let mut client = gateway.connect();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(format!("{head}{body}").as_bytes()).unwrap();
    was_sent.recv_timeout(Duration::from_secs(30)).unwrap();
    drop(client);
    let answer = gateway.post(MESSAGES, &[], &streamed("a"));
    assert!(answer.text().contains("message_stop"), "{answer:?}");
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn what_belongs_to_one_client_does_not_reach_those_who_follow() {
    let home = Home::new();
    let upstream = Server::start(|_, stream| {
        thread::sleep(Duration::from_millis(300));
        let headers = "Set-Cookie: sid=1\r\nRequest-Id: req_1\r\n";
        respond(stream, "200 OK", headers, message("shared").as_bytes());
    });
    let gateway = Gateway::caching(&home, &upstream);
    let answers = thread::scope(|scope| {
        let ask = || gateway.post(MESSAGES, &[], &question("a"));
        [scope.spawn(ask), scope.spawn(ask)].map(|asker| asker.join().unwrap())
    });
    let cookies = answers.iter().filter(|it| it.header("set-cookie").is_some()).count();
    assert_eq!(cookies, 1, "{answers:?}");
    assert!(answers.iter().all(|it| it.header("request-id") == Some("req_1")));
}
