//! What its files say, and when they expire.

use std::fs;
use std::time::Duration;

use recoup_core::base::clock::Clock as _;
use recoup_core::{ErrorKind, FileCache};
use serde_json::{Value, json};

use super::{FOREVER, HOUR, Scene};
use crate::support::START;

#[test]
fn a_file_is_the_value_and_the_time_in_that_order() {
    let scene = Scene::new();
    scene.cache.set("key", "say \"hi\"\n\u{1}ü", Duration::from_mins(1)).unwrap();
    let text = fs::read_to_string(scene.path("key")).unwrap();
    let expected = "{\"value\":\"say \\\"hi\\\"\\n\\u0001ü\",\"expires_at\":4100000061,\
                    \"expires_at_ms\":4100000060123}";
    assert_eq!(text, expected);
    assert_eq!(scene.get("key").as_deref(), Some("say \"hi\"\n\u{1}ü"));
}

#[test]
fn a_ttl_of_zero_never_expires() {
    let scene = Scene::new();
    scene.cache.set("key", "value", FOREVER).unwrap();
    assert_eq!(scene.json("key"), json!({"value": "value", "expires_at": 0}));
    scene.clock.advance(Duration::from_hours(24 * 365_000));
    assert_eq!(scene.get("key").as_deref(), Some("value"));
}

#[test]
fn a_ttl_beyond_the_end_of_time_never_expires_either() {
    let scene = Scene::new();
    scene.cache.set("key", "value", Duration::MAX).unwrap();
    assert_eq!(scene.json("key")["expires_at"], 0);
    assert_eq!(scene.get("key").as_deref(), Some("value"));
}

#[test]
fn a_value_is_there_for_exactly_its_ttl() {
    for millis in [1, 500, 877, 1_000, 60_000] {
        let scene = Scene::new();
        scene.cache.set("key", "value", Duration::from_millis(millis)).unwrap();
        scene.clock.advance(Duration::from_millis(millis - 1));
        assert_eq!(scene.get("key").as_deref(), Some("value"), "{millis} ms");
        scene.clock.advance(Duration::from_millis(1));
        assert_eq!(scene.get("key"), None, "{millis} ms");
    }
}

#[test]
fn the_shortest_ttl_is_not_for_ever() {
    let scene = Scene::new();
    scene.cache.set("key", "value", Duration::from_nanos(1)).unwrap();
    assert_eq!(scene.get("key").as_deref(), Some("value"));
    scene.clock.advance(Duration::from_millis(1));
    assert_eq!(scene.get("key"), None);
}

#[test]
fn other_readers_see_whole_seconds_that_are_not_too_early() {
    let scene = Scene::new();
    for (ttl, seconds) in [(1, 1), (500, 1), (877, 1), (878, 2), (1_877, 2)] {
        scene.cache.set("key", "value", Duration::from_millis(ttl)).unwrap();
        assert_eq!(scene.json("key")["expires_at"], scene.seconds() + seconds, "{ttl} ms");
    }
}

#[test]
fn the_system_clock_is_what_open_uses() {
    let dir = tempfile::tempdir().unwrap();
    let cache = FileCache::open(dir.path()).unwrap();
    cache.set("key", "value", HOUR).unwrap();
    let json: Value =
        serde_json::from_slice(&fs::read(dir.path().join("key.json")).unwrap()).unwrap();
    let expires = json["expires_at"].as_i64().unwrap();
    assert!(expires > 1_700_000_000 && expires < START.as_millis() / 1_000, "{expires}");
}

#[test]
fn files_of_other_programs_are_read() {
    let scene = Scene::new();
    let soon = scene.seconds() + 10;
    for (contents, value) in [
        (format!(r#"{{"value":"a","expires_at":{soon}}}"#), Some("a")),
        (format!("{{\n  \"value\": \"a\",\n  \"expires_at\": {soon}\n}}\n"), Some("a")),
        (format!(r#"{{"expires_at":{soon},"value":"a"}}"#), Some("a")),
        (format!(r#"{{"value":"a","expires_at":{soon},"more":{{"x":[1,null]}}}}"#), Some("a")),
        (format!(r#"{{"value":"a","expires_at":{soon}.25}}"#), Some("a")),
        (r#"{"value":"\u00e4\ud83d\ude00","expires_at":0}"#.to_owned(), Some("ä😀")),
        (r#"{"value":"","expires_at":0}"#.to_owned(), Some("")),
        (r#"{"value":"a","expires_at":1}"#.to_owned(), None),
        (r#"{"value":"a","expires_at":-1}"#.to_owned(), None),
    ] {
        scene.put("key", &contents);
        assert_eq!(scene.get("key").as_deref(), value, "{contents}");
    }
}

#[test]
fn whole_seconds_count_when_another_program_changed_them() {
    let scene = Scene::new();
    let now = scene.clock.now().as_millis();
    let soon = scene.seconds() + 100;
    let stale = format!(r#"{{"value":"a","expires_at":{soon},"expires_at_ms":{}}}"#, now - 5_000);
    scene.put("prolonged", &stale);
    assert_eq!(scene.get("prolonged").as_deref(), Some("a"));
    let stale = format!(r#"{{"value":"a","expires_at":1,"expires_at_ms":{}}}"#, now + 5_000);
    scene.put("ended", &stale);
    assert_eq!(scene.get("ended"), None);
}

#[test]
fn what_is_not_parseable_is_nothing_and_stays() {
    let scene = Scene::new();
    for contents in [
        "not json", "[]", "{}", r#"{"value":"a"}"#, r#"{"expires_at":0}"#,
        r#"{"value":7,"expires_at":0}"#, r#"{"value":"a","expires_at":"0"}"#,
        r#"{"value":"a","expires_at":null}"#, r#"{"value":"half of i"#,
        r#"{"value":"a","expires_at":0} and more"#,
    ] {
        scene.put("key", contents);
        assert_eq!(scene.get("key"), None, "{contents}");
        assert_eq!(fs::read_to_string(scene.path("key")).unwrap(), contents);
        let error = scene.cache.set("key", "sound", HOUR).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{contents}");
        assert!(error.to_string().contains("key.json"), "{error}");
        assert_eq!(fs::read_to_string(scene.path("key")).unwrap(), contents);
    }
    fs::write(scene.path("key"), b"{\"value\":\"\xff\",\"expires_at\":0}").unwrap();
    assert_eq!(scene.get("key"), None, "not UTF-8");
}

#[test]
fn what_is_empty_or_an_answer_is_replaced() {
    let scene = Scene::new();
    for contents in [
        "",
        r#"{"value":"a","expires_at":1}"#,
        r#"{"value":"a","expires_at":0,"recoup":"other tool"}"#,
        r#"{"value":"a","expires_at":0,"recoup":{"header":{}}}"#,
    ] {
        scene.put("key", contents);
        scene.cache.set("key", "sound", HOUR).unwrap();
        assert_eq!(scene.get("key").as_deref(), Some("sound"), "{contents}");
    }
}
