//! Laws, tried on random input.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use recoup_core::condense::{CondenseOptions, CondenseStrategy as Way};
use serde_json::{Map, Value, json};

use super::{identifiers, printed, verdict, with};

/// Any JSON at all, with names that mean something among others.
pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((name(), inner), 0..6).prop_map(|fields| Value::from(Map::from_iter(fields))),
        ]
    })
}

pub(super) fn name() -> impl Strategy<Value = String> {
    let known = [
        "verdict", "status", "severity_counts", "findings", "results", "files", "matches", "id",
        "severity", "file", "path", "location", "line", "message", "query", "confidence",
        "top_match", "description", "runs", "version", "testsuite", "tests", "reason", "type",
        "data",
    ];
    prop_oneof![4 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => ".{0,6}"]
}

/// A path and perhaps a line, as one of the two forms.
fn place() -> impl Strategy<Value = (String, Option<u32>)> {
    ("[a-c/.é]{1,5}", of(0..120_u32))
}

fn shown((path, line): &(String, Option<u32>), as_object: bool) -> Value {
    match line {
        Some(line) if as_object => json!({"file": path, "line": line}),
        Some(line) => json!(format!("{path}:{line}")),
        None => json!(path),
    }
}

fn text((path, line): &(String, Option<u32>)) -> String {
    line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"))
}

proptest! {
    #[test]
    fn whatever_object_comes_in_json_comes_out(
        fields in vec((name(), any_json()), 0..8),
        preserve in vec(name(), 0..3),
    ) {
        let input = Value::from(Map::from_iter(fields)).to_string();
        for strategy in Way::ALL {
            let options = CondenseOptions { strategy, preserve: preserve.clone(), ..CondenseOptions::default() };
            let printed = with(&options, &input);
            let parsed: Value = serde_json::from_str(&printed).unwrap();
            prop_assert!(parsed.is_object());
            // Laid out as serde_json does it.
            prop_assert_eq!(printed.lines().count(), lines(&parsed));
        }
    }

    #[test]
    fn identifiers_are_complete_unique_and_in_order(places in vec((place(), any::<bool>()), 0..40)) {
        let items: Vec<_> = places.iter().map(|(place, object)| shown(place, *object)).collect();
        let found = identifiers(json!({"files": items}).to_string());
        let found: Vec<_> =
            found["identifiers"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let wanted: BTreeSet<_> = places.iter().map(|(place, _)| place.clone()).collect();
        let wanted: Vec<_> = wanted.iter().map(text).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn the_order_of_a_list_of_files_does_not_matter(
        places in vec(place(), 0..40).prop_flat_map(|places| {
            (Just(places.clone()), Just(places).prop_shuffle())
        })
    ) {
        let list = |places: &[(String, Option<u32>)]| {
            let items: Vec<_> = places.iter().map(|place| shown(place, true)).collect();
            identifiers(json!({"files": items}).to_string())
        };
        prop_assert_eq!(list(&places.0), list(&places.1));
    }

    #[test]
    fn the_order_of_fields_does_not_matter(
        fields in vec((name(), any_json()), 0..8).prop_flat_map(|fields| {
            let unique: Vec<_> = Map::from_iter(fields).into_iter().collect();
            (Just(unique.clone()), Just(unique).prop_shuffle())
        })
    ) {
        let object = |fields: &[(String, Value)]| {
            let fields: Vec<_> =
                fields.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
            format!("{{{}}}", fields.join(","))
        };
        for strategy in Way::ALL {
            prop_assert_eq!(
                printed(strategy, object(&fields.0)),
                printed(strategy, object(&fields.1))
            );
        }
    }

    #[test]
    fn top_findings_are_the_gravest_in_their_order(
        severities in vec(proptest::sample::select(&["critical", "high", "medium", "low"][..]), 0..30),
    ) {
        let finding = |(id, severity): (usize, &&str)| json!({"id": id, "severity": severity});
        let all: Vec<_> = severities.iter().enumerate().map(finding).collect();
        let mut wanted = all.clone();
        let rank = |it: &Value| ["critical", "high", "medium", "low"].iter().position(|w| it["severity"] == **w);
        wanted.sort_by_key(rank);
        let found = verdict(json!({"findings": all}).to_string());
        let found: Vec<_> =
            found["top_findings"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
        let wanted: Vec<_> = wanted.iter().take(5).map(|it| it["id"].clone()).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn no_text_makes_it_panic(input in ".{0,60}", lines in vec(any_json(), 0..4)) {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        for text in [input, lines.join("\n")] {
            let _ = recoup_core::condense::InputDocument::read(text.as_bytes());
        }
    }
}

/// On how many lines `serde_json` would print it.
fn lines(value: &Value) -> usize {
    serde_json::to_string_pretty(value).unwrap().lines().count()
}
