//! Sessions on a cluster, where each key is on a node of its own.

use std::sync::Arc;

use recoup_core::ErrorKind;
use recoup_core::early_exit::{EarlyExit, ElectionOutcome, RedisSessions};

use super::places::{answer, lost, name, signal, won};
use crate::redis_server::{Cluster, free_port, target};

#[test]
fn sessions_on_every_node_are_elected_and_listed() {
    let cluster = Cluster::start(0);
    let nodes: Vec<_> =
        cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let url = format!("redis+cluster://{}?timeout=30s", nodes.join(","));
    let open = || EarlyExit::new(Arc::new(RedisSessions::at(target(&url))));
    let sessions = open();
    let names: Vec<String> = (10..30).map(|n| format!("s{n}")).collect();
    for session in &names {
        assert_eq!(signal(&sessions, session, "a", None, Some("1")), ElectionOutcome::Won);
        assert_eq!(signal(&open(), session, "b", None, None), lost("a"));
        assert_eq!(answer(&open(), session), won("a", Some("1")));
    }
    let listed: Vec<String> = open().list().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(listed, names);
    assert!(sessions.remove(&name("s10")).unwrap());
    assert_eq!(answer(&open(), "s10"), None);
}

#[test]
fn a_server_that_is_away_is_an_error_that_names_it_and_no_winner() {
    let url = format!("redis://:opensesame@127.0.0.1:{}", free_port());
    let sessions = EarlyExit::new(Arc::new(RedisSessions::at(target(&url))));
    let error = sessions.winner(&name("s")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let words = error.to_string();
    assert!(words.contains("redis://***@127.0.0.1") && !words.contains("opensesame"), "{words}");
}
