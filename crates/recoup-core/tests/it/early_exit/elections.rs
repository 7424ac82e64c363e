//! Who wins, and what others see of it.

use recoup_core::ErrorKind;
use recoup_core::early_exit::{ElectionBid, ElectionOutcome, SessionStatus};

use super::places::{Place, answer, lost, name, signal, won};

pub(super) fn nobody_has_won_at_first<P: Place>() {
    let sessions = P::new().open();
    assert_eq!(sessions.winner(&name("s")).unwrap(), None);
    assert_eq!(sessions.status(&name("s")).unwrap(), None);
    sessions.register(&name("s"), &name("a")).unwrap();
    assert_eq!(sessions.winner(&name("s")).unwrap(), None);
}

pub(super) fn the_first_wins_and_the_others_learn_its_name<P: Place>() {
    let place = P::new();
    assert_eq!(signal(&place.open(), "s", "one", None, None), ElectionOutcome::Won);
    assert_eq!(signal(&place.open(), "s", "two", None, None), lost("one"));
    let winner = place.open().winner(&name("s")).unwrap().unwrap();
    assert_eq!((winner.agent, winner.has_result), (name("one"), false));
    assert_eq!(signal(&place.open(), "other", "two", None, None), ElectionOutcome::Won);
}

pub(super) fn the_winner_itself_wins_only_once<P: Place>() {
    let sessions = P::new().open();
    assert_eq!(signal(&sessions, "s", "a", None, None), ElectionOutcome::Won);
    assert_eq!(signal(&sessions, "s", "a", None, Some("again")), lost("a"));
    assert_eq!(answer(&sessions, "s"), won("a", None));
}

pub(super) fn a_result_comes_with_the_signal<P: Place>() {
    let sessions = P::new().open();
    assert_eq!(signal(&sessions, "s", "a", None, Some("42")), ElectionOutcome::Won);
    assert_eq!(answer(&sessions, "s"), won("a", Some("42")));
}

pub(super) fn a_result_may_come_before_the_signal_or_after<P: Place>() {
    let sessions = P::new().open();
    assert_eq!(sessions.write_result(&name("s"), &name("a"), b"early").unwrap(), None);
    assert_eq!(answer(&sessions, "s"), None);
    signal(&sessions, "s", "a", None, None);
    assert_eq!(answer(&sessions, "s"), won("a", Some("early")));
    sessions.write_result(&name("s"), &name("a"), b"late").unwrap();
    assert_eq!(answer(&sessions, "s"), won("a", Some("late")));
    let winner = sessions.write_result(&name("s"), &name("b"), b"beside").unwrap();
    assert_eq!(winner, Some(name("a")));
    assert_eq!(answer(&sessions, "s"), won("a", Some("late")));
}

pub(super) fn a_loser_leaves_no_result_behind<P: Place>() {
    let sessions = P::new().open();
    signal(&sessions, "s", "same-name", None, Some("first"));
    assert_eq!(signal(&sessions, "s", "same-name", None, Some("second")), lost("same-name"));
    assert_eq!(signal(&sessions, "s", "other", None, Some("third")), lost("same-name"));
    assert_eq!(answer(&sessions, "s"), won("same-name", Some("first")));
    let results = sessions.status(&name("s")).unwrap().unwrap().results;
    assert_eq!(results, [name("same-name")]);
}

pub(super) fn any_bytes_come_back<P: Place>() {
    let sessions = P::new().open();
    let all: Vec<u8> = (0..=255).cycle().take(3_000_000).collect();
    for (session, bytes) in [("empty", &[][..]), ("large", &all)] {
        sessions.write_result(&name(session), &name("a"), bytes).unwrap();
        signal(&sessions, session, "a", None, None);
        let found = sessions.answer(&name(session)).unwrap().unwrap();
        assert!(found.result.as_deref() == Some(bytes), "{session}");
    }
}

pub(super) fn sessions_are_listed_and_forgotten<P: Place>() {
    let sessions = P::new().open();
    assert_eq!(sessions.list().unwrap(), []);
    assert!(!sessions.remove(&name("s")).unwrap());
    for agent in ["b", "a", ".c", "a"] {
        sessions.register(&name("s"), &name(agent)).unwrap();
    }
    signal(&sessions, "s", "b", None, Some("1"));
    sessions.register(&name(".t"), &name("a")).unwrap();
    let status = SessionStatus {
        winner: Some(name("b")),
        agents: vec![name(".c"), name("a"), name("b")],
        results: vec![name("b")],
    };
    assert_eq!(sessions.status(&name("s")).unwrap(), Some(status));
    assert_eq!(sessions.list().unwrap(), [name(".t"), name("s")]);
    assert!(sessions.remove(&name("s")).unwrap());
    assert_eq!(sessions.list().unwrap(), [name(".t")]);
    assert_eq!(answer(&sessions, "s"), None);
    assert_eq!(signal(&sessions, "s", "c", None, None), ElectionOutcome::Won);
    assert_eq!(answer(&sessions, "s"), won("c", None));
}

pub(super) fn a_result_with_a_secret_is_refused_and_nobody_wins<P: Place>() {
    let sessions = P::new().open();
    let secret = br#"{"password": "secret123"}"#;
    let agent = name("a");
    let bid = ElectionBid { agent: &agent, lease: None, result: Some(secret) };
    let refused = [
        sessions.signal(&name("s"), bid).unwrap_err(),
        sessions.write_result(&name("s"), &agent, secret).unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let words = error.to_string();
        assert!(words.contains("Secret patterns detected") && !words.contains("secret123"));
    }
    assert_eq!(sessions.status(&name("s")).unwrap(), None);
}
