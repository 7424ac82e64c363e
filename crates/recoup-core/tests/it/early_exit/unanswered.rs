//! A server that answers too late: who has won is not known, but must not be lost.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::early_exit::{EarlyExit, ElectionBid, ElectionOutcome, RedisSessions};
use rustix::process::Signal;

use super::places::{answer, lost, name, signal, won};
use crate::redis_server::{Server, target};

/// A signal by `agent` that the server reads when nobody waits for its answer.
fn unanswered(server: &Server, agent: &str, result: Option<&[u8]>) -> String {
    let url = format!("redis://127.0.0.1:{}?timeout=250ms", server.port);
    let sessions = EarlyExit::new(Arc::new(RedisSessions::at(target(&url))));
    sessions.winner(&name("s")).unwrap();
    let pid = server.pid();
    Server::signal(pid, Signal::STOP);
    let agent = name(agent);
    let bid = ElectionBid { agent: &agent, lease: Some(600_000), result };
    let error = sessions.signal(&name("s"), bid).unwrap_err();
    Server::signal(pid, Signal::CONT);
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    error.to_string()
}

fn patient(server: &Server) -> EarlyExit {
    let url = format!("redis://127.0.0.1:{}?timeout=30s", server.port);
    let sessions = EarlyExit::new(Arc::new(RedisSessions::at(target(&url))));
    while sessions.winner(&name("s")).unwrap().is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    sessions
}

#[test]
fn who_never_heard_of_its_victory_may_claim_it_once() {
    let server = Server::start();
    let words = unanswered(&server, "x", None);
    assert!(words.contains("unknown whether x has won") && words.contains("check s"), "{words}");
    let sessions = patient(&server);
    assert_eq!(signal(&sessions, "s", "y", None, None), lost("x"));
    assert_eq!(signal(&sessions, "s", "x", None, None), ElectionOutcome::Won);
    assert_eq!(signal(&sessions, "s", "x", None, None), lost("x"));
    assert_eq!(answer(&sessions, "s"), won("x", None));
}

#[test]
fn it_may_claim_it_together_with_its_result() {
    let server = Server::start();
    unanswered(&server, "x", None);
    let sessions = patient(&server);
    assert_eq!(signal(&sessions, "s", "x", None, Some("1")), ElectionOutcome::Won);
    assert_eq!(signal(&sessions, "s", "x", None, Some("2")), lost("x"));
    assert_eq!(answer(&sessions, "s"), won("x", Some("1")));
}

#[test]
fn a_result_that_arrived_with_it_stays_what_it_is() {
    let server = Server::start();
    unanswered(&server, "x", Some(b"1"));
    let sessions = patient(&server);
    assert_eq!(signal(&sessions, "s", "x", None, Some("2")), lost("x"));
    assert_eq!(answer(&sessions, "s"), won("x", Some("1")));
}

#[test]
fn of_many_by_the_same_name_who_claim_it_one_wins() {
    let server = Server::start();
    unanswered(&server, "x", None);
    drop(patient(&server));
    let elected: Vec<ElectionOutcome> = thread::scope(|scope| {
        let claims: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| signal(&patient(&server), "s", "x", None, None)))
            .collect();
        claims.into_iter().map(|claim| claim.join().unwrap()).collect()
    });
    assert_eq!(elected.iter().filter(|elected| **elected == ElectionOutcome::Won).count(), 1);
}
