//! Texts after edits, as people see them.

use serde_json::json;

use super::*;

fn edited(text: &str, dialect: JsonDialect, edit: impl Fn(&mut JsonFile)) -> String {
    let mut json = JsonFile::read(Some(text.as_bytes()), dialect).unwrap();
    edit(&mut json);
    String::from_utf8(json.bytes()).unwrap()
}

fn with_x(text: &str) -> String {
    edited(text, JsonDialect::Comments, |json| json.set(&[], "x", &NewValue::texts(&["y"])))
}

/// Insertion gives the expected text, and removal the original.
#[track_caller]
fn there_and_back(before: &str, after: &str) {
    let put = with_x(before);
    assert_eq!(put, after);
    let back = edited(&put, JsonDialect::Comments, |json| json.remove(&["x".into()]));
    assert_eq!(back, before);
}

#[test]
fn what_is_added_looks_like_its_neighbours() {
    there_and_back("{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"x\": [\"y\"]\n}\n");
    there_and_back("{\r\n\t\"a\": 1\r\n}", "{\r\n\t\"a\": 1,\r\n\t\"x\": [\"y\"]\r\n}");
    there_and_back(r#"{"a":1}"#, r#"{"a":1,"x":["y"]}"#);
    there_and_back(r#"{ "a": 1 }"#, r#"{ "a": 1, "x": ["y"] }"#);
    there_and_back("\u{feff}{\"a\":1}\n", "\u{feff}{\"a\":1,\"x\":[\"y\"]}\n");
}

#[test]
fn comments_stay_with_what_they_are_about() {
    there_and_back(
        "// top\n{\n    \"a\": 1 // one\n    // the end\n}\n",
        "// top\n{\n    \"a\": 1, // one\n    \"x\": [\"y\"]\n    // the end\n}\n",
    );
    there_and_back(
        "{\n  \"a\": 1, /* one */ // more\n}\n",
        "{\n  \"a\": 1, /* one */ // more\n  \"x\": [\"y\"],\n}\n",
    );
    there_and_back("{ \"a\": 1 // one\n}", "{ \"a\": 1, // one\n\"x\": [\"y\"]\n}");
    assert_eq!(with_x("{\n  // none\n}\n"), "{\n  // none\n  \"x\": [\"y\"]\n}\n");
}

#[test]
fn an_empty_object_is_opened_and_closed_again() {
    there_and_back("{}", "{\n  \"x\": [\"y\"]\n}");
    assert_eq!(with_x(" \n"), "{\n  \"x\": [\"y\"]\n}\n");
    let nested = "{\n\t\"a\": {}\n}";
    let put = edited(nested, JsonDialect::Strict, |json| {
        json.set(&["a".into()], "x", &NewValue::plain(1));
    });
    assert_eq!(put, "{\n\t\"a\": {\n\t\t\"x\": 1\n\t}\n}");
    let back = edited(&put, JsonDialect::Strict, |json| json.remove(&["a".into(), "x".into()]));
    assert_eq!(back, nested);
    let put = edited("{\"a\":[]}", JsonDialect::Strict, |json| {
        json.push(&["a".into()], &NewValue::Object(vec![("b", NewValue::plain(true))]));
    });
    assert_eq!(put, "{\"a\":[{\"b\":true}]}");
}

#[test]
fn what_stands_before_others_goes_without_a_trace() {
    let cases = [
        ("{\n  \"x\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"),
        ("{\n  \"x\": 1, // ours\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"),
        ("{\"x\":1,\"b\":2}", "{\"b\":2}"),
        ("{ \"a\": 0, \"x\": 1, \"b\": 2 }", "{ \"a\": 0, \"b\": 2 }"),
        ("{ \"x\": 1 }", "{}"),
        ("{ \"x\": 1, }", "{}"),
        ("{ /* c */ \"x\": 1 }", "{ /* c */  }"),
        ("{\"x\":1, /* about b */ \"b\":2}", "{/* about b */ \"b\":2}"),
        ("{\"a\":0 /* a */ , \"x\":1 /* b */, \"b\":2}", "{\"a\":0 /* a */ ,  /* b */\"b\":2}"),
        ("{\n  \"a\": 0,\n\n  // about x\n  \"x\": 1\n}", "{\n  \"a\": 0\n\n  // about x\n}"),
    ];
    for (before, after) in cases {
        let cut = edited(before, JsonDialect::Comments, |json| json.remove(&["x".into()]));
        assert_eq!(cut, after, "{before}");
    }
}

/// A comment that only a new line ends must not swallow what follows.
#[test]
fn a_bracket_or_a_neighbour_on_the_line_of_what_goes_stays_outside_of_comments() {
    let cases = [
        ("{\n  \"a\": 1, // a\n  \"x\": 1}\n", "{\n  \"a\": 1 // a\n  }\n"),
        ("{ // mine\n  \"x\": 1 }", "{ // mine\n   }"),
        ("{\n  \"a\": 1, // a\n  \"x\": 1, \"b\": 2}", "{\n  \"a\": 1, // a\n  \"b\": 2}"),
        ("{\n  \"a\": 1, // a\n  \"x\": 1, }", "{\n  \"a\": 1, // a\n   }"),
        ("{\n  \"a\": 1, // a\n  \"x\": 1 // x\n}", "{\n  \"a\": 1 // a\n}"),
        ("{\n  \"a\": \"// \",\n  \"x\": 1}", "{\n  \"a\": \"// \"}"),
    ];
    for (before, after) in cases {
        let cut = edited(before, JsonDialect::Comments, |json| json.remove(&["x".into()]));
        assert_eq!(cut, after, "{before}");
        JsonFile::read(Some(cut.as_bytes()), JsonDialect::Comments).unwrap();
    }
}

#[test]
fn comments_alone_stay_before_what_is_put_in() {
    for (before, after) in [
        ("// a\n// b\n", "// a\n// b\n{\n  \"x\": [\"y\"]\n}\n"),
        ("// a\r\n/* b */", "// a\r\n/* b */\r\n{\r\n  \"x\": [\"y\"]\r\n}\r\n"),
        ("\u{feff}// a", "\u{feff}// a\n{\n  \"x\": [\"y\"]\n}\n"),
    ] {
        assert_eq!(with_x(before), after);
        let mut json = JsonFile::read(Some(after.as_bytes()), JsonDialect::Comments).unwrap();
        json.remove(&["x".into()]);
        let back = String::from_utf8(json.bytes_without_object()).unwrap();
        assert_eq!(back.trim_end(), before.trim_end());
    }
}

#[test]
fn of_names_that_are_there_twice_the_last_one_counts() {
    let text = r#"{"x":1,"x":{"a":1}}"#;
    let json = JsonFile::read(Some(text.as_bytes()), JsonDialect::Strict).unwrap();
    assert_eq!(json.value_at(&["x".into()]), Some(json!({ "a": 1 })));
    let put = edited(text, JsonDialect::Strict, |json| {
        json.set(&["x".into()], "b", &NewValue::plain(2));
    });
    assert_eq!(put, r#"{"x":1,"x":{"a":1,"b":2}}"#);
    let cut = edited(text, JsonDialect::Strict, |json| json.remove(&["x".into()]));
    assert_eq!(cut, r#"{"x":1}"#);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let fault = |text: &[u8], dialect| JsonFile::read(Some(text), dialect).unwrap_err().to_string();
    let cases: [(&[u8], JsonDialect, &str); 7] = [
        (b"{\n  // no\n}", JsonDialect::Strict, "line 2, column 3: comments are not allowed here"),
        (b"{\n  \"a\": 1,\n}", JsonDialect::Strict, "line 3, column 1: key must be a string"),
        (b"{\"\xc3\xbc\": }", JsonDialect::Strict, "line 1, column 7: expected value"),
        (b"[1]", JsonDialect::Strict, "line 1, column 1: expected an object here: { \u{2026} }"),
        (b"{\n\"a\" 1}", JsonDialect::Comments, "line 2, column 5: expected colon"),
        (b"{\"a\": \"\xff\"}", JsonDialect::Strict, "line 1, column 8: the file is not UTF-8"),
        (b"{", JsonDialect::Comments, "line 1, column 1: unterminated object"),
    ];
    for (text, dialect, said) in cases {
        assert!(fault(text, dialect).starts_with(said), "{}", fault(text, dialect));
    }
    let deep = "[".repeat(100_000);
    assert!(fault(format!("{{\"a\":{deep}").as_bytes(), JsonDialect::Comments).contains("depth"));
    assert!(fault(format!("{{\"a\":{deep}").as_bytes(), JsonDialect::Strict).contains("line 1"));
}

mod laws {
    //! Properties of edits, for any document in any layout.

    use proptest::prelude::*;

    use super::*;

    /// White space and comments.
    fn blank() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => Just(String::new()),
            2 => Just(" ".to_owned()),
            1 => Just("\n  ".to_owned()),
            1 => Just("\r\n\t".to_owned()),
            1 => Just(" // it's { a,\n".to_owned()),
            1 => Just("/* ], */".to_owned()),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("1".to_owned()),
            Just("\"a\\\",]\"".to_owned()),
            Just("{}".to_owned())
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            let item = (blank(), inner, blank());
            let items = prop::collection::vec(item, 0..4);
            (items, any::<bool>(), any::<bool>(), blank()).prop_map(|(items, object, last, end)| {
                let comma = if last && !items.is_empty() { "," } else { "" };
                let written = items.iter().enumerate().map(|(index, (before, value, after))| {
                    let name = if object { format!("\"k{index}\":") } else { String::new() };
                    format!("{before}{name}{after}{value}{after}")
                });
                let inside = written.collect::<Vec<_>>().join(",");
                let (open, close) = if object { ("{", "}") } else { ("[", "]") };
                format!("{open}{inside}{comma}{end}{close}")
            })
        })
    }

    /// Paths of all values.
    fn places(value: &Value, above: &[JsonPathStep]) -> Vec<Vec<JsonPathStep>> {
        let inner: Vec<(JsonPathStep, &Value)> = match value {
            Value::Object(fields) => {
                fields.iter().map(|(name, it)| (name.as_str().into(), it)).collect()
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(at, it)| (at.into(), it)).collect()
            }
            _ => Vec::new(),
        };
        let mut found = Vec::new();
        for (step, value) in inner {
            let path = [above, &[step]].concat();
            found.extend(places(value, &path));
            found.push(path);
        }
        found
    }

    fn without(value: &Value, path: &[JsonPathStep]) -> Value {
        let mut left = value.clone();
        let (last, above) = path.split_last().unwrap();
        let parent = above.iter().fold(&mut left, |value, step| match step {
            JsonPathStep::Name(name) => &mut value[name],
            JsonPathStep::Index(at) => &mut value[at],
        });
        match (parent, last) {
            (Value::Object(fields), JsonPathStep::Name(name)) => drop(fields.remove(name)),
            (Value::Array(items), JsonPathStep::Index(at)) => drop(items.remove(*at)),
            _ => unreachable!("it is there"),
        }
        left
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Removal of any value leaves the rest readable.
        #[test]
        fn what_is_taken_out_leaves_the_rest_readable(inner in text()) {
            let before = format!("{{\"z\":{inner}}}");
            let json = JsonFile::read(Some(before.as_bytes()), JsonDialect::Comments).unwrap();
            let value = json.value_at(&[]).unwrap();
            for path in places(&value, &[]) {
                let mut json = json.clone();
                json.remove(&path);
                let left = String::from_utf8(json.bytes()).unwrap();
                let read = JsonFile::read(Some(left.as_bytes()), JsonDialect::Comments);
                prop_assert!(read.is_ok(), "{:?} of\n{}\nleaves\n{}", path, before, left);
                prop_assert_eq!(read.unwrap().value_at(&[]).unwrap(), without(&value, &path), "{}", left);
            }
        }

        /// Only comments and blanks.
        #[test]
        fn a_text_without_a_value_keeps_what_is_said(said in prop::collection::vec(blank(), 0..5)) {
            let before = said.concat();
            let put = with_x(&before);
            if before.trim().is_empty() {
                prop_assert_eq!(put.replace('\r', ""), "{\n  \"x\": [\"y\"]\n}\n");
            } else {
                prop_assert!(put.starts_with(&before), "{}", put);
                let read = JsonFile::read(Some(put.as_bytes()), JsonDialect::Comments).unwrap();
                prop_assert_eq!(read.value_at(&[]), Some(json!({ "x": ["y"] })));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]
        #[test]
        fn what_is_put_in_and_taken_out_again_leaves_no_trace(inner in text(), more in any::<bool>()) {
            let before = if more { format!("{{\"z\": {inner}}}") } else { format!("{{\"z\":{inner}}}\n") };
            let mut json = JsonFile::read(Some(before.as_bytes()), JsonDialect::Comments).unwrap();
            let value = json.value_at(&[]).unwrap();
            json.set(&[], "x", &NewValue::EMPTY);
            json.set(&["x".into()], "y", &NewValue::EMPTY);
            json.push(&["z".into()], &NewValue::plain(7));
            json.set(&["z".into()], "w", &NewValue::plain(7));
            prop_assert_eq!(json.value_at(&["x".into()]), Some(json!({ "y": {} })));
            let index = json.value_at(&["z".into()]).and_then(|it| it.as_array().map(Vec::len));
            let was_empty = ["{}", "[]"].contains(&value["z"].to_string().as_str());
            if let Some(len) = index {
                json.remove(&["z".into(), (len - 1).into()]);
            }
            json.remove(&["z".into(), "w".into()]);
            json.remove(&["x".into(), "y".into()]);
            json.remove(&["x".into()]);
            prop_assert_eq!(json.value_at(&[]).unwrap(), value);
            if !was_empty {
                prop_assert_eq!(String::from_utf8(json.bytes()).unwrap(), before);
            }
        }
    }
}
