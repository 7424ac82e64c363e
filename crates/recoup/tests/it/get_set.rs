//! What goes in comes out, byte for byte, whatever it is; data on stdout,
//! words on stderr.

use crate::support::Home;

#[test]
fn a_result_comes_back_with_one_newline() {
    let home = Home::new();
    let set = home.cache(&["set", "--key", "k", "--condensed", r#"{"verdict": "PASS"}"#]).expect(0);
    assert_eq!(set.text(), "");
    assert_eq!(set.stderr, "Cached result for key: k\n");
    home.get("k").expect_hit(r#"{"verdict": "PASS"}"#);
}

#[test]
fn every_kind_of_json_comes_back_byte_for_byte() {
    let home = Home::new();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let bodies = [
        "null",
        "false",
        "-0.0",
        "\"\"",
        "[]",
        "12345678901234567890.000",
        "{ \"b\" : 1 ,\n\t\"a\": 1.0, \"a\": 2 }",
        "  \n[1]\n\n",
        r#""it's \"quoted\" $HOME `x` \u0000 \ud83d\ude00 \\ %s""#,
        "{\"emoji\":\"😀\",\"combining\":\"e\u{301}\",\"bidi\":\"\u{202e}\"}",
        &deep,
    ];
    for body in bodies {
        home.set("k", body);
        home.get("k").expect_hit(body);
    }
}

#[test]
fn a_trailing_newline_from_a_pipe_is_kept() {
    let home = Home::new();
    home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], b"{}\n").expect(0);
    home.get("k").expect_hit("{}\n");
}

#[test]
fn bodies_of_any_size_come_back() {
    let home = Home::new();
    // Around the border between one piece and frames, and far beyond it.
    for size in [2, 130 << 10, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20] {
        let body = format!("\"{}\"", noise(size - 2));
        home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], body.as_bytes())
            .expect(0);
        home.get("k").expect_hit(&body);
    }
}

/// Letters that do not repeat soon.
fn noise(len: usize) -> String {
    let letter = |state: &mut u32| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(char::from(b'a' + u8::try_from((*state >> 24) % 26).unwrap()))
    };
    let mut state = 1;
    std::iter::from_fn(|| letter(&mut state)).take(len).collect()
}

#[test]
fn the_latest_result_is_the_one() {
    let home = Home::new();
    let large = format!("\"{}\"", "x".repeat(3 << 20));
    for body in ["1", &large, "[2]"] {
        home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], body.as_bytes())
            .expect(0);
        home.get("k").expect_hit(body);
    }
    let chunks: i64 =
        home.sql().query_row("SELECT count(*) FROM chunks", [], |r| r.get(0)).unwrap();
    assert_eq!(chunks, 0, "the frames of the replaced body are gone");
}

#[test]
fn a_hit_prints_the_body_with_json_too() {
    let home = Home::new();
    home.set("k", "{\"a\":1}");
    home.cache(&["get", "--key", "k", "--json"]).expect_hit("{\"a\":1}");
}

#[test]
fn a_miss_says_so_on_stderr_alone() {
    let output = Home::new().get("k").expect_miss();
    assert_eq!(output.stderr, "miss: no entry for this key\n");
}

#[test]
fn keys_are_any_name() {
    let home = Home::new();
    let longest = "k".repeat(128);
    for key in ["a", "...", "-", "--key", "-rf", "A.b_c-9", &longest] {
        home.set(key, "1");
        home.get(key).expect_hit("1");
    }
}

#[test]
fn ttl_forever_is_kept() {
    let home = Home::new();
    home.cache(&["set", "--key", "k", "--condensed", "1", "--ttl", "forever"]).expect(0);
    home.get("k").expect_hit("1");
    assert!(home.cache(&["show", "--key", "k", "--json"]).json()["expires_at"].is_null());
}

#[test]
fn ttl_off_stores_nothing_and_says_so() {
    let home = Home::new();
    for ttl in ["off", "0"] {
        let output = home.cache(&["set", "--key", "k", "--condensed", "1", "--ttl", ttl]).expect(0);
        assert_eq!(output.text(), "");
        assert_eq!(output.stderr, "Not cached: the TTL is off\n");
        home.get("k").expect_miss();
    }
    home.set("k", "1");
    home.cache(&["set", "--key", "k", "--condensed", "2", "--ttl", "off"]).expect(0);
    home.get("k").expect_hit("1");
}

#[test]
fn paths_without_sources_are_not_watched_which_is_said_once() {
    let home = Home::new();
    home.write("a.rs", "");
    let said = |args: &[&str]| {
        let named = ["set", "--paths", "a.rs", "--query", "q", "--condensed", "1"];
        home.cache(&[&named, args].concat()).expect(0).stderr
    };
    let hint = "hint: no --sources given: no file is watched, and `get` returns this until it \
                expires\n";
    let first = said(&["--operation", "one"]);
    assert!(first.starts_with("Cached result for key: ") && first.ends_with(hint), "{first}");
    for args in [
        &["--operation", "one"][..],
        &["--operation", "two", "--sources", "a.rs"],
        &["--operation", "three", "--ttl", "off"],
    ] {
        assert!(!said(args).contains("hint: "), "{args:?}");
    }
}

#[test]
fn the_output_of_a_command_is_not_a_result() {
    let home = Home::new();
    home.run(&["exec", "--", "echo", "wombat"]).expect(0);
    let entries = home.cache(&["ls", "--json"]).expect(0).json();
    let key = entries[0]["key"].as_str().unwrap();
    for typed in [key, &key[..8]] {
        home.get(typed).expect_usage(&format!(
            "{key} is the output of a command: replay it with `recoup exec`, or use `recoup cache \
             show --key {key}`"
        ));
    }
}
